package stranger

import cats.effect.kernel.{Async, Concurrent}
import cats.effect.std.Console
import cats.syntax.all.*
import com.comcast.ip4s.{Dns, NetworkInterfaces, host}
import fs2.compression.Compression
import fs2.hashing.{HashAlgorithm, Hashing}
import fs2.io.file.Files
import fs2.io.net.Network
import fs2.io.net.unixsocket.{UnixSocketAddress, UnixSockets}
import fs2.io.process.{ProcessBuilder, Processes}
import fs2.{Chunk, Compiler, Stream}
import scala.annotation.nowarn
import weir.Task
import weir.interop.cats.given
import weir.interop.fs2.given

/** With these two imports, a file has for `Task` each instance that fs2 and ip4s have for `IO`. A
  * program uses each.
  */
@nowarn("cat=deprecation") // UnixSockets
class EveryInstanceSuite extends munit.FunSuite:

  test("each type class is found, and by one instance only"):
    val found = List[Any](
      summon[Network[Task]],
      summon[Files[Task]],
      summon[Processes[Task]],
      summon[Hashing[Task]],
      summon[UnixSockets[Task]],
      summon[Dns[Task]],
      summon[NetworkInterfaces[Task]],
      summon[Compression[Task]],
      summon[Compiler[Task, Task]],
      summon[Console[Task]],
      summon[Async[Task]]
    )
    assert(!found.contains(null))

  test("Processes runs a process"):
    def program[F[_]: Processes: Concurrent]: F[(String, Int)] =
      ProcessBuilder("echo", "hello")
        .spawn[F]
        .use(p => (p.stdout.through(fs2.text.utf8.decode).compile.string, p.exitValue).tupled)
    assertEquals(program[Task].runSync(), ("hello\n", 0))

  test("Hashing hashes"):
    def program[F[_]: Hashing: Concurrent]: F[String] =
      Stream
        .chunk(Chunk.array("abc".getBytes))
        .through(Hashing[F].hash(HashAlgorithm.SHA256))
        .compile
        .lastOrError
        .map(_.bytes.toByteVector.toHex)
    val abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assertEquals(program[Task].runSync(), abc)

  test("UnixSockets connect"):
    def program[F[_]: UnixSockets: Files: Concurrent]: F[String] =
      Files[F].tempDirectory.use { folder =>
        val address = UnixSocketAddress((folder / "socket").toString)
        val served = UnixSockets[F]
          .server(address, deleteIfExists = false, deleteOnClose = true)
          .take(1)
          .flatMap(socket => Stream("hello").through(fs2.text.utf8.encode).through(socket.writes))
        def read: F[String] =
          UnixSockets[F]
            .client(address)
            .use(_.reads.through(fs2.text.utf8.decode).compile.string)
            .handleErrorWith(_ => read) // the server does not listen yet
        Concurrent[F].both(served.compile.drain, read).map(_._2)
      }
    assertEquals(program[Task].runSync(), "hello")

  test("Dns looks up"):
    assert(Dns[Task].resolveAll(host"localhost").runSync().forall(_.isLoopback))

  test("NetworkInterfaces has the loopback"):
    assert(NetworkInterfaces[Task].getAll.runSync().values.exists(_.isLoopback))

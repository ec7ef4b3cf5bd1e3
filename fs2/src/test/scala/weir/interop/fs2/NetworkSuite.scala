package weir.interop.fs2

import _root_.cats.effect.kernel.Resource as CatsResource
import _root_.fs2.io.net.{Network, Socket}
import _root_.fs2.{Chunk, Stream as Fs2Stream}
import com.comcast.ip4s.{Host, SocketAddress, host, port}
import java.nio.channels.ClosedChannelException
import java.util.concurrent.{CountDownLatch, Executors}
import scala.concurrent.ExecutionContext
import scala.concurrent.duration.*
import weir.interop.cats.given
import weir.{Outcome, Task, WeirSuite}

/** Sockets that block: what is read and written, what a cancel does, and what it does not. */
class NetworkSuite extends WeirSuite:
  override def limit: FiniteDuration = 60.seconds
  private val local: SocketAddress[Host] = SocketAddress(host"127.0.0.1", port"0")

  /** The two ends of one connection. */
  private val pair: CatsResource[Task, (Socket[Task], Socket[Task])] =
    Network[Task].bind(local).flatMap { server =>
      Network[Task]
        .connect(server.address)
        .flatMap(client =>
          server.accept.take(1).compile.resource.lastOrError.map(accepted => (client, accepted))
        )
    }

  private def bytes(text: String): Chunk[Byte] = Chunk.array(text.getBytes)
  private def text(chunk: Option[Chunk[Byte]]): String = String(chunk.get.toArray)

  private def withPair(body: (Socket[Task], Socket[Task]) => Task[Any]): Unit =
    pair.use((client, accepted) => body(client, accepted)).runSync(): Unit

  test("what one side writes, the other reads, until the end of output"):
    withPair { (client, accepted) =>
      for
        _ <- client.write(bytes("hello"))
        first <- accepted.read(3)
        second <- accepted.read(10)
        _ <- accepted.write(bytes("world"))
        _ <- accepted.endOfOutput
        answer <- client.readN(5)
        end <- client.read(10)
        peers = (client.peerAddress, client.address) == (accepted.address, accepted.peerAddress)
      yield
        assertEquals((text(first), text(second), text(Some(answer))), ("hel", "lo", "world"))
        assertEquals((end, peers), (None, true))
    }

  test("a cancelled read takes nothing, and the socket can be read again"):
    withPair { (client, accepted) =>
      def round(n: Int): Task[Unit] =
        for
          begun <- Task(CountDownLatch(1))
          fiber <- Task(begun.countDown()).flatMap(_ => accepted.read(10)).start
          _ <- Task(await(begun))
          _ <- Task.when(n % 2 == 0)(Task.sleep(1.millis))
          _ <- fiber.cancel
          outcome <- fiber.join
          _ <- client.write(bytes(s"round $n"))
          read <- accepted.read(100)
        yield
          assertEquals(outcome, Outcome.Canceled)
          assertEquals(text(read), s"round $n")
      Task.foreach(1 to 100)(round)
    }

  test("what a cancelled readN has read is left for the next read"):
    withPair { (client, accepted) =>
      for
        _ <- client.write(bytes("12345"))
        timedOut <- accepted.readN(10).timeout(50.millis).attempt
        _ <- client.write(bytes("67890"))
        all <- accepted.readN(10)
      yield
        assert(timedOut.isLeft)
        assertEquals(text(Some(all)), "1234567890")
    }

  test("a cancelled write stops, and what is read comes in order"):
    withPair { (client, accepted) =>
      val much = Chunk.array(new Array[Byte](64 * 1024 * 1024))
      for
        outcome <- client.write(much).timeout(100.millis).attempt
        _ <- client.endOfOutput
        read <- accepted.reads.compile.count
      yield
        assert(outcome.isLeft)
        assert(read > 0 && read < much.size, read)
    }

  test("the end of the resource ends a read that waits, as closed channels do"):
    val closed = pair.allocated.flatMap { case ((_, accepted), release) =>
      for
        begun <- Task(CountDownLatch(1))
        reading <- Task(begun.countDown()).flatMap(_ => accepted.read(10)).attempt.start
        _ <- Task(await(begun))
        _ <- release
        read <- reading.joinOrFail
        later <- accepted.read(10).attempt
      yield (read.left.map(_.isInstanceOf[ClosedChannelException]), later.isLeft)
    }
    assertEquals(closed.runSync(), (Left(true), true))

  test("a cancelled accept leaves the server listening"):
    Network[Task]
      .bind(local)
      .use { server =>
        for
          first <- server.accept.take(1).compile.drain.timeout(50.millis).attempt
          accepting <- server.accept.take(1).evalMap(_.write(bytes("hi"))).compile.drain.start
          read <- Network[Task].connect(server.address).use(_.read(10))
          _ <- accepting.joinOrFail
        yield assertEquals((first.isLeft, text(read)), (true, "hi"))
      }
      .runSync()

  test("a timeout reaches a read on the thread of a caller of runSync"):
    val (_, took) = timed(withPair((client, _) => client.read(1).timeout(50.millis).attempt))
    assert(took < 5.seconds, took)

  test("a timeout reaches a read inside of an evalOn"):
    val pool = Executors.newCachedThreadPool()
    val context = ExecutionContext.fromExecutor(pool)
    try
      withPair { (client, accepted) =>
        for
          read <- accepted.read(10).evalOn(context).timeout(50.millis).attempt
          _ <- client.write(bytes("later"))
          later <- accepted.read(10).evalOn(context)
        yield
          assert(read.isLeft)
          assertEquals(text(later), "later")
      }
    finally pool.shutdownNow(): Unit

  test("nobody listens: it fails; an address in use: it fails"):
    val refused = Network[Task]
      .bind(local)
      .use(server => Task.pure(server.address))
      .flatMap(address => Network[Task].connect(address).use(_ => Task.unit).attempt)
    assert(refused.runSync().left.exists(_.isInstanceOf[java.net.ConnectException]))
    val inUse = Network[Task]
      .bind(local)
      .use(server => Network[Task].bind(server.address).use(_ => Task.unit).attempt)
    assert(inUse.runSync().left.exists(_.isInstanceOf[java.net.BindException]))

  test("an echo server with 64 clients at a time, 256 in all"):
    def echo(socket: Socket[Task]) = Fs2Stream.exec(
      socket.reads.through(socket.writes).compile.drain
    )
    val total = Network[Task].bind(local).use { server =>
      val serve = server.accept.map(echo).parJoinUnbounded.compile.drain
      val client = Network[Task].connect(server.address).use { socket =>
        val block = Chunk.array(Array.tabulate(5000)(_.toByte))
        Task.foreach(1 to 20)(_ =>
          socket.write(block).flatMap(_ => socket.readN(5000)).map(assertEquals(_, block))
        )
      }
      serve.background.use(_ => Task.parTraverseN(64)(1 to 256)(_ => client)).map(_.size)
    }
    assertEquals(total.runSync(), 256)

  test("UDP and Unix sockets are fs2's"):
    val folder = java.nio.file.Files.createTempDirectory("weir-unix")
    val address = com.comcast.ip4s.UnixSocketAddress(folder.resolve("s").toString)
    val answer = Network[Task].bind(address).use { server =>
      val serve = server.accept.take(1).evalMap(_.write(bytes("unix"))).compile.drain
      serve.background.use(_ => Network[Task].connect(address).use(_.read(10)))
    }
    assertEquals(text(answer.runSync()), "unix")
    val datagram = Network[Task].bindDatagramSocket(local).use { socket =>
      val sent = _root_.fs2.io.net.Datagram(socket.address.asIpUnsafe, bytes("udp"))
      socket.read.both(socket.write(sent.bytes, sent.remote)).map(_._1.bytes)
    }
    assertEquals(text(Some(datagram.runSync())), "udp")

  test("fs2's files: written, read, tailed, cancelled"):
    val written = _root_.fs2.io.file.Files[Task].tempFile.use { file =>
      val files = _root_.fs2.io.file.Files[Task]
      val blocks = Fs2Stream.chunk(Chunk.array(new Array[Byte](100_000))).repeatN(10)
      for
        _ <- blocks.through(files.writeAll(file)).compile.drain
        read <- files.readAll(file).compile.count
        tailed <- files.tail(file, pollDelay = 1.millis).compile.drain.timeout(30.millis).attempt
      yield (read, tailed.isLeft)
    }
    assertEquals(written.runSync(), (1_000_000L, true))

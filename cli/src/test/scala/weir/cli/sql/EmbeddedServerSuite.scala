package weir.cli.sql

import java.net.{StandardProtocolFamily, UnixDomainSocketAddress}
import java.nio.ByteBuffer
import java.nio.channels.SocketChannel
import java.nio.file.{Files, Path}
import scala.concurrent.duration.*

import munit.FunSuite

import weir.{Outcome, Task}
import weir.program.BadInput

class EmbeddedServerSuite extends FunSuite:
  /** The server's answer to a request for TLS: it does not support it. */
  private def answer(server: EmbeddedServer): Char =
    val address = UnixDomainSocketAddress.of(server.folder.resolve(s".s.PGSQL.${server.port}"))
    val channel = SocketChannel.open(StandardProtocolFamily.UNIX)
    try
      channel.connect(address): Unit
      channel.write(ByteBuffer.allocate(8).putInt(8).putInt(80877103).flip()): Unit
      val one = ByteBuffer.allocate(1)
      channel.read(one): Unit
      one.get(0).toChar
    finally channel.close()

  private def begun(before: Set[Path]): Task[Unit] =
    Task
      .sleep(5.millis)
      .flatMap(_ => if EmbeddedFolders.now() == before then begun(before) else Task.unit)

  test("it takes connections, also as root, and is gone with its folder afterwards"):
    val folder = EmbeddedServer.resource
      .use: server =>
        Task:
          assertEquals(answer(server), 'N')
          server.folder
      .runSync()
    assert(!Files.exists(folder), folder)

  test("two at once do not disturb each other"):
    EmbeddedServer.resource
      .flatMap(one => EmbeddedServer.resource.map(one -> _))
      .use: (one, two) =>
        Task:
          assertNotEquals(one.folder, two.folder)
          assertEquals((answer(one), answer(two)), ('N', 'N'))
      .runSync()

  test("cancelled while it starts, it leaves nothing"):
    val before = EmbeddedFolders.now()
    val outcome = (for
      fiber <- EmbeddedServer.resource.use(_ => Task.never).start
      _ <- begun(before)
      _ <- fiber.cancel
      outcome <- fiber.join
    yield outcome).runSync()
    assertEquals(outcome, Outcome.Canceled)
    assertEquals(EmbeddedFolders.now(), before)

  test("a Postgres that does not start is one line that says why"):
    val known = sys.props("weir.embedded")
    val home = Files.createTempDirectory("weir")
    sys.props("weir.embedded") = home.toString
    try
      val bad = intercept[BadInput](EmbeddedServer.resource.use(_ => Task.unit).runSync())
      assert(bad.getMessage.startsWith("--db embedded: Postgres did not start: "), bad.getMessage)
      sys.props -= "weir.embedded"
      val none = intercept[BadInput](EmbeddedServer.resource.use(_ => Task.unit).runSync())
      assert(none.getMessage.contains("Start it with ./weir"), none.getMessage)
    finally
      sys.props("weir.embedded") = known
      Files.delete(home)

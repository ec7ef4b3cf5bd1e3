package weir.postgres

import java.net.{InetAddress, ServerSocket, StandardProtocolFamily, UnixDomainSocketAddress}
import java.nio.channels.ServerSocketChannel
import java.nio.file.Files
import scala.concurrent.duration.*

/** Servers that accept connections and never answer. */
class SilentServerSuite extends ServerSuite:
  override def limit: FiniteDuration = 20.seconds

  private def refused(url: String): ServerError =
    intercept[ServerError](ScriptConnection.open(url).use(_ => weir.Task.unit).runSync())

  for mode <- List("disable", "prefer", "require") do
    test(s"connect_timeout ends the wait for an answer (sslmode $mode)"):
      val silent = ServerSocket(0, 50, InetAddress.getLoopbackAddress)
      try
        val port = silent.getLocalPort
        val error = refused(
          s"postgresql://u@127.0.0.1:$port/d?connect_timeout=1&sslmode=$mode"
        )
        assert(error.connectionLost)
        assert(error.problem.contains(s"d at 127.0.0.1:$port"), error.problem)
        assert(error.detail.exists(_.contains("has not answered within 1 s")), error.detail)
      finally silent.close()

  test("connect_timeout ends the wait for an answer over a Unix domain socket"):
    val folder = Files.createTempDirectory("weir-silent")
    val socket = folder.resolve(".s.PGSQL.5432")
    val silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)
    try
      silent.bind(UnixDomainSocketAddress.of(socket)): Unit
      val error = refused(s"postgresql://u@/d?host=$folder&port=5432&connect_timeout=1")
      assert(error.detail.exists(_.contains("has not answered within 1 s")), error.detail)
    finally
      silent.close()
      Files.deleteIfExists(socket): Unit
      Files.delete(folder)

  test("of several hosts each has the time, and one that answers is taken"):
    val silent = ServerSocket(0, 50, InetAddress.getLoopbackAddress)
    try
      val url =
        s"postgresql://postgres:postgres@127.0.0.1:${silent.getLocalPort}," +
          s"127.0.0.1:${server.port}/postgres" +
          "?connect_timeout=2&sslmode=disable"
      val pid = ScriptConnection.open(url).use(c => weir.Task(c.driver.getBackendPID)).runSync()
      assert(pid > 0)
    finally silent.close()

  test("hostaddr is connected to, whatever host is called; a cancel goes there, too"):
    val url = s"host=no-such-host.invalid hostaddr=127.0.0.1 port=${server.port} user=postgres " +
      "password=postgres dbname=postgres sslmode=disable"
    val late = ScriptConnection
      .open(url)
      .use(c => Session(c, _ => ()).run("SELECT pg_sleep(1000)").timeout(200.millis).attempt)
      .runSync()
    assert(late.left.exists(_.isInstanceOf[java.util.concurrent.TimeoutException]), late)

  test("keep-alives are on, and begin after a minute"):
    val option = jdk.net.ExtendedSocketOptions.TCP_KEEPIDLE
    val idle = ScriptConnection
      .open(server.tcp("postgres"))
      .use(c =>
        weir.Task((c.socket.nn.getKeepAlive, c.socket.nn.getOption[Integer](option).intValue))
      )
      .runSync()
    assertEquals(idle, (true, 60))

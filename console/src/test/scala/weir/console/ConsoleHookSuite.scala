package weir.console

import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.net.URI
import java.util.concurrent.TimeUnit
import scala.io.Source
import weir.*

class ConsoleHookSuite extends WeirSuite:
  import ConsoleHookSuite.*

  /** A JVM with a program that knows no console. It ends when its input does. */
  private def start(options: String*): Process =
    val java = s"${System.getProperty("java.home")}/bin/java"
    val path = System.getProperty("java.class.path")
    val quick = List("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
    val command = java :: quick ++ options ++ List("-cp", path, "weir.console.WithoutConsole")
    ProcessBuilder(command*).redirectErrorStream(true).start()

  private def ended(process: Process): Unit =
    process.getOutputStream.close()
    assert(process.waitFor(20, TimeUnit.SECONDS), "the console keeps the program from ending")
    assertEquals(process.exitValue, 0)

  test("-Dweir.console=0 starts a console, which does not keep the program from ending"):
    val process = start("-Dweir.console=0")
    try
      val lines = Source.fromInputStream(process.getInputStream).getLines()
      val url = lines.collectFirst { case s"weir: the console is at $url" => url }.get
      val request = HttpRequest.newBuilder(URI(s"${url}metrics")).build()
      val reply = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString())
      assert(reply.body.contains("weir_fibers"), reply.body)
      ended(process)
    finally process.destroyForcibly(): Unit

  test("a property that does not fit is one line, and the program runs without a console"):
    for (property, line) <- List(
        "-Dweir.console=web" -> "-Dweir.console was web. It must be a port, such as 8090.",
        "-Dweir.console=99999" -> "Console.serve: port was 99999."
      )
    do
      System.setProperty("weir.console", property.dropWhile(_ != '=').drop(1)): Unit
      try
        val said = printedBy(assertEquals(ConsoleHook.start(WeirRuntime.default), None))
        assert(said.startsWith(s"weir: there is no console. $line"), said)
      finally System.clearProperty("weir.console"): Unit

  test("without the property nothing is started"):
    assertEquals(ConsoleHook.start(WeirRuntime.default), None)

object ConsoleHookSuite:
  private def printedBy(body: => Unit): String =
    val bytes = java.io.ByteArrayOutputStream()
    val before = System.err
    System.setErr(java.io.PrintStream(bytes, true))
    try body
    finally System.setErr(before)
    bytes.toString

object WithoutConsole:
  def main(arguments: Array[String]): Unit =
    Task(while System.in.read() >= 0 do ()).runSync()

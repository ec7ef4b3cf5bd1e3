package weir.lab.clients

import java.io.{PrintWriter, StringWriter}
import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.nio.file.Files
import scala.concurrent.duration.*

import munit.FunSuite
import picocli.CommandLine

import weir.lab.command.Clients
import weir.program.{ChildJvm, Main, TempFolder, Tier}

/** The command as a user runs it, with a short delay and few clients. */
class ClientsCommandSuite extends FunSuite with TempFolder:
  override val munitTimeout: Duration = 3.minutes

  private case class Ran(code: Int, out: String, err: String)

  private def weir(args: String*): Ran =
    val (out, err) = (StringWriter(), StringWriter())
    val code = Main.run("clients" +: args, PrintWriter(out, true), PrintWriter(err, true))
    Ran(code, out.toString, err.toString)

  /** The same without time to warm up, in the short tier. */
  private def brief(args: String*): Ran =
    val (out, err) = (StringWriter(), StringWriter())
    val command = Clients()
    CommandLine(command).parseArgs(args*): Unit
    val usual = command.settings
    val settings = Tier(usual.copy(warmUp = 10.millis), usual)
    val code = ClientsJob(settings, PrintWriter(out, true), PrintWriter(err, true)).run()
    Ran(code, out.toString, err.toString)

  folder.test("every way gets its sum and its row, with the bound beside it"): folder =>
    val file = folder.resolve("out.json")
    // Each way has a JVM of its own.
    val only = Tier(Seq("--only", "virtual-threads"), Seq())
    val small = Seq("--delay", "50ms", "--ids", "3", "--many", "200", "--json", file.toString)
    val ran = brief(small ++ only*)
    assertEquals((ran.code, ran.err), (0, ""))
    val json = ujson.read(Files.readString(file))
    assertEquals(json("command").str, "clients")
    val results = json("results").arr.map(r => (r("case").str, r("system").str, r("value").num))
    def chosen(ways: (String, String)*) =
      ways.toList.filter((_, system) => only.isEmpty || only.last.split(',').contains(system))
    val few = chosen(
      "3 ids: one-by-one" -> "java-stream",
      "3 ids: parallel-stream" -> "java-stream",
      "3 ids: pool-of-100" -> "completable-future",
      "3 ids: thread-each" -> "virtual-threads",
      "3 ids: blocking" -> "weir",
      "3 ids: async" -> "weir",
      "3 ids: direct" -> "weir"
    )
    val many = chosen(
      "200 ids: thread-each" -> "virtual-threads",
      "200 ids: blocking" -> "weir",
      "200 ids: async" -> "weir",
      "200 ids: direct" -> "weir"
    )
    val (bounds, measured) = results.toList.partition(_._2 == "bound")
    assertEquals(measured.map((name, system, _) => name -> system), few ++ many)
    assertEquals(bounds.map(_._1), (few ++ many).map(_._1))
    assert(bounds.forall(_._3 == 50))
    assert(measured.forall(_._3 >= 50), measured)
    for oneByOne <- measured.find(_._1.endsWith("one-by-one")) do
      assert(oneByOne._3 >= 150, oneByOne)
    val last = if only.isEmpty then "direct +weir" else "thread-each +virtual-threads"
    assert(ran.out.linesIterator.exists(_.matches(s"200 ids: $last .*")), ran.out)

  if Tier.isLong then
    test("--only chooses, and --quick leaves out asking one by one"):
      val ran = weir("--only", "java-stream", "--quick", "--delay", "20ms", "--ids", "2")
      assertEquals((ran.code, ran.err), (0, ""))
      assert(ran.out.contains("2 ids: parallel-stream"), ran.out)
      assert(!ran.out.contains("one-by-one") && !ran.out.contains("weir"), ran.out)

  folder.test("--port serves at the URL that it prints, until it is told to end"): folder =>
    val child = ChildJvm.weir(folder.resolve("log.txt"), "clients", "--port", "0", "--delay", "1ms")
    val url = child.readLine().get.takeWhile(_ != ' ')
    val answer = HttpClient
      .newHttpClient()
      .send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString())
    assertEquals(ujson.read(answer.body)("client").num.toInt, 7)
    child.terminate()
    child.readRest(): Unit
    assertEquals(child.exitCode(), 143)

  test("bad input is one line that names the option, exit code 2, and nothing is run"):
    for (args, place) <- List(
        Seq("--delay", "0s") -> "--delay:",
        Seq("--delay", "2h") -> "--delay:",
        Seq("--delay", "soon") -> "--delay:",
        Seq("--ids", "0") -> "--ids:",
        Seq("--ids", "101") -> "--ids:",
        Seq("--many", "x") -> "--many:",
        Seq("--port", "65536") -> "--port:",
        Seq("--only", "zio") -> "--only:",
        Seq("--seed", "x") -> "--seed:",
        Seq("--json", "/none/out.json") -> "--json /none/out.json:",
        Seq("--bogus") -> "weir clients:"
      )
    do
      val ran = weir(args*)
      assertEquals((ran.code, ran.out), (2, ""), s"$args $ran")
      assertEquals(ran.err.linesIterator.size, 1, ran.err)
      assert(ran.err.startsWith(place), s"$args: ${ran.err}")

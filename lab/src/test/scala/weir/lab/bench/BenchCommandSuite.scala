package weir.lab.bench

import java.io.{PrintWriter, StringWriter}
import java.nio.file.Files
import scala.concurrent.duration.*

import munit.FunSuite

import weir.program.{Main, TempFolder}

/** The command as a user runs it, with the real JMH. */
class BenchCommandSuite extends FunSuite with TempFolder:
  override def munitTimeout: Duration = 2.minutes

  private case class Ran(code: Int, out: String, err: String)

  private def bench(args: String*): Ran =
    val (out, err) = (StringWriter(), StringWriter())
    val code = Main.run("bench" +: args, PrintWriter(out, true), PrintWriter(err, true))
    Ran(code, out.toString, err.toString)

  folder.test("a benchmark's results are a table, JSON, a page and JMH's own file"): folder =>
    val (json, page, own) =
      (folder.resolve("out.json"), folder.resolve("out.html"), folder.resolve("jmh.json"))
    val brief = Seq("-f", "1", "-wi", "0", "-i", "1", "-r", "50ms", "-p", "size=10")
    val files =
      Seq("--json", s"$json", "--report", s"$page", "-rf", "json", "-rff", s"$own")
    val ran = bench(brief ++ files ++ Seq("--only", "weir,zio", "[.]SequenceReady[.]")*)
    assertEquals(ran.code, 0, s"${ran.out} ${ran.err}")
    val report = ujson.read(Files.readString(json))
    assertEquals(report("command").str, "bench")
    val results = report("results").arr
    assertEquals(results.map(_("system").str).toSet, Set("weir", "zio"))
    assertEquals(results.map(_("case").str).toSet, Set("sequence ready: 10"))
    assert(results.forall(_("value").num > 0))
    assertEquals(ujson.read(Files.readString(own)).arr.size, 2)
    assert(Files.readString(page).contains("sequence ready"))
    assert(ran.out.linesIterator.exists(_.startsWith("sequence ready: 10")), ran.out)

  test("-l lists the benchmarks, and -h shows JMH's options"):
    assert(bench("-l").out.linesIterator.contains("weir.bench.SequenceReady.weir"))
    assert(bench("-h").out.contains("-wi <int>"))

  folder.test("bad input is one line and exit code 2, before anything is measured"): folder =>
    for (args, start) <- List(
        Seq("NoSuchBenchmark") -> "weir bench: no benchmark has such a name.",
        Seq("-nosuch") -> "weir bench: ",
        Seq("--only", "akka", "Sequence") -> "--only: there is no system 'akka' here.",
        Seq("--report", s"$folder", "Sequence") -> s"--report $folder: this is a folder",
        Seq("--chart-of", "(", "Sequence") -> "--chart-of: '(' is no regular expression",
        Seq("-rf", "csv", "Sequence") -> "-rf: csv is not possible here."
      )
    do
      val ran = bench(args*)
      assertEquals(ran.code, 2, s"$args $ran")
      assertEquals(ran.out, "", s"$args")
      assertEquals(ran.err.linesIterator.size, 1, s"$args: ${ran.err}")
      assert(ran.err.startsWith(start), s"$args: ${ran.err}")

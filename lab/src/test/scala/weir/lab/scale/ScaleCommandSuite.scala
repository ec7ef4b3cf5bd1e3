package weir.lab.scale

import java.io.{PrintWriter, StringWriter}
import java.nio.file.{Files, Path}
import scala.concurrent.duration.*

import munit.FunSuite
import picocli.CommandLine

import weir.lab.command.Scale
import weir.program.{Main, TempFolder, Tier}

/** The command as a user runs it. */
class ScaleCommandSuite extends FunSuite with TempFolder:
  override val munitTimeout: Duration = 3.minutes

  private case class Ran(code: Int, out: String, err: String)

  private def weir(args: String*): Ran =
    val (out, err) = (StringWriter(), StringWriter())
    val code = Main.run("scale" +: args, PrintWriter(out, true), PrintWriter(err, true))
    Ran(code, out.toString, err.toString)

  private def settings(args: String*): ScaleJob.Settings =
    val command = Scale()
    CommandLine(command).parseArgs(args*): Unit
    command.settings

  private def write(folder: Path, report: ScaleReport): Unit =
    Files.writeString(folder.resolve("scale.json"), ujson.write(report.toJson)): Unit

  folder.test("each chosen system has every chosen row, in the JSON and in the page"): folder =>
    val (json, page) = (folder.resolve("out.json"), folder.resolve("out.html"))
    val systems = Tier("weir", "weir,zio") // each starts a JVM
    val files = Seq("--json", json.toString, "--report", page.toString)
    val limits = Seq("--quick", "--minutes", "5", "--carriers", "1", "--only", systems)
    val rows = Tier("mutex", "mutex,fork-tree")
    val ran = weir(limits ++ files ++ Seq("--rows", rows)*)
    assertEquals((ran.code, ran.err), (0, ""), ran.out)
    val report = ScaleReport.parse(Files.readString(json)).get
    assert(report.hasEnded)
    assertEquals(report.carriers, Vector(1))
    assertEquals(
      report.figures.keySet.map(at => (at.system, at.row.id)),
      systems.split(',').toSet.flatMap(system => rows.split(',').toSeq.map(system -> _))
    )
    assert(report.figures.values.forall(_ > 0), report.figures)
    assert(ran.out.contains("\nmutex, contended: operations a second"), ran.out)
    assert(Files.readString(page).contains("mutex, contended"))

  folder.test("a folder that was cut off is shown, with what is missing, and exit code 1"):
    folder =>
      val steps = ScaleStep.all(Seq("weir", "zio"), Seq(1, 2), Seq(ScaleRow.Mutex))
      val figure = ScalePlan.speed(ScaleRow.Mutex, 1, "weir", 5_000_000)
      write(folder, SampleScale.report(Vector(figure), steps).copy(hasEnded = false))
      Files.writeString(folder.resolve("machine.txt"), "system: Linux\n"): Unit
      val ran = weir("--read", folder.toString)
      assertEquals((ran.code, ran.err), (1, ""))
      for text <- List("system: Linux\n", "5.00M", "cut off", "zio, 2 carriers: all its rows") do
        assert(ran.out.contains(text), s"$text is not in ${ran.out}")
      val page = folder.resolve("again.html")
      val markdown = weir("--read", folder.toString, "--markdown", "--report", page.toString)
      assert(markdown.out.contains("| weir | 5.00M |"), markdown.out)
      assert(Files.readString(page).contains("5.00M"))

  folder.test("a whole folder gives exit code 0"): folder =>
    write(folder, SampleScale.whole)
    assertEquals(weir("--read", folder.toString).code, 0)

  test("carriers are powers of two up to the processors; those that are not there are left out"):
    val processors = Processors.here().order.size
    val usual = settings()
    assertEquals(usual.carriers.last, processors)
    assertEquals(usual.carriers.head, 1)
    assertEquals((usual.notes, usual.time), (Vector.empty, 7.minutes))
    val asked = settings("--carriers", s"1,$processors,${processors + 1}")
    assertEquals(asked.carriers, Vector(1, processors).distinct)
    assert(asked.notes.head.endsWith(s"not measured with ${processors + 1} carriers."), asked.notes)
    val none = settings("--carriers", (processors + 1).toString)
    assertEquals(none.carriers, Vector(processors))
    val counting = settings("--carriers", s"${processors + 1}", "--counts")
    assertEquals(counting.carriers, Vector(processors + 1))
    assert(counting.isCounting)

  folder.test("bad input is one line that names the option, exit code 2, and nothing is run"):
    folder =>
      val broken = Files.createDirectory(folder.resolve("broken"))
      Files.writeString(broken.resolve("scale.json"), """{"command": "scale", "res"""): Unit
      val file = Files.createFile(folder.resolve("file"))
      for (args, place) <- List(
          Seq("--carriers", "0") -> "--carriers:",
          Seq("--carriers", "1,,2") -> "--carriers:",
          Seq("--carriers", "two") -> "--carriers:",
          Seq("--rows", "no-such") -> "--rows: there is no row 'no-such'. There are: fork-flat",
          Seq("--rows", ",") -> "--rows:",
          Seq("--minutes", "soon") -> "--minutes: 'soon' is not a whole number",
          Seq("--minutes", "0") -> "--minutes: 0 is out of range",
          Seq("--minutes", "1.5") -> "--minutes:",
          Seq("--only", "akka") -> "--only:",
          Seq("--json", s"$folder") -> "--json",
          Seq("--read", s"$folder/no") -> s"--read $folder/no: there is no such folder.",
          Seq("--read", s"$file") -> s"--read $file: there is no such folder.",
          Seq("--read", s"$folder") -> s"--read $folder: it has no scale.json.",
          Seq("--read", s"$broken") -> s"$broken/scale.json: it is no report of weir scale.",
          Seq("--read", s"$broken", "--bundle", s"$folder/b.tar.gz") -> "--bundle:",
          Seq("--markdown") -> "--markdown: it needs --read.",
          Seq("--bundle", s"$folder") -> s"--bundle $folder: this is a folder",
          Seq("--bundle", s"$folder/no/b.tar.gz") -> s"--bundle $folder/no/b.tar.gz: there is no",
          Seq("--bogus") -> "weir scale:"
        )
      do
        val ran = weir(args*)
        assertEquals((ran.code, ran.out), (2, ""), s"$args $ran")
        assertEquals(ran.err.linesIterator.size, 1, ran.err)
        assert(ran.err.startsWith(place), s"$args: ${ran.err}")

package weir.lab.burst

import java.io.{PrintWriter, StringWriter}
import java.nio.file.Files
import scala.concurrent.duration.*

import munit.FunSuite
import picocli.CommandLine

import weir.lab.command.Burst
import weir.program.{Main, Result, TempFolder, Tier}

/** The command as a user runs it, with few fibers. */
class BurstCommandSuite extends FunSuite with TempFolder:
  override val munitTimeout: Duration = 3.minutes

  private case class Ran(code: Int, out: String, err: String)

  private def weir(args: String*): Ran =
    val (out, err) = (StringWriter(), StringWriter())
    val code = Main.run("burst" +: args, PrintWriter(out, true), PrintWriter(err, true))
    Ran(code, out.toString, err.toString)

  /** The same with a moment for each case, in the short tier. */
  private def brief(args: String*): Ran =
    val (out, err) = (StringWriter(), StringWriter())
    val command = Burst()
    CommandLine(command).parseArgs(args*): Unit
    val usual = command.settings
    val settings = Tier(usual.copy(caseTime = Some(10.millis)), usual)
    val code = BurstJob(settings, PrintWriter(out, true), PrintWriter(err, true)).run()
    Ran(code, out.toString, err.toString)

  folder.test("each chosen system has time, threads and heap of every case"): folder =>
    val file = folder.resolve("out.json")
    val systems = Tier(Vector("weir"), Vector("weir", "zio")) // each starts three JVMs
    val only = Seq("--only", systems.mkString(","), "--quick", "--json", file.toString)
    val ran = brief(only ++ Seq("--fibers", "4,2", "--calls", "3", "--blocked", "5")*)
    assertEquals((ran.code, ran.err), (0, ""))
    val results = ujson.read(Files.readString(file))("results").arr.toVector
    val cases = List(
      "nested runSync: 2",
      "nested runSync: 4",
      "nested runSync, yielding: 4",
      "nested runSync, UUID: 4",
      "blocked 10 ms: 5",
      "bursts: 4, the first",
      "bursts: 4, later"
    )
    assertEquals(results.map(_("system").str).distinct, systems)
    assertEquals(ran.out.contains("zio"), systems.contains("zio"))
    for system <- systems do
      val own = results.filter(_("system").str == system)
      for unit <- List("ms", "threads", "MB") do
        val named = own.filter(_("unit").str == unit).map(_("case").str).toList
        val expected = if unit == "MB" then cases.filterNot(_.endsWith("the first")) else cases
        assertEquals(named.filterNot(_.endsWith("then quiet")), expected, s"$system $unit")
      assert(own.exists(_("case").str == "bursts: 4, then quiet"), system)
    val blocked = results.filter(r => r("case").str == "blocked 10 ms: 5" && r("unit").str == "ms")
    assert(blocked.forall(_("value").num >= 10), blocked)
    for title <- List("Time, ms", "OS threads at the peak", "Heap at the peak") do
      assert(ran.out.contains(s"\n$title"), ran.out)

  test("a figure that was measured in several rounds is their median"):
    def threads(values: Double*) =
      values.toVector.map(Result("a", "weir", _, "threads", Result.lower))
    val other = Result.millis("a", "weir", 5)
    val rounds = threads(3) ++ Vector(other) ++ threads(9, 4)
    assertEquals(BurstJob.medians(rounds), threads(4) :+ other)

  test("bad input is one line that names the option, exit code 2, and nothing is run"):
    for (args, place) <- List(
        Seq("--fibers", "0") -> "--fibers:",
        Seq("--fibers", ",") -> "--fibers:",
        Seq("--fibers", "10,") -> "--fibers:",
        Seq("--fibers", "ten") -> "--fibers:",
        Seq("--calls", "0") -> "--calls:",
        Seq("--blocked", "10,x") -> "--blocked:",
        Seq("--only", "fs2") -> "--only:",
        Seq("--bogus") -> "weir burst:"
      )
    do
      val ran = weir(args*)
      assertEquals((ran.code, ran.out), (2, ""), s"$args $ran")
      assertEquals(ran.err.linesIterator.size, 1, ran.err)
      assert(ran.err.startsWith(place), s"$args: ${ran.err}")

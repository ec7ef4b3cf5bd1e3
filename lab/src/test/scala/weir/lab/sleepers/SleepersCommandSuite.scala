package weir.lab.sleepers

import java.io.{PrintWriter, StringWriter}
import java.nio.file.Files
import scala.concurrent.duration.*

import munit.FunSuite
import picocli.CommandLine

import weir.lab.command.Sleepers
import weir.program.{Main, TempFolder, Tier}

/** The command as a user runs it, with few fibers. */
class SleepersCommandSuite extends FunSuite with TempFolder:
  override val munitTimeout: Duration = 3.minutes

  private case class Ran(code: Int, out: String, err: String)

  private def weir(args: String*): Ran =
    val (out, err) = (StringWriter(), StringWriter())
    val code = Main.run("sleepers" +: args, PrintWriter(out, true), PrintWriter(err, true))
    Ran(code, out.toString, err.toString)

  /** The same with fibers that sleep for less than a second, in the short tier. */
  private def brief(args: String*): Ran =
    val (out, err) = (StringWriter(), StringWriter())
    val command = Sleepers()
    CommandLine(command).parseArgs(args*): Unit
    val usual = command.settings
    val settings = Tier(usual.copy(shortest = 200.millis, longest = 600.millis), usual)
    val code = SleepersJob(settings, PrintWriter(out, true), PrintWriter(err, true)).run()
    Ran(code, out.toString, err.toString)

  folder.test("each chosen system has its bytes and its lateness, and no fiber wakes early"):
    folder =>
      val file = folder.resolve("out.json")
      val systems = Tier(Vector("weir"), Vector("weir", "zio")) // each starts two JVMs
      val small = Seq("--only", systems.mkString(","), "--asleep", "20000", "--wake", "300")
      val ran = brief(small ++ Seq("--json", file.toString)*)
      assertEquals((ran.code, ran.err), (0, ""))
      val results = ujson.read(Files.readString(file))("results").arr.toVector
      for (unit, name) <- List("bytes" -> "sleeping: 20000", "ms" -> "late: 300") do
        val own = results.filter(_("unit").str == unit)
        assertEquals(own.map(_("system").str), systems, unit)
        assertEquals(own.map(_("case").str).distinct, Vector(name))
        assert(own.forall(r => r("value").num > 0 && r("value").num < 10_000), own)
      val asleep = results.filter(_("unit").str == "fibers")
      assertEquals(asleep.map(r => (r("system").str, r("value").num)), systems.map((_, 0.0)))
      assert(ran.out.contains("\nHeap that a sleeping fiber takes, bytes"), ran.out)

  test("bad input is one line that names the option, exit code 2, and nothing is run"):
    for (args, place) <- List(
        Seq("--asleep", "0") -> "--asleep:",
        Seq("--wake", "many") -> "--wake:",
        Seq("--only", "fs2") -> "--only:",
        Seq("--bogus") -> "weir sleepers:"
      )
    do
      val ran = weir(args*)
      assertEquals((ran.code, ran.out), (2, ""), s"$args $ran")
      assertEquals(ran.err.linesIterator.size, 1, ran.err)
      assert(ran.err.startsWith(place), s"$args: ${ran.err}")

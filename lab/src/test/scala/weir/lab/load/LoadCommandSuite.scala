package weir.lab.load

import java.io.{PrintWriter, StringWriter}
import java.nio.file.Files
import scala.concurrent.duration.*

import munit.FunSuite

import weir.program.{Main, TempFolder, Tier}

/** The command as a user runs it, with few rows. */
class LoadCommandSuite extends FunSuite with TempFolder:
  override val munitTimeout: Duration = 3.minutes

  // As the launcher does, which says what weir sql is started with.
  override def beforeAll(): Unit =
    sys.props("weir.sql.flags") = sys.props("weir.child")

  override def afterAll(): Unit = sys.props -= "weir.sql.flags": Unit

  private case class Ran(code: Int, out: String, err: String)

  private def weir(args: String*): Ran =
    val (out, err) = (StringWriter(), StringWriter())
    val code = Main.run("load" +: args, PrintWriter(out, true), PrintWriter(err, true))
    Ran(code, out.toString, err.toString)

  folder.test("each way that is chosen loads all rows in each round, and has its two figures"):
    folder =>
      val file = folder.resolve("out.json")
      val systems =
        Loader.findPsql().map(_ => "psql").toVector ++ Vector("server-copy", "weir") ++
          // These differ in the value of an option only.
          Tier(Vector(), Vector("weir-n0", "weir-1MB", "weir-jobs-2"))
      val rounds = Tier(1, 2)
      val small = Seq("--rows", "2000", "--rounds", s"$rounds", "--only", systems.mkString(","))
      val ran = weir(small ++ Seq("--json", file.toString)*)
      assertEquals((ran.code, ran.err), (0, ""))
      val results = ujson.read(Files.readString(file))("results").arr.toVector
      for name <- List("load 2,000 rows: run", "load 2,000 rows: with the start of the process") do
        val own = results.filter(_("case").str == name)
        assertEquals(own.map(_("system").str), systems, ran.out)
        assert(own.forall(r => r("value").num > 0 && r("value").num < 60), own)
      for system <- systems; round <- 1 to rounds do
        assert(ran.out.contains(s"round $round, $system: "), ran.out)

  test("bad input is one line that names the option, exit code 2, and nothing is run"):
    for (args, place) <- List(
        Seq("--rows", "0") -> "--rows:",
        Seq("--rounds", "many") -> "--rounds:",
        Seq("--only", "fs2") -> "--only:",
        Seq("--bogus") -> "weir load:"
      )
    do
      val ran = weir(args*)
      assertEquals((ran.code, ran.out), (2, ""), s"$args $ran")
      assertEquals(ran.err.linesIterator.size, 1, ran.err)
      assert(ran.err.startsWith(place), s"$args: ${ran.err}")

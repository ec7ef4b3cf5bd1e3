package weir.lab.gather

import java.io.{PrintWriter, StringWriter}
import java.nio.file.Files
import scala.concurrent.duration.*

import weir.program.{Main, Result, TempFolder}

class GatherCommandSuite extends munit.FunSuite with TempFolder:
  override def munitTimeout: Duration = 2.minutes

  private final case class Ran(code: Int, out: String, err: String)

  private def gather(args: String*): Ran =
    val (out, err) = (StringWriter(), StringWriter())
    val code = Main.run("gather" +: args, PrintWriter(out, true), PrintWriter(err, true))
    Ran(code, out.toString, err.toString)

  test("a system that is not measured here is one line and exit code 2"):
    assertEquals(
      gather("--only", "weir,fs2"),
      Ran(
        2,
        "",
        "--only: there is no system 'fs2' here. There are: " +
          "weir, cats-effect, zio, monix, scalaz, future, ox, virtual-threads.\n"
      )
    )

  folder.test("a file that cannot be written is one line and exit code 2, before any work"):
    folder =>
      val ran = gather("--json", s"$folder/no/x.json")
      assertEquals((ran.code, ran.out, ran.err.linesIterator.size), (2, "", 1))
      assert(ran.err.contains("there is no folder"), ran.err)

  folder.test("a quick run of one system: its figures in the table and the JSON, and exit code 0"):
    folder =>
      val file = folder.resolve("x.json")
      val ran = gather("--quick", "--only", "future", "--json", s"$file")
      assertEquals(ran.code, 0, ran.err)
      val json = ujson.read(Files.readString(file))
      assertEquals(json("command").str, "gather")
      val results = json("results").arr.map(Result.fromJson)
      assertEquals(
        results.map(r => (r.name, r.system, r.unit, r.better)).toSeq,
        Seq("sequence forked: 1000", "gather ready: 1000", "gather forked: 1000")
          .map((_, "future", "ops/s", "higher"))
      )
      assert(results.forall(_.value > 1), results)
      results.foreach(r => assert(ran.out.linesIterator.exists(_.startsWith(r.name)), ran.out))

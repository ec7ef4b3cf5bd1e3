package weir.lab.stack

import java.io.{PrintWriter, StringWriter}
import scala.concurrent.duration.*

import munit.FunSuite
import picocli.CommandLine

import weir.lab.command.Stack
import weir.program.{Main, Result, Tier}

/** The command as a user runs it, for a moment. */
class StackCommandSuite extends FunSuite:
  override val munitTimeout: Duration = 2.minutes

  // skunk on a server of its own costs a second of every processor only to load its classes.
  private val (part, row, name) =
    Tier(("effects", "bracket", "bracket"), ("skunk", "queries", "skunk, queries"))

  test(s"one row on both effects: $name"):
    val (out, err) = (StringWriter(), StringWriter())
    val command = Stack()
    CommandLine(command).parseArgs("--quick", "--part", part, "--row", row): Unit
    val settings = command.settings.copy(warmUp = 10.millis, caseTime = 10.millis)
    val code = StackJob(settings, PrintWriter(out, true), PrintWriter(err, true)).run()
    assertEquals((code, err.toString), (0, ""))
    val rows = out.toString.linesIterator.toVector.filter(_.startsWith(name))
    assertEquals(rows.size, 1, out)

  test("the table has both effects of each row, and how many times as good Task is"):
    val results = Vector(
      Result.opsPerSecond("a", "weir", 300),
      Result("a", "weir", 2, "us of processor", Result.lower),
      Result.opsPerSecond("a", "cats-effect", 200),
      Result("a", "cats-effect", 5, "us of processor", Result.lower)
    )
    assertEquals(
      StackJob.table(results).last.split(" +").toList,
      List("a", "300", "200", "1.50", "2", "5", "2.50")
    )
    val twice = results ++ results.map(result => result.copy(value = result.value * 3))
    assertEquals(StackJob.medians(twice).map(_.value), Vector(600.0, 4.0, 400.0, 10.0))

  test("an unknown part is refused"):
    val err = StringWriter()
    val code =
      Main.run(Seq("stack", "--part", "zio"), PrintWriter(StringWriter()), PrintWriter(err))
    assertEquals(code, 2)
    assert(err.toString.contains("there is no part 'zio'"), err)

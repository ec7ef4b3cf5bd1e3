package weir.lab.gather

import java.io.{PrintWriter, StringWriter}
import scala.concurrent.duration.*

import weir.program.Result

/** Measures for real, too shortly for the figures to mean anything. */
class GatherJobSuite extends munit.FunSuite:
  override def munitTimeout: Duration = 2.minutes

  private val brief = GatherPlan.Timing(warmUp = 10.millis, round = 5.millis, rounds = 3)

  private def run(steps: GatherPlan.Step*): (GatherJob.Measured, Vector[String]) =
    val err = StringWriter()
    val plan = GatherPlan(steps.toVector)
    val measured = GatherJob(plan, GatherProgress.Lines(PrintWriter(err, true), plan)).run()
    (measured, err.toString.linesIterator.toVector)

  test("systems on either class path are measured, and a line says so for each JVM"):
    val forms = Vector(Form.GatherReady, Form.UnorderedForked)
    val (measured, lines) = run(
      GatherPlan.Step("scalaz", forms, 10, brief),
      GatherPlan.Step("weir", forms, 10, brief)
    )
    assert(measured.isComplete, lines)
    assertEquals(
      measured.results.map(r => (r.name, r.system)),
      Vector(
        ("gather ready: 10", "weir"),
        ("gather ready: 10", "scalaz"),
        ("unordered forked: 10", "weir"),
        ("unordered forked: 10", "scalaz")
      )
    )
    assert(measured.results.forall(_.value > 0), measured)
    assertEquals(lines.size, 2, lines)
    assert(lines.head.startsWith("1 of 2: scalaz: gather ready: 10 "), lines)

  test("a system that fails is a line and a missing figure, and the others are measured"):
    val (measured, lines) = run(
      GatherPlan.Step("ox", Vector(Form.SequenceReady), 10, brief),
      GatherPlan.Step("ox", Vector(Form.GatherReady), 10, brief)
    )
    assert(!measured.isComplete)
    assertEquals(measured.results.map(_.name), Vector("gather ready: 10"))
    assert(lines.exists(_.contains("ox, gather: no result, since in 'sequence ready: 10'")), lines)

  test("of several rounds the middle figure counts"):
    def result(system: String, value: Double): Result =
      Result.opsPerSecond("gather ready: 10", system, value)
    assertEquals(
      GatherJob.medians(
        Seq(result("ox", 1), result("zio", 7), result("ox", 9), result("ox", 2))
      ),
      Vector(result("zio", 7), result("ox", 2))
    )

  test("figures are in the order of the forms, then of the sizes, then of the systems"):
    val names = for
      size <- List(10, 1000, 100_000)
      form <- List(Form.GatherReady, Form.SequenceReady)
      system <- List("zio", "weir")
    yield Result.opsPerSecond(form.caseOf(size), system, 1)
    assertEquals(
      GatherJob.medians(names).map(r => s"${r.name} ${r.system}").take(4),
      Vector(
        "sequence ready: 10 weir",
        "sequence ready: 10 zio",
        "sequence ready: 1000 weir",
        "sequence ready: 1000 zio"
      )
    )

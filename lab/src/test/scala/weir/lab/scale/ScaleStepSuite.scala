package weir.lab.scale

import munit.FunSuite

class ScaleStepSuite extends FunSuite:
  private def names(steps: Seq[ScaleStep]) = steps.map(step => s"${step.system} ${step.carriers}")

  test("weir comes first, and of the carriers one, then the most"):
    val steps = ScaleStep.all(Seq("weir", "zio"), Seq(2, 4, 1), ScalePlan.rows)
    assertEquals(
      names(steps),
      Vector("weir 1", "weir 4", "weir 2", "zio 1", "zio 4", "zio 2")
    )

  test("rivals take turns, so that a run that is cut off has all of them with the same carriers"):
    val steps = ScaleStep.all(Seq("zio", "cats-effect"), Seq(1, 2), ScalePlan.rows)
    assertEquals(names(steps), Vector("zio 1", "cats-effect 1", "zio 2", "cats-effect 2"))

  test("a system has only the rows that it has, and no JVM without any"):
    val rows = Seq(ScaleRow.Mutex, ScaleRow.ForkTree)
    val steps = ScaleStep.all(Seq("weir", "fork-join", "pekko"), Seq(1), rows)
    assertEquals(names(steps), Vector("weir 1", "fork-join 1"))
    assertEquals(steps(1).rows, Vector(ScaleRow.ForkTree))

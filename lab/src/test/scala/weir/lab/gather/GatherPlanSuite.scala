package weir.lab.gather

import scala.concurrent.duration.*

class GatherPlanSuite extends munit.FunSuite:
  private def figures(plan: GatherPlan): Vector[(String, String)] =
    plan.steps.flatMap(step => step.forms.map(form => (form.caseOf(step.size), step.system)))

  test("the full run measures every form of every system, at 1,000 three times"):
    val all = for
      size <- Vector(10, 1000, 100_000)
      form <- Form.values
      system <- form.systems.toVector
      _ <- 1 to (if size == 1000 then 5 else 1)
    yield (form.caseOf(size), system)
    assertEquals(figures(GatherPlan.full(GatherPlan.systems)).sorted, all.sorted)

  test("in the full run a JVM measures one figure, and the next one another system"):
    val steps = GatherPlan.full(GatherPlan.systems).steps
    assert(steps.forall(_.forms.size == 1))
    assert(steps.zip(steps.tail).forall((a, b) => a.system != b.system))

  test("the quick run measures every form once, in a JVM for each system"):
    val quick = GatherPlan.quick(GatherPlan.systems)
    assertEquals(quick.steps.map(_.system), GatherPlan.systems)
    assertEquals(
      figures(quick).sorted,
      figures(GatherPlan.full(GatherPlan.systems)).filter(_._1.endsWith(": 1000")).distinct.sorted
    )

  test("only the systems that are asked for are measured"):
    for plan <- List(GatherPlan.quick(Seq("weir", "ox")), GatherPlan.full(Seq("weir", "ox"))) do
      assertEquals(plan.steps.map(_.system).toSet, Set("weir", "ox"))

  test("the quick run takes less than a minute, the full run less than 16"):
    assert(GatherPlan.quick(GatherPlan.systems).expected < 55.seconds)
    assert(GatherPlan.full(GatherPlan.systems).expected < 16.minutes)

package weir.lab.compare.way

import weir.lab.compare.{Course, Load, Plan, Way}

/** A course has the mistakes: a task that is not consumed once, or too many at a time. */
class WeirWaysSuite extends munit.FunSuite:

  private val micro = 1000L
  private val plans = Seq(
    "the usual plan" -> Plan.of(Load.Balanced, seed = 3, speed = 1000),
    "queues of one place" -> Plan(
      Vector.fill(6)(20 * micro),
      Vector.tabulate(24)(_ * 10 * micro),
      parallelism = 4,
      capacity = 1
    ),
    "one batch, no delays" -> Plan(Vector(0L), Vector.fill(7)(0L), parallelism = 8, capacity = 3)
  )

  for
    way <- Way.values
    (name, plan) <- plans
  do
    test(s"${way.name} consumes every task once, $name"):
      val course = Course(plan, tasksPerLetter = 1)
      WeirWays.run(way, plan, course)
      val tasks = plan.consumeNanos.size
      assertEquals(course.mistake, None)
      assertEquals(course.progress, s"$tasks of $tasks tasks produced, $tasks consumed")
      assertEquals(course.letters.sorted, "C" * tasks + "P" * tasks)

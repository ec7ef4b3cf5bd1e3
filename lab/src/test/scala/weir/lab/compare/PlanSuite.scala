package weir.lab.compare

class PlanSuite extends munit.FunSuite:

  test("the same seed makes the same plan, another seed another"):
    val plan = Plan.of(Load.Balanced, seed = 7, speed = 1)
    assertEquals(Plan.of(Load.Balanced, seed = 7, speed = 1), plan)
    assertNotEquals(Plan.of(Load.Balanced, seed = 8, speed = 1), plan)

  Load.values.foreach: load =>
    test(s"the delays of ${load.name} are within its limits, and spread evenly"):
      val plan = Plan.of(load, seed = 1, speed = 1)
      val millis = plan.consumeNanos.map(_ / 1e6)
      val mean = (load.leastConsumeMillis + load.mostConsumeMillis) / 2.0
      assertEquals(millis.size, 1000)
      assert(millis.min >= load.leastConsumeMillis && millis.max <= load.mostConsumeMillis)
      assert(math.abs(millis.sum / millis.size - mean) < 0.1 * mean)
      assertEquals(plan.produceNanos, Vector.fill(10)(load.produceMillis * 1_000_000L))

  test("speed divides all delays"):
    val plan = Plan.of(Load.SlowConsumer, seed = 1, speed = 1)
    val fast = Plan.of(Load.SlowConsumer, seed = 1, speed = 10)
    assertEquals(fast.produceNanos, plan.produceNanos.map(_ / 10))
    plan.consumeNanos.zip(fast.consumeNanos).foreach((slow, fast) => assertEquals(slow / 10, fast))

  test("producers share all batches"):
    val plan = Plan.of(Load.Balanced, seed = 1, speed = 1)
    assertEquals(plan.shares(2), Vector(Vector(0, 1, 2, 3, 4), Vector(5, 6, 7, 8, 9)))
    assertEquals(plan.shares(3).flatten, plan.batches.toVector)

  test("a batch that would be larger than another is refused"):
    intercept[IllegalArgumentException](Plan(Vector(1, 1), Vector(1, 2, 3), 1, 1))

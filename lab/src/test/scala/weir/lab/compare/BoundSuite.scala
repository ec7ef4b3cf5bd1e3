package weir.lab.compare

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

class BoundSuite extends munit.ScalaCheckSuite:

  /** Delays in whatever unit: a bound has the unit of its delays. */
  private def plan(produce: Long*)(consume: Long*)(parallelism: Int, capacity: Int): Plan =
    Plan(produce.toVector, consume.toVector, parallelism, capacity)

  test("batch by batch, each batch takes its production and its slowest task"):
    assertEquals(Bound.batchByBatch(plan(10, 20)(3, 5, 7, 1)(2, 4)), (10L + 5) + (20 + 7))

  test("batch by batch with fewer consumers than tasks, the tasks of a batch share them"):
    assertEquals(Bound.batchByBatch(plan(10, 10)(1, 2, 3, 4, 4, 4)(2, 6)), (10L + 4) + (10 + 8))

  test("a slow producer with a queue is never kept waiting"):
    assertEquals(Bound.queued(plan(10, 10, 10)(1, 2, 3, 4, 5, 6)(2, 4), producers = 1), 30L + 6)

  test("a full queue keeps the producer waiting"):
    // Both tasks of the first batch are there at 1. One is consumed until 11, the other waits. The
    // second batch is ready at 2 and finds no place until 11, nor its second task until 21; so the
    // third is begun at 21, when tasks go on being consumed until 61.
    assertEquals(Bound.queued(plan(1, 1, 1)(10, 10, 10, 10, 10, 10)(1, 1), producers = 1), 61L)

  test("what the consumers wait for is the batch that was begun late"):
    // With a place for two, the second batch is begun at 1 instead of at 11.
    val late = plan(1, 30)(10, 10, 1, 1)(1, 0)
    assertEquals(Bound.handedOver(late), 11L + 30 + 1 + 1)
    assertEquals(Bound.queued(late.copy(capacity = 2), producers = 1), 31L + 1 + 1)

  test("two producers work at the same time"):
    assertEquals(Bound.queued(plan(10, 10, 10, 10)(1, 1, 1, 1)(4, 4), producers = 2), 21L)

  test("the tasks of two producers share the consumers"):
    assertEquals(Bound.queued(plan(1, 1)(1, 2, 3, 4)(1, 4), producers = 2), 1L + 1 + 2 + 3 + 4)

  private val plans =
    for
      batches <- Gen.choose(1, 6)
      size <- Gen.choose(1, 6)
      produce <- Gen.listOfN(batches, Gen.choose(0L, 50L))
      consume <- Gen.listOfN(batches * size, Gen.choose(0L, 50L))
      parallelism <- Gen.choose(1, 5)
      capacity <- Gen.choose(1, 8)
    yield Plan(produce.toVector, consume.toVector, parallelism, capacity)

  property("no way is faster than its producers and its consumers at full work"):
    forAll(plans): plan =>
      Way.values.foreach: way =>
        val producers = way match
          case Way.ParallelQueue | Way.ParallelStream => 2
          case _ => 1
        val bound = way.boundNanos(plan)
        // At least a batch of tasks is consumed after all of a producer's production.
        val production = plan.shares(producers).map(_.map(plan.produceNanos).sum).max
        val last = plan.consumeNanos.takeRight(plan.tasks(0).size).max
        assert(clue(bound) >= production + last, clue((way, plan)))
        assert(bound * plan.parallelism >= plan.consumeNanos.sum, clue((way, plan)))

  property("no way is slower than one by one"):
    forAll(plans): plan =>
      val oneByOne = plan.produceNanos.sum + plan.consumeNanos.sum
      Way.values.foreach(way => assert(way.boundNanos(plan) <= oneByOne, clue((way, plan))))

  property("a way that waits less is not slower: batch, stream, queue, larger queue"):
    forAll(plans): plan =>
      // Only where a whole batch finds consumers does a stream never wait longer than a batch.
      val wide = plan.copy(parallelism = plan.tasks(0).size)
      val times = Vector(
        Bound.batchByBatch(wide),
        Bound.handedOver(wide),
        Bound.queued(wide, producers = 1),
        Bound.queued(wide.copy(capacity = wide.capacity * 2), producers = 1)
      )
      assertEquals(clue(times), times.sorted.reverse)

package weir.lab.compare

import scala.collection.mutable

/** Computes the time, in nanoseconds, that a way takes if nothing but the delays of the plan costs
  * time.
  */
object Bound:
  /** Each batch alone: it is produced, all of it is consumed, and only then the next is produced.
    */
  def batchByBatch(plan: Plan): Long =
    plan.batches
      .map: batch =>
        val alone = plan.copy(
          produceNanos = Vector(plan.produceNanos(batch)),
          consumeNanos = plan.tasks(batch).map(plan.consumeNanos)
        )
        queued(alone, producers = 1)
      .sum

  /** No place between producer and consumers: a task leaves the producer when a consumer takes it.
    */
  def handedOver(plan: Plan): Long = queued(plan.copy(capacity = 0), producers = 1)

  /** Returns a first-in first-out queue of `plan.capacity` places between producers and consumers.
    */
  def queued(plan: Plan, producers: Int): Long = Simulation(plan, producers).run()

  /** Goes from event to event; an event is the end of a delay. A later event never makes another
    * one earlier, so no program can be faster. Producers that wait for a place take turns.
    */
  private final class Simulation(plan: Plan, producers: Int):
    private enum Event:
      case Produced(producer: Int)
      case Consumed

    private val events = mutable.PriorityQueue[(Long, Event)]()(using Ordering.by(-_._1))
    private val toProduce = plan.shares(producers).map(_.iterator)
    private val batchSize = plan.tasks(0).size

    /** The number of tasks that a producer has that have not found a place yet. */
    private val unplaced = new Array[Int](producers)
    private var waiting = 0
    private var begun = 0
    private var freeConsumers = plan.parallelism
    private var turn = 0
    private var now = 0L

    def run(): Long =
      (0 until producers).foreach(produceNext)
      while events.nonEmpty do
        val (time, event) = events.dequeue()
        now = time
        event match
          case Event.Consumed => freeConsumers += 1
          case Event.Produced(producer) => unplaced(producer) = batchSize
        moveAll()
      now

    private def produceNext(producer: Int): Unit =
      if toProduce(producer).hasNext then
        val nanos = plan.produceNanos(toProduce(producer).next())
        events += ((now + nanos, Event.Produced(producer)))

    private def moveAll(): Unit =
      consumeWaiting()
      var giver = nextProducer
      while giver >= 0 && (waiting < plan.capacity || freeConsumers > 0) do
        waiting += 1
        unplaced(giver) -= 1
        if unplaced(giver) == 0 then produceNext(giver)
        consumeWaiting()
        giver = nextProducer

    private def consumeWaiting(): Unit =
      while freeConsumers > 0 && waiting > 0 do
        freeConsumers -= 1
        waiting -= 1
        events += ((now + plan.consumeNanos(begun), Event.Consumed))
        begun += 1

    /** The producer whose turn it is to give a task, or -1 if none has one. */
    private def nextProducer: Int =
      val order = (0 until producers).map(step => (turn + step) % producers)
      order.find(unplaced(_) > 0) match
        case Some(producer) =>
          turn = producer + 1
          producer
        case None => -1

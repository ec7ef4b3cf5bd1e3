package weir.stream

import weir.fiber.TaskFiber

/** Makes one element on a fiber of its own, the producer, while the consumer uses the one before
  * it: `prefetchStrict`.
  *
  * When the consumer takes an element it requests the next one in the same step, unless it knows
  * that it wants no more. If the consumer waits, the producer makes that request for it as it
  * delivers an element, and so continues at once.
  */
private[weir] final class PrefetchStrictStage(upstream: Pull) extends DemandDriven(upstream):
  private val side = sides(0)

  /** The number of elements that may still be requested; under the lock. */
  private var demand = Long.MaxValue

  override def atMost(count: Long): Unit =
    demand = math.min(demand, count)
    upstream.atMost(count)

  /** Makes the first request; code that takes an element makes the later ones. */
  override protected def prepare(fiber: TaskFiber): Unit =
    if !side.producer.hasBegun then
      demand -= 1
      side.request()

  private def request(): Unit =
    if demand > 0 then
      demand -= 1
      side.request()

  protected def answer(fiber: TaskFiber): Any =
    if side.isEmpty then WaitSlot.Nothing
    else
      val value = side.take()
      request()
      value

  override protected def delivered(): Unit =
    if consumer.give(side.made) then
      side.take(): Unit
      request()

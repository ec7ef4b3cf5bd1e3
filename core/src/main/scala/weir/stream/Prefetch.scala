package weir.stream

import weir.Outcome
import weir.fiber.{DirectCode, TaskFiber}

/** Runs upstream on a fiber of its own, the producer: as far ahead as the buffer has room, and one
  * more element, which the producer holds while it waits for room. `prefetchN` and `prefetchBytes`.
  *
  * The producer's terminal message is the end, or its error, which keeps its place in the order.
  * The consumer closes upstream, once it has used the last element.
  */
private[weir] final class PrefetchStage(upstream: Pull, buffer: Buffer) extends Pull:
  private var demand = Long.MaxValue
  private var producer: TaskFiber | Null = null
  private var ended = false

  override def atMost(count: Long): Unit =
    demand = math.min(demand, count)
    upstream.atMost(count)

  override def hasFibers: Boolean = true

  def next(fiber: TaskFiber): Any =
    if ended then Pull.End
    else
      fiber.checkpoint() // what is in the buffer is used without one
      if producer eq null then
        val stretch = Observation.stretchOf(fiber)
        if stretch ne null then stretch.queue = buffer
        producer = fiber.fork(DirectCode(Producer.run(upstream, buffer, Pull.End, demand)))
      buffer.take(fiber) match
        case Pull.End =>
          ended = true
          Pull.End
        case failed: Producer.Failed =>
          ended = true
          failed.rethrow(fiber)
        case value => value

  override private[stream] def takeReady(limit: Int): Ready | Null = buffer.takeReady(limit)

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    Pull.both(stop(fiber, outcome), upstream.close(fiber, outcome))

  private def stop(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val running = producer
    if running ne null then
      fiber.await(running.cancel)
      buffer.untaken.foreach(Producer.keepError(_, fiber, outcome))

private[weir] object PrefetchStage:
  def elements(upstream: Pull, limit: Int): Pull = PrefetchStage(upstream, Buffer(limit, null))

  def bytes(upstream: Pull, limitBytes: Long, sizeBytes: Any => Int): Pull =
    PrefetchStage(upstream, Buffer(limitBytes, element => checked(sizeBytes(element))))

  private def checked(sizeBytes: Int): Int =
    if sizeBytes < 0 then
      throw IllegalArgumentException(
        s"Stream.prefetchBytes: the size of an element was $sizeBytes. It must be at least 0."
      )
    sizeBytes

package weir.stream

import weir.{Outcome, Stream}
import weir.fiber.TaskFiber

/** Runs upstream on a fiber of its own, the producer: as far ahead as the buffer has room, and one
  * more element, which the producer holds while it waits for room. `prefetchN` and `prefetchBytes`.
  *
  * The producer's terminal message is the end, or its error, which keeps its place in the order.
  * The consumer closes upstream, once it has used the last element.
  */
private[weir] final class PrefetchStage(upstream: Pull, buffer: Buffer) extends ConcurrentStage:
  private val producer = BufferProducer(upstream, buffer, Pull.End)

  override def atMost(count: Long): Unit =
    producer.demand = math.min(producer.demand, count)
    upstream.atMost(count)

  def next(fiber: TaskFiber): Any = ask(fiber) {
    if !producer.hasBegun then begin(fiber)
    buffer.take(fiber)
  }

  private def begin(fiber: TaskFiber): Unit =
    val stretch = Observation.stretchOf(fiber)
    if stretch ne null then stretch.queue = buffer
    producer.begin(fiber)

  override private[stream] def takeReady(limit: Int): Chunk | Null = buffer.takeReady(limit)

  protected def closeStage(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    Pull.both(stop(fiber, outcome), upstream.close(fiber, outcome))

  private def stop(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    producer.stop(fiber)
    Terminal.keepAll(buffer.untaken)(keep(_, fiber, outcome))

private[weir] object PrefetchStage:
  def elements(upstream: Pull, limit: Int): Pull = PrefetchStage(upstream, Buffer(limit, null))

  def bytes(upstream: Pull, limitBytes: Long, sizeBytes: Any => Int): Pull =
    PrefetchStage(upstream, Buffer(limitBytes, checked(sizeBytes)))

  private def checked(sizeBytes: Any => Int)(element: Any): Int =
    Stream.notNegative("prefetchBytes", "size", sizeBytes(element)).toInt

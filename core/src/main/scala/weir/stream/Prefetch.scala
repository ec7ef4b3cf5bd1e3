package weir.stream

import java.util.concurrent.CancellationException
import weir.Outcome
import weir.kernel.{CancelSignal, Direct, RunLoop}

/** Runs what is above on a fiber of its own, up to `size` elements ahead, and one more in its hand.
  *
  * The producer ends with the message that nothing more comes, or with its error, which keeps its place in the
  * order. It is the consumer that closes what is above, once it has used the last element.
  */
private[weir] final class PrefetchStage(upstream: Pull, size: Int) extends Pull:
  private val buffer = Buffer(size)
  private var producer: RunLoop | Null = null
  private var ended = false

  def next(fiber: RunLoop): Any =
    if ended then Pull.End
    else
      if producer eq null then
        producer = fiber.fork(Direct(Producer.run(upstream, buffer, Pull.End)))
      buffer.take(fiber) match
        case Pull.End =>
          ended = true
          Pull.End
        case Producer.Failed(error) =>
          ended = true
          throw error
        case value => value

  def close(fiber: RunLoop, outcome: Outcome[Unit]): Unit =
    val running = producer
    Pull.both(if running ne null then fiber.await(running.cancel), upstream.close(fiber, outcome))

/** The loop of a fiber that pulls for another one. */
private object Producer:
  final case class Failed(error: Throwable)

  def canceled: Failed =
    Failed(CancellationException("A stage of the stream canceled itself."))

  /** Puts all elements, then `last`, or `Failed`. */
  def run(upstream: Pull, buffer: Buffer, last: Any)(fiber: RunLoop): Unit =
    try
      var value = upstream.next(fiber)
      while !Pull.isEnd(value) do
        buffer.put(value, fiber)
        value = upstream.next(fiber)
      buffer.put(last, fiber)
    catch
      case CancelSignal =>
        buffer.force(canceled) // nobody takes it if it was the consumer who canceled
        throw CancelSignal
      case error: Throwable => buffer.put(Failed(error), fiber)

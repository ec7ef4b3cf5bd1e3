package weir.stream

import java.util.concurrent.CancellationException
import weir.Outcome
import weir.kernel.{CancelSignal, Direct, RunLoop}
import weir.task.Failures

/** Runs what is above on a fiber of its own, as far ahead as the buffer has room, with one more element in its hand.
  *
  * The producer ends with the message that nothing more comes, or with its error, which keeps its place in the
  * order. It is the consumer that closes what is above, once it has used the last element.
  */
private[weir] final class PrefetchStage(upstream: Pull, buffer: Buffer) extends Pull:
  private var most = Long.MaxValue
  private var producer: RunLoop | Null = null
  private var ended = false

  override def atMost(count: Long): Unit =
    most = math.min(most, count)
    upstream.atMost(count)

  def next(fiber: RunLoop): Any =
    if ended then Pull.End
    else
      if producer eq null then
        producer = fiber.fork(Direct(Producer.run(upstream, buffer, Pull.End, most)))
      buffer.take(fiber) match
        case Pull.End =>
          ended = true
          Pull.End
        case failed: Producer.Failed =>
          ended = true
          failed.rethrow(fiber)
        case value => value

  def close(fiber: RunLoop, outcome: Outcome[Unit]): Unit =
    Pull.both(stop(fiber, outcome), upstream.close(fiber, outcome))

  private def stop(fiber: RunLoop, outcome: Outcome[Unit]): Unit =
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

/** The loop of a fiber that pulls for another one. */
private object Producer:
  /** What the consumer sees of a stage that has canceled itself. */
  final class Canceled(message: String) extends CancellationException(message)

  final case class Failed(error: Throwable):
    /** Throws the error in the consumer's plain code, where no interrupt has made it: so a stage below keeps it, too. */
    def rethrow(fiber: RunLoop): Nothing =
      fiber.thrown = error
      throw error

  /** The last word of a fiber that was cancelled. */
  def canceled: Failed = Failed(Canceled("A stage of the stream canceled itself."))

  /** Puts all elements, no more than `most`, then `last`, or `Failed`. It says nothing after the last of `most`. */
  def run(upstream: Pull, buffer: Buffer, last: Any, most: Long)(fiber: RunLoop): Unit =
    try
      var left = most
      while left > 0 do
        val value = upstream.next(fiber)
        if Pull.isEnd(value) then
          left = 0
          buffer.force(last)
        else
          buffer.put(value, fiber)
          left -= 1
    catch
      case CancelSignal =>
        buffer.force(canceled) // nobody takes it if it was the consumer who canceled
        throw CancelSignal
      case error: Throwable => buffer.force(failed(error, fiber))

  /** The last word of a fiber whose code has thrown `error`. What an interrupt has made of plain code that it hit is no error;
    * of tasks the run loop has told them apart already, and the cancel has come later.
    */
  def failed(error: Throwable, fiber: RunLoop): Failed =
    if fiber.shouldCancel && (fiber.thrown ne error) then canceled else Failed(error)

  /** If `message` is an error of a producer, to which its consumer has not come: goes under the consumer's own error, and is
    * reported where there is none. It would not have come about in a stream without a fiber of its own, so it must not
    * fail the consumer, which has stopped for another reason.
    */
  def keepError(message: Any, fiber: RunLoop, outcome: Outcome[Unit]): Unit = message match
    case Failed(canceled: Canceled) =>
      canceled.getSuppressed.foreach(error => keepError(Failed(error), fiber, outcome))
    case Failed(error) =>
      outcome match
        case Outcome.Failed(first) => Failures.add(first, error): Unit
        case _ => fiber.runtime.report("a stream, ahead of where its consumer stopped,", error)
    case _ => ()

package weir.stream

import java.util.concurrent.CancellationException
import weir.Outcome
import weir.fiber.{CancelSignal, TaskFiber}
import weir.group.Failures

/** What a fiber does that pulls for another one: its loop, and how its errors reach the consumer.
  */
private object Producer:
  /** What the consumer sees of a stage that has cancelled itself. */
  final class Canceled(message: String) extends CancellationException(message)

  /** The terminal message of a fiber that has failed. */
  final case class Failed(error: Throwable):
    /** Throws the error in the consumer's plain code. No interrupt has caused it there, so it
      * counts as awaited, and a stage downstream keeps it also while the consumer is being
      * cancelled.
      */
    def rethrow(fiber: TaskFiber): Nothing =
      fiber.thrown = error
      throw error

  /** The terminal message of a fiber that was cancelled. */
  def canceled: Failed = Failed(Canceled("A stage of the stream cancelled itself."))

  /** Puts the elements of `upstream` into `buffer`, at most `demand` of them; then the terminal
    * message: `end`, or `Failed`. After the last of `demand` elements there is none. What is ready
    * upstream follows an element at once.
    */
  def run(upstream: Pull, buffer: Buffer, end: Any, demand: Long)(fiber: TaskFiber): Unit =
    try
      var left = demand
      while left > 0 do
        val value = upstream.next(fiber)
        if Pull.isEnd(value) then
          left = 0
          buffer.force(end, fiber)
        else
          buffer.put(value, fiber)
          left -= 1
          left -= putReady(upstream, buffer, left, fiber)
    catch
      case CancelSignal =>
        buffer.force(
          canceled,
          fiber
        ) // never taken if it was the consumer that cancelled this fiber
        throw CancelSignal
      case error: Throwable => buffer.force(failed(error, fiber), fiber)

  private def putReady(upstream: Pull, buffer: Buffer, left: Long, fiber: TaskFiber): Int =
    val ready =
      if buffer.takesReady then upstream.takeReady(math.min(left, Ready.most).toInt) else null
    if ready eq null then 0
    else
      buffer.put(ready, fiber)
      ready.count

  /** The terminal message of a fiber whose code has thrown `error`. In a cancelled fiber, an error
    * that no awaited task has failed with is taken for the work of the cancel's interrupt. Of a
    * task, the interpreter has decided that already: an awaited error came before the cancel.
    */
  def failed(error: Throwable, fiber: TaskFiber): Failed =
    if fiber.shouldCancel && (fiber.thrown ne error) then canceled else Failed(error)

  /** Keeps the error of a producer that its consumer has not come to, if `message` is one: it is
    * suppressed under the consumer's own error, or reported where there is none. Without a fiber of
    * its own the stream would not have had this error yet. So it must not fail the consumer, which
    * has stopped for another reason.
    */
  def keepError(message: Any, fiber: TaskFiber, outcome: Outcome[Unit]): Unit = message match
    case Failed(canceled: Canceled) =>
      canceled.getSuppressed.foreach(error => keepError(Failed(error), fiber, outcome))
    case Failed(error) =>
      outcome match
        case Outcome.Failed(first) => Failures.add(first, error): Unit
        case _ => fiber.runtime.report("a stream, ahead of where its consumer stopped,", error)
    case _ => ()

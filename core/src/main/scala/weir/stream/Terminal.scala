package weir.stream

import java.util.concurrent.CancellationException
import weir.Outcome
import weir.fiber.TaskFiber
import weir.group.Failures

/** The end of a fiber that works for a stage: its upstream has ended, or the fiber has failed,
  * or was cancelled. It is the last message of that fiber to the consumer.
  *
  *   - **Order**: the consumer reaches it after all elements that the fiber has made before.
  *   - **Invariant**: an error is thrown to the consumer, by `reach`, or kept, by `keep`. The stage
  *     decides which: see `ConcurrentStage`.
  */
private[weir] sealed abstract class Terminal:
  /** Called by the consumer, in its plain code: returns `Pull.End`, or throws the error. */
  def reach(fiber: TaskFiber): Any

  /** Keeps an error that the consumer has not reached. It is suppressed under the consumer's own
    * error, or reported if there is none. Without a fiber of its own the stream would not have had
    * this error yet. So it must not fail the consumer, which has stopped for another reason.
    */
  def keep(fiber: TaskFiber, outcome: Outcome[Unit]): Unit

private[weir] object Terminal:
  /** Upstream has ended; the same object as `Pull.End`. */
  object Ended extends Terminal:
    def reach(fiber: TaskFiber): Any = this
    def keep(fiber: TaskFiber, outcome: Outcome[Unit]): Unit = ()

  /** The fiber has failed. */
  sealed class Failed private[Terminal] (val error: Throwable) extends Terminal:
    /** No interrupt has caused the error in the consumer's code, so it counts as awaited, and a
      * stage downstream keeps it also while the consumer is being cancelled.
      */
    final def reach(fiber: TaskFiber): Nothing =
      fiber.thrown = error
      throw error

    def keep(fiber: TaskFiber, outcome: Outcome[Unit]): Unit = keepError(error, fiber, outcome)

  object Failed:
    def apply(error: Throwable): Failed = error match
      case canceled: SelfCanceled => Canceled(canceled)
      case _ => new Failed(error)

    def unapply(failed: Failed): Some[Throwable] = Some(failed.error)

  /** The fiber was cancelled. The consumer reaches this only if the cancel did not come from the
    * stage: then that is an error.
    */
  final class Canceled private[Terminal] (canceled: SelfCanceled) extends Failed(canceled):
    override def keep(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
      canceled.getSuppressed.foreach(Failed(_).keep(fiber, outcome))

  /** The error that the consumer sees of a stage that has cancelled itself. */
  final class SelfCanceled(message: String) extends CancellationException(message)

  def canceled: Failed = Failed(SelfCanceled("A stage of the stream cancelled itself."))

  /** Returns the terminal of a fiber whose code has thrown `error`. In a cancelled fiber, an error
    * that no awaited task has failed with is taken for the effect of the cancel's interrupt. For a
    * task, the interpreter has decided that already: an awaited error came before the cancel.
    */
  def of(error: Throwable, fiber: TaskFiber): Failed =
    if fiber.shouldCancel && (fiber.thrown ne error) then canceled else Failed(error)

  private def keepError(error: Throwable, fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    outcome match
      case Outcome.Failed(first) => Failures.add(first, error): Unit
      case _ => fiber.runtime.report("a stream, ahead of where its consumer stopped,", error)

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
    *
    * **Fails** with the error if an interruption has ended the consumer's wait for it: see
    * `interrupted`.
    */
  def keep(fiber: TaskFiber, outcome: Outcome[Unit]): Unit

private[weir] object Terminal:
  // ---- three kinds of success; stages tell them apart by identity, finalizers do not ----

  /** The outcome with which `interruptWhen` closes the stream that it has ended while its consumer
    * waited. Work that the consumer waited for then fails the stream.
    */
  val interrupted: Outcome[Unit] = Outcome.Succeeded(())

  /** A success of a consumer that has not come to the end of what it closes, or that would not have
    * an error in its place. The third kind is `Pull.succeeded`: the consumer has come to the end,
    * or has stopped by itself. Any other success counts as this one.
    */
  private val notReached: Outcome[Unit] = Outcome.Succeeded(())

  /** Returns the same outcome, but `notReached` for any success. */
  def unreached(outcome: Outcome[Unit]): Outcome[Unit] = outcome match
    case Outcome.Succeeded(_) => notReached
    case _ => outcome

  /** Keeps the error of each. **Fails** as `Terminal.keep`, once all are kept: with the first
    * error, under which the others are suppressed.
    */
  def keepAll[A](all: IterableOnce[A])(keep: A => Unit): Unit =
    var thrown: Throwable | Null = null
    val left = all.iterator
    while left.hasNext do
      try keep(left.next())
      catch case error: Throwable => thrown = Failures.add(thrown, error)
    if thrown ne null then throw thrown

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
      keepAll(canceled.getSuppressed)(Failed(_).keep(fiber, outcome))

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
      case _ if outcome eq interrupted => Failed(error).reach(fiber)
      case _ => fiber.runtime.report("a stream, ahead of where its consumer stopped,", error)

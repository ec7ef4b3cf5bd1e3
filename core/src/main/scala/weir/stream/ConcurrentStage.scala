package weir.stream

import weir.Outcome
import weir.fiber.{CancelSignal, TaskFiber}

/** A stage whose elements other fibers make. It decides how its consumer asks for an element, and
  * handles the `Terminal` messages of those fibers.
  *
  *   - **Consumer only**: `reached`, `wasWaiting`. The fiber that closes the stage is the consumer,
  *     or has joined it.
  *   - **Invariant**: the consumer reaches one terminal at most. `keep`, at the close, keeps the
  *     errors of the others.
  */
private[stream] abstract class ConcurrentStage extends Pull:
  private[stream] var reached: Terminal | Null = null

  /** True if a cancel has ended the consumer's wait for an element. */
  private var wasWaiting = false

  final override def hasFibers: Boolean = true

  /** Does the work of `next`: evaluates `take`, which returns an element or a `Terminal`, and
    * returns the element or reaches the terminal.
    */
  final protected inline def ask(fiber: TaskFiber)(inline take: Any): Any =
    if reached ne null then Pull.End
    else
      fiber.checkpoint() // elements that other fibers have made are used without one
      val taken: Any =
        try take
        catch case error: Throwable => throw noteCancel(error)
      taken match
        case terminal: Terminal =>
          reached = terminal
          terminal.reach(fiber)
        case value => value

  /** Called when `take` has thrown `error`, which it returns. */
  final protected def noteCancel(error: Throwable): Throwable =
    if error eq CancelSignal then wasWaiting = true
    error

  /** Closes the stage, and passes on only what its consumer knows of the end. If the interruption
    * downstream has not ended a wait in this stage, its work ahead was not asked for. If the
    * consumer has not come to the end of this stage, it has not seen that of upstream.
    */
  final def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val isKnown = if outcome eq Terminal.interrupted then wasWaiting else reached eq Pull.End
    closeStage(fiber, if isKnown then outcome else Terminal.unreached(outcome))

  /** Stops the fibers of the stage, keeps the errors that the consumer has not reached, and closes
    * upstream.
    */
  protected def closeStage(fiber: TaskFiber, outcome: Outcome[Unit]): Unit

  /** Called at the close, once the fiber has ended: keeps `message` if it is an error that was not
    * thrown to the consumer.
    */
  final protected def keep(message: Any, fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    message match
      case failed: Terminal.Failed if !wasThrown(failed.error) => failed.keep(fiber, outcome)
      case _ => ()

  private def wasThrown(error: Throwable): Boolean = reached match
    case failed: Terminal.Failed => failed.error eq error
    case _ => false

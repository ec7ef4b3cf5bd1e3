package weir.stream

import weir.Outcome
import weir.fiber.TaskFiber

/** A stage whose elements other fibers make. It decides how its consumer asks for an element, and
  * handles the `Terminal` messages of those fibers.
  *
  *   - **Consumer only**: `reached`.
  *   - **Invariant**: the consumer reaches one terminal at most. `keep`, at the close, keeps the
  *     errors of the others.
  */
private[stream] abstract class ConcurrentStage extends Pull:
  private[stream] var reached: Terminal | Null = null

  final override def hasFibers: Boolean = true

  /** Does the work of `next`: evaluates `take`, which returns an element or a `Terminal`, and
    * returns the element or reaches the terminal.
    */
  final protected inline def ask(fiber: TaskFiber)(inline take: Any): Any =
    if reached ne null then Pull.End
    else
      fiber.checkpoint() // elements that other fibers have made are used without one
      (take: Any) match
        case terminal: Terminal =>
          reached = terminal
          terminal.reach(fiber)
        case value => value

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

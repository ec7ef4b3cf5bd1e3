package weir.stream

import weir.Outcome
import weir.fiber.TaskFiber

/** A stage whose elements other fibers make: how its consumer asks, and what it does with the
  * `Terminal` of those fibers.
  *
  *   - **Consumer only**: `reached`.
  *   - **Invariant**: the consumer reaches one terminal at most. `keep`, at the close, keeps the
  *     errors of the others.
  */
private[stream] abstract class ConcurrentStage extends Pull:
  private[stream] var reached: Terminal | Null = null

  final override def hasFibers: Boolean = true

  /** As `next`: what `take` returns, an element or a `Terminal`. */
  final protected inline def ask(fiber: TaskFiber)(inline take: Any): Any =
    if reached ne null then Pull.End
    else
      fiber.checkpoint() // what other fibers have made is used without one
      (take: Any) match
        case terminal: Terminal =>
          reached = terminal
          terminal.reach(fiber)
        case value => value

  /** At the close, once its fiber has ended: keeps `message` if it is an error that was not thrown
    * to the consumer.
    */
  final protected def keep(message: Any, fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    message match
      case failed: Terminal.Failed if !wasThrown(failed.error) => failed.keep(fiber, outcome)
      case _ => ()

  private def wasThrown(error: Throwable): Boolean = reached match
    case failed: Terminal.Failed => failed.error eq error
    case _ => false

package weir.kernel

import scala.annotation.unused
import weir.Task

/** The frame of an instruction that runs many children one after the other: one frame for all of them.
  *
  * `step` is called with each child's result, the frame popped. It either pushes itself again and returns
  * the next child, or sets `fiber.loopResult` and returns null. It may run children that are ready
  * (`Loop.isReady`) itself, without the run loop.
  */
private[weir] abstract class Loop(tag: Int) extends Node(tag):

  /** The first child, or null, as `step`. */
  def start(fiber: RunLoop): Task[Any] | Null

  /** It looks for a cancel itself, before the next child, and not before it has stored the result of the one before. */
  def step(fiber: RunLoop, value: Any): Task[Any] | Null

  /** For `Tag.Claiming` alone: the fiber that waits for the children, for a dump. */
  def parent: RunLoop | Null = null

  /** For `RunLoop.staying` alone: the fiber is about to wait, or to give its thread to others. Must not throw. */
  def leaves(fiber: RunLoop): Unit = ()

  /** For `Tag.Claiming` alone: a child has failed. Returns as `step`. */
  def failed(@unused fiber: RunLoop, error: Throwable): Task[Any] | Null = Fail(error)

  /** For `Tag.Claiming` alone: the fiber is being cancelled, and this is the finalizer to run now; null for none. */
  def finalizer(fiber: RunLoop): Task[Unit] | Null = null

  /** For `Tag.Claiming` alone: the fiber is being cancelled, and the finalizers above this frame have run. */
  def canceled(fiber: RunLoop): Unit = ()

private[weir] object Loop:
  /** The result of a child that needs no run loop, or `NotReady`. Takes one instruction from the fiber's budget. */
  inline def ready(fiber: RunLoop, child: Task[Any]): Any = child match
    case delay: Delay[?] => if fiber.mayGoOn then delay.run() else NotReady
    case pure: Pure[?] => if fiber.mayGoOn then pure.value else NotReady
    case _ => NotReady

  /** As `ready`, for loops that count the budget themselves. */
  inline def readyInBudget(fiber: RunLoop, child: Task[Any]): Any = child match
    case delay: Delay[?] => if fiber.shouldCancel then NotReady else delay.run()
    case pure: Pure[?] => if fiber.shouldCancel then NotReady else pure.value
    case _ => NotReady

  object NotReady

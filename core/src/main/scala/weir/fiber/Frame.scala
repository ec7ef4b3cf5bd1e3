package weir.fiber

import scala.annotation.unused
import weir.Task

/** The frame of an instruction that runs many children one after the other (`sequence`, `forever`,
  * a runner of `parTraverse`): one frame for all of them.
  *
  * `step` is called with each child's result, after the frame was popped. It either pushes itself
  * again and returns the next child, or sets `fiber.frameResult` and returns null. It may run ready
  * children (`Frame.ready`) itself, without the interpreter.
  */
private[weir] abstract class Frame(tag: Int) extends Node(tag):

  /** Returns the first child, or null, as `step`. */
  def start(fiber: TaskFiber): Task[Any] | Null

  /** Continues with the result of a child. It checks for a cancel itself: before the next child,
    * and after it has stored the result.
    */
  def step(fiber: TaskFiber, value: Any): Task[Any] | Null

  /** For a dump, `Tag.HandlingFrame` only: returns the fiber that waits for the children. */
  def parent: TaskFiber | Null = null

  /** Called if this is `TaskFiber.frameToNotify`: the fiber is about to suspend or yield. Must not
    * throw.
    */
  def onSuspend(fiber: TaskFiber): Unit = ()

  /** `Tag.HandlingFrame` only: called when a child has failed. Returns as `step`. */
  def failed(@unused fiber: TaskFiber, error: Throwable): Task[Any] | Null = Fail(error)

  /** `Tag.HandlingFrame` only: returns the finalizer to run when the fiber is being cancelled; null
    * for none.
    */
  def finalizer(fiber: TaskFiber): Task[Unit] | Null = null

  /** `Tag.HandlingFrame` only: called when the fiber is being cancelled, and the finalizers above
    * this frame have run.
    */
  def canceled(fiber: TaskFiber): Unit = ()

private[weir] object Frame:
  /** Runs a child that is ready, which needs no interpreter, and returns its result. Otherwise
    * returns `NotReady`. Takes one instruction from the fiber's budget.
    */
  inline def ready(fiber: TaskFiber, child: Task[Any]): Any = child match
    case delay: Delay[?] => if fiber.mayGoOn then delay.run() else NotReady
    case pure: Pure[?] => if fiber.mayGoOn then pure.value else NotReady
    case _ => NotReady

  /** As `ready`, for frames that count the budget themselves. */
  inline def readyInBudget(fiber: TaskFiber, child: Task[Any]): Any = child match
    case delay: Delay[?] => if fiber.shouldCancel then NotReady else delay.run()
    case pure: Pure[?] => if fiber.shouldCancel then NotReady else pure.value
    case _ => NotReady

  object NotReady

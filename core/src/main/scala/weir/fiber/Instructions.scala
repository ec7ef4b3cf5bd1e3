package weir.fiber

import scala.annotation.{tailrec, unused}
import weir.runtime.Job
import weir.{Fiber, Poll, Task}

/** An instruction or a frame of the continuation stack, which the interpreter switches on.
  *
  * The tag is a field and not a virtual method, so that the switch costs one load.
  */
private[weir] abstract class Node(private[weir] final val tag: Int)

private[weir] object Tag:
  // instructions
  final val Pure = 0
  final val Fail = 1
  final val Delay = 2
  final val Defer = 3
  final val Mapped = 4
  final val FlatMap = 5
  final val Attempt = 6
  final val Handle = 7
  final val OnCancel = 8
  final val Suspend = 9
  final val Cede = 10
  final val Start = 11
  final val Canceled = 12
  final val Uncancelable = 13
  final val Unmasked = 14
  final val DirectCode = 15
  final val BeginFrame = 16
  final val BeginFrameMasked = 17
  final val Uninterruptible = 18
  final val Leave = 19

  // frames that are not instructions
  final val RemoveMask = 20
  final val Frame = 21
  final val HandlingFrame = 22
  final val Unwind = 23

/*
 * The instructions: a task is a tree of them. `Mapped`, `FlatMap`, `Attempt`, `Handle` and
 * `OnCancel` are also frames: on the continuation stack each handles the result of its source.
 */

private[weir] final class Pure[A](val value: A) extends Task[A](Tag.Pure)

private[weir] final class Fail(val error: Throwable) extends Task[Nothing](Tag.Fail)

/** Plain code, as a method of the task. With a function object there would be two objects for each
  * task that captures anything, 16 to 24 bytes more, and one more load and type check for each call
  * (`SequenceReady`). So most calls of `Task.delay` make a class.
  */
private[weir] abstract class Delay[A] extends Task[A](Tag.Delay):

  /** Returns an `A`. The declared type is `Any`: with `A`, each class would have a bridge method,
    * which traces would show.
    */
  def run(): Any

/** Plain code that cannot be a method of a class of its own, or would keep more alive there: see
  * `Movable`.
  */
private[weir] final class Thunk[A](thunk: () => A) extends Delay[A]:
  def run(): Any = thunk()

/** Plain code that a cancel does not interrupt. */
private[weir] final class Uninterruptible[A](val thunk: () => A)
    extends Task[A](Tag.Uninterruptible)

private[weir] final class Defer[A](val thunk: () => Task[A]) extends Task[A](Tag.Defer)

private[weir] final class Mapped[A, B](val source: Task[A], val f: A => B)
    extends Task[B](Tag.Mapped)

private[weir] final class FlatMap[A, B](val source: Task[A], val f: A => Task[B])
    extends Task[B](Tag.FlatMap)

private[weir] final class Attempt[A](val source: Task[A])
    extends Task[Either[Throwable, A]](Tag.Attempt)

private[weir] final class Handle[A](val source: Task[A], val f: Throwable => Task[A])
    extends Task[A](Tag.Handle)

private[weir] final class OnCancel[A](val source: Task[A], val finalizer: Task[Unit])
    extends Task[A](Tag.OnCancel)

/** Waits for something outside the fiber. */
private[weir] abstract class Suspend[A] extends Task[A](Tag.Suspend):
  /** Returns the result if it is there already; otherwise a `Waiter` that will be completed. Must
    * not block. Called on the fiber's thread.
    */
  def begin(fiber: TaskFiber): Any

/** A wait that takes or hands over something, such as an item or a permit. A cancel either ends it
  * before the exchange, or comes after the exchange is complete.
  */
private[weir] abstract class Exchange[A] extends Suspend[A]

private[weir] case object Cede extends Task[Unit](Tag.Cede)

/** Starts a fiber. If `isReported`, the fiber's failure is reported when no one joins it. */
private[weir] final class Start[A](val body: Task[A], val isReported: Boolean)
    extends Task[Fiber[A]](Tag.Start)

private[weir] case object CancelSelf extends Task[Unit](Tag.Canceled)

private[weir] class Uncancelable[A](val body: Poll => Task[A]) extends Task[A](Tag.Uncancelable)

/** Runs `source` with `mask` removed, which is the innermost mask of this fiber. As a frame, it
  * marks the end of `source`.
  */
private[weir] final class Unmasked[A](val source: Task[A], val mask: Mask)
    extends Task[A](Tag.Unmasked)

/** Runs `next` on a thread of the fiber's present context: see `EvalOn`. There is no check for a
  * cancel. Plain code must not await it, since it cannot leave its thread.
  */
private[weir] final class Leave[A](val next: Task[A]) extends Task[A](Tag.Leave)

/** Plain code on the fiber's own thread, which may `await`. In an `evalOn` a worker runs it, apart
  * from the context: see `RunsApart`.
  */
private[weir] class DirectCode[A](val body: TaskFiber => A) extends Task[A](Tag.DirectCode):

  /** Returns true if a thread of the context of an `evalOn` runs this, although it may block there:
    * because it is the user's own code, or because it never waits. Called only if there is a
    * context.
    */
  def isForContext: Boolean = false

  /** Returns true if a platform thread that has called `runSync` leaves this to a worker. Called
    * only on such a thread, and only if the fiber can leave it.
    */
  def isForWorker: Boolean = false

  /** Returns true if this begins although the fiber is being cancelled. */
  def isBegun: Boolean = false

/** The rest of a `DirectCode`, which its body returns in order to leave a platform thread that has
  * called `runSync`, if the fiber can leave it. There is no check for a cancel in between; `body`
  * checks first. It must not be returned once a cancel has begun to unwind the fiber, which drops
  * the result of direct code.
  */
private[weir] final class GoesOn(body: TaskFiber => Any) extends DirectCode[Any](body):
  override def isForWorker: Boolean = true
  override def isBegun: Boolean = true

/** An instruction with a `Frame` of its own, made anew for each run. With `Tag.BeginFrameMasked`
  * there is no check for a cancel before `Frame.start`.
  */
private[weir] abstract class BeginFrame[A](tag: Int = Tag.BeginFrame) extends Task[A](tag):
  def begin(fiber: TaskFiber): Frame

  /** See `Job.demand`. */
  def demand: Int = Job.Now

/** The mask of an `uncancelable`: the poll that its body gets, and the frame that ends it.
  *
  * `depth` is the number of masks that are on, including this one. `outer` is the mask around it
  * that has not been removed.
  */
private[weir] final class Mask(val depth: Int, val outer: Mask | Null)
    extends Node(Tag.RemoveMask),
      Poll:
  def apply[A](task: Task[A]): Task[A] = Unmasked(task, this)

/** The frame under a finalizer of a cancelled fiber. When the finalizer has ended, unwinding
  * continues.
  */
private[weir] object ContinueUnwinding extends Node(Tag.Unwind)

/** An object that keeps functions, tasks or streams of the user's in its fields, where a trace
  * looks for them. Fields that a trace must not follow, such as the next element of a list, are
  * `@transient`.
  */
private[weir] trait HoldsUserCode

/** Finds the function at which a task begins. A trace names it at the bottom of the task's fiber.
  */
private[fiber] object Origin:

  /** Returns the function and not the task around it, which may keep a whole collection alive.
    * Returns null if the task has no function before it runs.
    */
  def of(task: Task[Any]): AnyRef | Null = from(task, null)

  @tailrec private def from(task: Task[Any], after: AnyRef | Null): AnyRef | Null = task.tag match
    case Tag.Delay => task
    case Tag.Uninterruptible => task.asInstanceOf[Uninterruptible[Any]].thunk
    case Tag.Defer => task.asInstanceOf[Defer[Any]].thunk
    case Tag.FlatMap =>
      val flatMap = task.asInstanceOf[FlatMap[Any, Any]]
      from(flatMap.source, flatMap.f)
    case Tag.Mapped =>
      val map = task.asInstanceOf[Mapped[Any, Any]]
      from(map.source, map.f)
    case Tag.Attempt => from(task.asInstanceOf[Attempt[Any]].source, after)
    case Tag.Handle => from(task.asInstanceOf[Handle[Any]].source, after)
    case Tag.OnCancel => from(task.asInstanceOf[OnCancel[Any]].source, after)
    case Tag.Uncancelable => task.asInstanceOf[Uncancelable[Any]].body
    case Tag.DirectCode => task.asInstanceOf[DirectCode[Any]].body
    case _ => after

  /** Returns the class of the function with which a fiber continues at `node`, for the fiber that
    * it starts there; null if there is none. A class keeps nothing alive.
    */
  def ofStarter(node: Node | Null): Class[?] | Null =
    if node eq null then null
    else
      node.tag match
        case Tag.FlatMap => node.asInstanceOf[FlatMap[?, ?]].f.getClass
        case Tag.Mapped => node.asInstanceOf[Mapped[?, ?]].f.getClass
        case Tag.Frame => node.asInstanceOf[Frame].perItem
        case _ => null

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

  /** For a dump: returns the class of the user's function that makes each child; null for none. */
  def perItem: Class[?] | Null = null

  /** For a dump: returns the object of which the fiber holds permits while this frame is on its
    * stack; null for none.
    */
  def held: Awaited | Null = null

  /** For a dump: returns the number of permits of `held` that the fiber holds by this frame. */
  def heldPermits: Long = 0

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

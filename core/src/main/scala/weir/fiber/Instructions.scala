package weir.fiber

import weir.runtime.Job
import weir.{Fiber, Poll, Task}

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

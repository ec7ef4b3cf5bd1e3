package weir.kernel

import weir.runtime.Job
import weir.{Fiber, Poll, Task}

/** The instructions that a task is a tree of. `Map`, `FlatMap`, `Attempt`, `Handle` and `OnCancel` also
  * stand on the continuation stack, as the frame of what is to be done with their source's result.
  */
private[weir] final class Pure[A](val value: A) extends Task[A](Tag.Pure)

private[weir] final class Fail(val error: Throwable) extends Task[Nothing](Tag.Fail)

/** The code is a method of the task: a function object besides would be two objects for each task that captures anything, 16 to
  * 24 bytes more, and one more thing to load and to look at before it can be called. `SequenceReady`. So most calls of `Task.delay`
  * make a class.
  */
private[weir] abstract class Delay[A] extends Task[A](Tag.Delay):

  /** An `A`. With that type each class would have a bridge to it, which would stand in traces. */
  def run(): Any

/** Where the code cannot be a method of a class of its own, or would keep more alive there: see `Movable`. */
private[weir] final class Thunk[A](thunk: () => A) extends Delay[A]:
  def run(): Any = thunk()

private[weir] final class Defer[A](val thunk: () => Task[A]) extends Task[A](Tag.Defer)

private[weir] final class Map[A, B](val source: Task[A], val f: A => B) extends Task[B](Tag.Map)

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
  /** The result, if it is there already; otherwise a `Waiter` that somebody will complete. Must not block.
    * The fiber's thread is the caller.
    */
  def begin(fiber: RunLoop): Any

private[weir] case object Cede extends Task[Unit](Tag.Cede)

/** `isReported`: whether the fiber's failure is reported if nobody joins it. */
private[weir] final class Start[A](val body: Task[A], val isReported: Boolean)
    extends Task[Fiber[A]](Tag.Start)

private[weir] case object CancelSelf extends Task[Unit](Tag.Canceled)

private[weir] final class Uncancelable[A](val body: Poll => Task[A])
    extends Task[A](Tag.Uncancelable)

/** `source` with the mask of `poll` taken off, where `poll` is the innermost one of this fiber. As a frame, the end of that. */
private[weir] final class Unmasked[A](val source: Task[A], val poll: FiberPoll)
    extends Task[A](Tag.Unmasked)

/** Plain code on the fiber's own thread, which may `await`. */
private[weir] final class Direct[A](val body: RunLoop => A) extends Task[A](Tag.Direct)

/** A loop with one frame, made anew for each run. With `Tag.EnterMasked` no cancel is looked for before `start`. */
private[weir] abstract class Enter[A](tag: Int = Tag.Enter) extends Task[A](tag):
  def begin(fiber: RunLoop): Loop

  /** See `Job.need`. */
  def need: Int = Job.Now

/** A mask: what its body is given, and the frame of its end. `outer` is the mask around it that is not taken off. */
private[weir] final class FiberPoll(val depth: Int, val outer: FiberPoll | Null)
    extends Node(Tag.LeaveMask),
      Poll:
  def apply[A](task: Task[A]): Task[A] = Unmasked(task, this)

/** Frames without any data. */
private[weir] object Frames:
  val unwind: Node = new Node(Tag.Unwind) {}

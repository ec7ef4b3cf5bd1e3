package weir.japi

import java.util.concurrent.Callable
import weir.{Scope as ScalaScope, Task as ScalaTask}

/** A place to fork what must not outlive a block of code: made by `Scope.run`, which ends when all
  * of it has ended.
  */
final class Scope private (underlying: ScalaScope):

  /** A fiber that runs `code`, which may block. If it fails, the scope fails with that error.
    *
    * **Fails** with an `IllegalStateException` where the scope has ended, or is being cancelled.
    */
  def fork[A](code: Callable[? <: A]): Fiber[A] = forkTask(Task.of[A](code))

  /** As `fork`, for a task. */
  def forkTask[A](task: Task[A]): Fiber[A] = Fiber(underlying.fork(task.asScala).runSync())

object Scope:
  /** What `body` returns, once it and all that was forked into the scope has ended. `body` is plain
    * code, which may block: to join a fiber, for example.
    *
    * **Cancelled**: cancels them all, and waits for that; code that blocks is interrupted.
    * **Fails** with the first error of `body` or of a fiber; that cancels all others at once, and
    * is thrown when their finalizers have run, later errors suppressed under it.
    */
  def run[A](body: ThrowingFunction[Scope, ? <: A]): Task[A] =
    Task(ScalaScope.run(scope => ScalaTask.delay(body(new Scope(scope)))))

  /** As `run`, but a fiber that fails leaves the others running: all are waited for, and only then
    * is the first error thrown.
    */
  def runAll[A](body: ThrowingFunction[Scope, ? <: A]): Task[A] =
    Task(ScalaScope.runAll(scope => ScalaTask.delay(body(new Scope(scope)))))

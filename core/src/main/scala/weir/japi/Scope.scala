package weir.japi

import java.util.concurrent.Callable
import weir.{Scope as ScalaScope, Task as ScalaTask}

/** Runs fibers that must not outlive a block of code. `Scope.run` makes one, and ends when all of
  * them have ended.
  */
final class Scope private (underlying: ScalaScope):

  /** Starts a fiber that runs `code`, which may block, and returns the fiber. If `code` fails, the
    * scope fails with that error.
    *
    * **Fails** with an `IllegalStateException` if the scope has ended, or is being cancelled.
    */
  def fork[A](code: Callable[? <: A]): Fiber[A] = forkTask(Task.of[A](code))

  /** As `fork`, for a task. */
  def forkTask[A](task: Task[A]): Fiber[A] = Fiber(underlying.fork(task.asScala).runSync())

object Scope:
  /** Runs `body` and returns its value, once `body` and all fibers that were forked into the scope
    * have ended. `body` is plain code, which may block, for example to join a fiber.
    *
    * **Cancelled**: cancels all of them, and waits for that. Code that blocks is interrupted.
    * **Fails** with the first error of `body` or of a fiber. That error cancels all others at once,
    * and is thrown when their finalizers have run. Later errors are suppressed under it.
    */
  def run[A](body: ThrowingFunction[Scope, ? <: A]): Task[A] =
    Task(ScalaScope.run(scope => ScalaTask.delay(body(new Scope(scope)))))

  /** As `run`, but a fiber that fails leaves the others running: the first error is thrown once all
    * of them have ended.
    */
  def runAll[A](body: ThrowingFunction[Scope, ? <: A]): Task[A] =
    Task(ScalaScope.runAll(scope => ScalaTask.delay(body(new Scope(scope)))))

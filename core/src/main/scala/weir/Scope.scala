package weir

import java.util.concurrent.CancellationException
import weir.fiber.{Awaited, Pure, Suspend, TaskFiber, Waiter}
import weir.group.Failures
import weir.task.SupervisedFibers
import weir.trace.ErrorTrace

/** Runs fibers that must not outlive it. `Scope.run` makes one, and ends when all of them have
  * ended.
  */
final class Scope private (failFast: Boolean) extends SupervisedFibers:

  // shared, under this object's lock
  private var failure: Throwable | Null = null
  private var isCancelled = false

  /** True if a fiber of the cancelled scope has ended without a value. */
  private var isCut = false

  // written once, before any fiber can end
  private var parent: ScopeWaiter | Null = null
  private var body: TaskFiber | Null = null

  // written as the body ends, before the scope can end
  private var result: Outcome[Any] = Outcome.Canceled

  /** Starts a new fiber of this scope that runs `task`, and returns the fiber. `task` may fork
    * further ones. If it fails, the scope fails with that error, so the fiber needs to be joined
    * only for its value.
    *
    * **Fails** with an `IllegalStateException` if the scope has ended, or is being cancelled.
    */
  def fork[A](task: Task[A]): Task[Fiber[A]] = new Suspend[Fiber[A]]:
    def begin(fiber: TaskFiber): Any =
      val forked = add(fiber, task)
      fiber.submit(forked)
      forked

  private[weir] def refusal: String =
    "Scope.fork: the scope has ended, or is being cancelled. A fiber can be forked while the " +
      "scope's body or another of its fibers runs. For one that may outlive it, use a Supervisor " +
      "further out, or startDaemon."

  private[weir] def awaitedAs: String = "Scope.run, whose fibers have not all ended"

  private def start(fiber: TaskFiber, task: Task[Any]): Waiter =
    val waiter = ScopeWaiter(fiber, this)
    parent = waiter
    val first = add(fiber, task)
    body = first
    drain()
    fiber.handOver(first)
    waiter

  private[weir] def fiberEnded(fiber: TaskFiber, outcome: Outcome[Any]): Unit =
    if fiber eq body then result = outcome
    else if !outcome.isInstanceOf[Outcome.Succeeded[?]] then
      synchronized { if isCancelled then isCut = true }
    outcome match
      case Outcome.Failed(error) =>
        ErrorTrace.pass(error, parent.nn.fiber, from = fiber)
        synchronized { if !isCancelled then failure = Failures.add(failure, error) }
        // A body that has failed forks nothing more, and will not use the results of the others.
        if failFast || (fiber eq body) then cancelAll()
      case Outcome.Canceled =>
        if fiber eq body then cancelAll()
      case _ => ()

  override private[weir] def onEnd(): Unit =
    val waiter = parent.nn
    val failed = synchronized(failure)
    if failed ne null then waiter.fail(failed): Unit
    else
      result match
        case Outcome.Succeeded(value) => waiter.complete(value): Unit
        case _ =>
          // The body has cancelled itself, which cancels the parent that waits for it.
          waiter.fiber.requestCancel()
          waiter.fail(
            CancellationException(
              "The body of a scope cancelled itself. That cancels its parent too, " +
                "which is masked here."
            )
          ): Unit

  /** Returns the value of the body of a scope that was cancelled and has ended, if all of its
    * fibers have succeeded nevertheless.
    */
  private[weir] def late: Pure[Any] | Null = result match
    case Outcome.Succeeded(value) if synchronized((failure eq null) && !isCut) => Pure(value)
    case _ => null

  private[weir] val cancelAndWait: Task[Unit] = Task.defer {
    synchronized { isCancelled = true }
    cancelAll()
    awaitEnd
  }

object Scope:
  /** Runs `body` and returns its value, once `body` and all fibers that were forked into the scope
    * have ended.
    *
    * A fiber that was cancelled is not a failure. The body runs on a separate fiber, as the child
    * of a `timeout` does.
    *
    * **Cancelled**: cancels all of them, and the cancel waits for them. **Fails** with the first
    * error of the body or of a fiber. That error cancels all others at once, and is thrown when
    * their finalizers have run. Later errors are suppressed under it.
    * {{{
    * val served = Scope.run { scope =>
    *   scope.fork(serve(request => Task.pure(request))) >> scope.fork(load(id)).void
    * }
    * }}}
    */
  def run[A](body: Scope => Task[A]): Task[A] = ScopeRun(body, failFast = true)

  /** As `run`, but a fiber that fails leaves the others running: the first error is thrown once all
    * of them have ended. An error of the body itself still cancels them.
    */
  def runAll[A](body: Scope => Task[A]): Task[A] = ScopeRun(body, failFast = false)

  private final class ScopeRun[A](body: Scope => Task[A], failFast: Boolean) extends Suspend[A]:
    def begin(fiber: TaskFiber): Any =
      val scope = Scope(failFast)
      scope.start(fiber, Task.defer(body(scope)))

/** The wait of the fiber that runs a scope. */
private final class ScopeWaiter(fiber: TaskFiber, scope: Scope) extends Waiter(fiber):
  override def cancelHook: Task[Unit] = scope.cancelAndWait
  override def late: Pure[Any] | Null = scope.late
  override def awaited: Awaited = scope

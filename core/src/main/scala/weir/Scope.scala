package weir

import java.util.concurrent.CancellationException
import weir.kernel.{Pure, RunLoop, Suspend, Waiter}
import weir.sync.Awaited
import weir.task.{Failures, Members}
import weir.trace.ErrorTrace

/** Where fibers are forked that must not outlive it: made by `Scope.run`, which ends when all of them have ended. */
final class Scope private (failFast: Boolean) extends Members:

  // shared, under this object's lock
  private var failure: Throwable | Null = null
  private var isCanceled = false

  /** True once the cancel has ended a fiber of it. */
  private var isCut = false

  // written once, before any fiber can end
  private var parent: ScopeWaiter | Null = null
  private var body: RunLoop | Null = null

  // written by the body's end, before the scope can be over
  private var result: Outcome[Any] = Outcome.Canceled

  /** A new fiber of this scope that runs `task`. What it fails with, the scope fails with; so there is no need to join it
    * but for its value. It may fork further ones.
    *
    * '''Fails''' with an `IllegalStateException` where the scope has ended, or is being cancelled.
    */
  def fork[A](task: Task[A]): Task[Fiber[A]] = new Suspend[Fiber[A]]:
    def begin(fiber: RunLoop): Any =
      val member = add(fiber, task)
      fiber.submit(member)
      member

  protected def refusal: String =
    "Scope.fork: the scope has ended, or is being cancelled. A fiber can be forked while the scope's body or another of " +
      "its fibers runs. For one that may outlive it, use a Supervisor further out, or startDaemon."

  def awaitedAs: String = "Scope.run, whose fibers have not all ended"

  private def start(fiber: RunLoop, task: Task[Any]): Waiter =
    val waiter = ScopeWaiter(fiber, this)
    parent = waiter
    val first = add(fiber, task)
    body = first
    drain()
    fiber.handOver(first)
    waiter

  protected def ended(member: RunLoop, outcome: Outcome[Any]): Unit =
    if member eq body then result = outcome
    else if !outcome.isInstanceOf[Outcome.Succeeded[?]] then
      synchronized { if isCanceled then isCut = true }
    outcome match
      case Outcome.Failed(error) =>
        ErrorTrace.pass(error, parent.nn.fiber, from = member)
        synchronized { if !isCanceled then failure = Failures.add(failure, error) }
        // A body that has failed forks nothing more, and nobody is left to use what the others make.
        if failFast || (member eq body) then cancelAll()
      case Outcome.Canceled =>
        if member eq body then cancelAll()
      case _ => ()

  override protected def over(): Unit =
    val waiter = parent.nn
    val failed = synchronized(failure)
    if failed ne null then waiter.fail(failed): Unit
    else
      result match
        case Outcome.Succeeded(value) => waiter.complete(value): Unit
        case _ =>
          // The body has cancelled itself, which cancels whoever waits for it.
          waiter.fiber.requestCancel()
          waiter.fail(
            CancellationException(
              "The body of a scope canceled itself. That cancels its parent too, which is masked here."
            )
          ): Unit

  /** The value of the body of a scope that was cancelled, and is over, if all of its fibers have ended well all the same. */
  private[weir] def late: Pure[Any] | Null = result match
    case Outcome.Succeeded(value) if synchronized((failure eq null) && !isCut) => Pure(value)
    case _ => null

  private[weir] val cancelAndWait: Task[Unit] = Task.defer {
    synchronized { isCanceled = true }
    cancelAll()
    awaitOver
  }

object Scope:
  /** What `body` returns, once it and all fibers that were forked into the scope have ended.
    *
    * '''Fails''' with the first error of the body or of a fiber; that cancels all others at once, and is thrown when
    * their finalizers have run, later errors suppressed under it. '''Cancelled''': cancels them all, and the cancel waits for
    * them. A fiber that was cancelled is no failure. The body runs on a fiber of its own, as the child of a `timeout` does.
    */
  def run[A](body: Scope => Task[A]): Task[A] = ScopeRun(body, failFast = true)

  /** As `run`, but a fiber that fails leaves the others running: all are waited for, and only then is the first error thrown.
    * An error of the body itself still cancels them.
    */
  def runAll[A](body: Scope => Task[A]): Task[A] = ScopeRun(body, failFast = false)

  private final class ScopeRun[A](body: Scope => Task[A], failFast: Boolean) extends Suspend[A]:
    def begin(fiber: RunLoop): Any =
      val scope = Scope(failFast)
      scope.start(fiber, Task.defer(body(scope)))

/** The wait of the fiber that runs a scope. */
private final class ScopeWaiter(fiber: RunLoop, scope: Scope) extends Waiter(fiber):
  override def cancelHook: Task[Unit] = scope.cancelAndWait
  override def late: Pure[Any] | Null = scope.late
  override def awaited: Awaited = scope

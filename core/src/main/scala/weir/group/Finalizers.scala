package weir.group

import java.util.concurrent.atomic.AtomicReference
import weir.fiber.{Defer, Fail, TaskFiber}
import weir.group.Failures
import weir.{Fiber, Outcome, Task}

/** The finalizers of one use of a resource, the last added first.
  *
  *   - **Adding** is done by the fiber that acquires, in the masked region in which it has
  *     acquired. So the finalizer of each acquired resource is here before any cancel can be
  *     noticed.
  *   - **Releasing** takes all of them at once, so that each runs once, whichever fiber releases
  *     and however often.
  */
private[weir] final class Finalizers:
  private val added = AtomicReference[List[Finalizers.Finalizer]](Nil)

  def add(finalizer: Finalizers.Finalizer): Unit = added.set(finalizer :: added.get)

  /** Runs all of them, and passes the outcome of the use to each. **Fails** with the first error,
    * under which later ones are suppressed. The finalizers after a failed one get that error. To be
    * run masked.
    */
  def release(outcome: Outcome[Any]): Task[Unit] =
    Task.defer(Finalizers.run(added.getAndSet(Nil), Finalizers.unit(outcome), null))

private[weir] object Finalizers:
  type Finalizer = Outcome[Unit] => Task[Unit]

  private val succeeded = Outcome.Succeeded(())

  private def unit(outcome: Outcome[Any]): Outcome[Unit] = outcome match
    case Outcome.Succeeded(_) => succeeded
    case Outcome.Failed(error) => Outcome.Failed(error)
    case Outcome.Canceled => Outcome.Canceled

  private def run(
      left: List[Finalizer],
      outcome: Outcome[Unit],
      first: Throwable | Null
  ): Task[Unit] = left match
    case finalizer :: others =>
      Defer(() => finalizer(outcome)).attempt.flatMap {
        case Right(_) => run(others, outcome, first)
        case Left(error) =>
          val told = if outcome == succeeded then Outcome.Failed(error) else outcome
          run(others, told, Failures.add(first, error))
      }
    case Nil => if first eq null then Task.unit else Fail(first)

  /** Releases several uses concurrently. **Fails** as `release`. To be run masked.
    *
    * This uses fibers of its own and not a parallel operator, which would stop the others if one
    * cancels itself.
    */
  def releaseTogether(all: IndexedSeq[Finalizers])(outcome: Outcome[Unit]): Task[Unit] =
    Task
      .traverse(all)(each => Task.uncancelable(_ => each.release(outcome)).start)
      .flatMap(join)

  /** Waits for fibers that run finalizers, masked, and that no other code knows. **Fails** with the
    * first error, under which later ones are suppressed. A fiber that cancels itself cancels the
    * caller. To be run masked.
    */
  def join(fibers: Seq[Fiber[Any]]): Task[Unit] =
    Task.traverse(fibers)(_.join).flatMap { ends =>
      val first = ends.foldLeft[Throwable | Null](null) {
        case (first, Outcome.Failed(error)) => Failures.add(first, error)
        case (first, _) => first
      }
      val cancelled =
        if fibers.exists(isCancelled) then Task.canceled else Task.unit
      cancelled.andThen(if first eq null then Task.unit else Fail(first))
    }

  /** Returns true if a cancel of the fiber was requested. The fiber may have ended with a value or
    * an error nevertheless, since its last steps were masked.
    */
  private def isCancelled(fiber: Fiber[Any]): Boolean = fiber match
    case fiber: TaskFiber => fiber.cancelRequested
    case _ => false

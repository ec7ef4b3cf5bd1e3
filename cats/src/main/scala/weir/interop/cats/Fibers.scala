package weir.interop.cats

import _root_.cats.effect.kernel
import weir.{Fiber, Outcome, Poll, Task}

/** A view of a Weir fiber with Cats Effect's type. */
private[cats] final class TaskFiberView[A](val fiber: Fiber[A])
    extends kernel.Fiber[Task, Throwable, A]:
  def cancel: Task[Unit] = fiber.cancel
  def join: Task[kernel.Outcome[Task, Throwable, A]] = fiber.join.map(Outcomes.toCats)

/** Converts between the two types of outcomes. */
private[cats] object Outcomes:
  def toCats[A](outcome: Outcome[A]): kernel.Outcome[Task, Throwable, A] = outcome match
    case Outcome.Succeeded(value) => kernel.Outcome.Succeeded(Task.pure(value))
    case Outcome.Failed(error) => kernel.Outcome.Errored(error)
    case Outcome.Canceled => kernel.Outcome.Canceled()

  /** Returns the outcome that the release of a Weir resource receives. */
  def ofExit(end: kernel.Resource.ExitCase): Outcome[Any] = end match
    case kernel.Resource.ExitCase.Succeeded => Outcome.Succeeded(())
    case kernel.Resource.ExitCase.Errored(error) => Outcome.Failed(error)
    case kernel.Resource.ExitCase.Canceled => Outcome.Canceled

  /** Returns the exit case that the release of a Cats Effect resource receives. */
  def toExit(outcome: Outcome[Any]): kernel.Resource.ExitCase = outcome match
    case Outcome.Succeeded(_) => kernel.Resource.ExitCase.Succeeded
    case Outcome.Failed(error) => kernel.Resource.ExitCase.Errored(error)
    case Outcome.Canceled => kernel.Resource.ExitCase.Canceled

/** Returns a Weir poll as a natural transformation. */
private[cats] final class PollView(poll: Poll) extends kernel.Poll[Task]:
  def apply[A](task: Task[A]): Task[A] = poll(task)

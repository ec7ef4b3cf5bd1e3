package weir.task

import weir.kernel.{Attempt, Defer, Fail, FlatMap, OnCancel, Pure, Uncancelable}
import weir.{Outcome, Poll, Task}

/** A task and a finalizer that runs once, masked, however the task ends. */
private[weir] object Guarantee:

  def apply[A](source: Task[A], finalizer: Outcome[A] => Task[Unit]): Task[A] =
    Uncancelable(poll => masked(poll, source, finalizer))

  /** For code that is masked already, by the `uncancelable` of `poll`. */
  def masked[A](poll: Poll, source: Task[A], finalizer: Outcome[A] => Task[Unit]): Task[A] =
    FlatMap(
      Attempt(OnCancel(poll(source), Defer(() => finalizer(Outcome.Canceled)))),
      {
        case Right(value) =>
          FlatMap(Defer(() => finalizer(Outcome.Succeeded(value))), _ => Pure(value))
        case Left(error) =>
          FlatMap(
            Attempt(Defer(() => finalizer(Outcome.Failed(error)))),
            {
              case Right(_) => Fail(error)
              case Left(later) =>
                if later ne error then error.addSuppressed(later)
                Fail(error)
            }
          )
      }
    )

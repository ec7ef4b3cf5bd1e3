package weir.interop.cats

import _root_.cats.effect.IO
import _root_.cats.effect.unsafe.IORuntime
import scala.concurrent.{ExecutionContext, Promise}
import scala.util.{Failure, Success}
import weir.{Outcome, Task, WeirRuntime}

/** Converts between `Task` and `IO`. Both represent a cancel of itself by `None`, which is no
  * error. So an error that happens to be a `CancellationException` stays an error.
  */
private[cats] object BetweenIO:

  def toTask[A](io: IO[A], runtime: IORuntime): Task[A] =
    Task
      .asyncCheckAttempt[Option[A]] { callback =>
        Task.uninterruptible {
          val (future, cancel) = io
            .map(Some(_))
            .onCancel(IO(callback(Right(None))))
            .unsafeToFutureCancelable()(using runtime)
          future.onComplete {
            case Success(value) => callback(Right(value))
            case Failure(error) => callback(Left(error))
          }(using ExecutionContext.parasitic)
          Left(Some(Task.fromFuture(cancel())))
        }
      }
      .flatMap {
        case Some(value) => Task.pure(value)
        case None => Task.canceled.andThen(Task.never)
      }

  def toIO[A](task: Task[A], runtime: WeirRuntime): IO[A] =
    IO.async[Option[A]] { callback =>
      IO {
        val ended = Promise[Unit]()
        val cancel = task.runAsync { outcome =>
          callback(
            outcome match
              case Outcome.Succeeded(value) => Right(Some(value))
              case Outcome.Failed(error) => Left(error)
              case Outcome.Canceled => Right(None)
          )
          ended.success(()): Unit
        }(using runtime)
        Some(IO(cancel()) *> IO.fromFuture(IO.pure(ended.future)))
      }
    }.flatMap {
      case Some(value) => IO.pure(value)
      case None => IO.canceled *> IO.never
    }

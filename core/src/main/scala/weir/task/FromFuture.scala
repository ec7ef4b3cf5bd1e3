package weir.task

import java.util.concurrent.{CompletionException, CompletionStage}
import scala.concurrent.{ExecutionContext, Future}
import scala.util.{Failure, Success}
import weir.Task
import weir.fiber.Async

/** Tasks that wait for the result of a future. */
private[weir] object FromFuture:

  def future[A](future: () => Future[A]): Task[A] =
    Async { callback =>
      future().onComplete {
        case Success(value) => callback(Right(value))
        case Failure(error) => callback(Left(error))
      }(using ExecutionContext.parasitic)
      null
    }

  def completionStage[A](stage: () => CompletionStage[A]): Task[A] =
    Async { callback =>
      val running = stage()
      running.whenComplete { (value, error) =>
        error match
          case null => callback(Right(value))
          case wrapped: CompletionException if wrapped.getCause ne null =>
            callback(Left(wrapped.getCause.nn))
          case error => callback(Left(error))
      }: Unit
      Task.delay(running.toCompletableFuture.cancel(true): Unit)
    }

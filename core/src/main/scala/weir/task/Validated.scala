package weir.task

import weir.Task

/** Collects all errors of tasks that have ended. */
private[weir] object Validated:

  /** Returns all values if there is no error, or else all errors. */
  def of[B](ended: Task[List[Either[Throwable, B]]]): Task[Either[List[Throwable], List[B]]] =
    ended.map { results =>
      val errors = results.collect { case Left(error) => error }
      if errors.nonEmpty then Left(errors)
      else Right(results.collect { case Right(value) => value })
    }

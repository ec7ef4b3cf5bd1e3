package weir.task

import weir.Task

/** All errors at once, of tasks that have ended one way or the other. */
private[weir] object Validated:

  /** All values if there is no error, else all errors. */
  def of[B](ended: Task[List[Either[Throwable, B]]]): Task[Either[List[Throwable], List[B]]] =
    ended.map { results =>
      val errors = results.collect { case Left(error) => error }
      if errors.nonEmpty then Left(errors)
      else Right(results.collect { case Right(value) => value })
    }

package weir.task

import scala.annotation.tailrec

/** The function that an error is given to, whose own error does not hide that one.
  *
  * `case _: IOException => …` without a default throws a `MatchError` for any other error: that one
  * is then suppressed under it.
  */
private[weir] final class ErrorHandler[A](f: Throwable => A) extends (Throwable => A):
  def apply(error: Throwable): A = ErrorHandler.call(f, error)

private[weir] object ErrorHandler:

  /** `f` of `error`. '''Fails''' with what `f` throws, under which `error` is suppressed if it is
    * not a cause of that.
    */
  def call[A](f: Throwable => A, error: Throwable): A =
    try f(error)
    catch
      case thrown: Throwable =>
        throw if isCause(error, thrown, 100) then thrown else Failures.add(thrown, error)

  /** At most `left` causes are looked at: they may go round in a circle. */
  @tailrec private def isCause(error: Throwable, of: Throwable | Null, left: Int): Boolean =
    (of ne null) && left > 0 && ((of eq error) || isCause(error, of.getCause, left - 1))

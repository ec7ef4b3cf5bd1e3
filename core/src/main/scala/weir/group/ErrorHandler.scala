package weir.group

import scala.annotation.tailrec
import weir.group.Failures

/** A function that handles an error, which is not lost if the function throws.
  *
  * `case _: IOException => …` without a default throws a `MatchError` for any other error, which is
  * then suppressed under the `MatchError`.
  */
private[weir] final class ErrorHandler[A](f: Throwable => A) extends (Throwable => A):
  def apply(error: Throwable): A = ErrorHandler.call(f, error)

private[weir] object ErrorHandler:

  /** Returns the result of `f` for `error`. **Fails** with what `f` throws, under which `error` is
    * suppressed unless it is a cause of that.
    */
  def call[A](f: Throwable => A, error: Throwable): A =
    try f(error)
    catch
      case thrown: Throwable =>
        throw if isCause(error, thrown, 100) then thrown else Failures.add(thrown, error)

  /** Looks at no more than `left` causes: they may form a circle. */
  @tailrec private def isCause(error: Throwable, of: Throwable | Null, left: Int): Boolean =
    (of ne null) && left > 0 && ((of eq error) || isCause(error, of.getCause, left - 1))

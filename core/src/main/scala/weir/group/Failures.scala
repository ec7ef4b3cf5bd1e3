package weir.group

import java.util.IdentityHashMap
import scala.annotation.tailrec
import weir.fiber.CancelSignal

/** The rule that the first failure is thrown, with later ones suppressed under it. Their number is
  * bounded, so that an error does not grow for ever.
  *
  *   - **Once**: an error that the first one holds already, as a cause or suppressed, is not added
  *     again.
  *   - **No circles**: an error may hold the first one, as does the error of a `close` whose cause
  *     is the error before it. A `Line` represents such an error.
  *   - **Never** an error of this library's own, such as the signal of a cancel.
  *   - **Shared**: the count and the addition are under the lock of the first error, which its own
  *     methods take.
  */
private[weir] object Failures:

  /** The largest number of errors that one may have suppressed under it. */
  inline val most = 64

  /** The largest number of errors that a search follows: causes may form a circle. */
  private inline val followed = 256

  /** An error that only this library's own code may see. */
  trait Internal

  /** An error that stands for others, of which only this text is printed. */
  final class Line(text: String) extends Throwable(text, null, false, true):
    override def fillInStackTrace(): Throwable = this
    override def toString: String = text

  /** Returns the error to throw: `first`, with `later` suppressed under it; `later` if there is no
    * first.
    */
  def add(first: Throwable | Null, later: Throwable): Throwable =
    if first eq null then later
    else
      try suppress(first, later)
      // This calls the errors' own methods. Their exceptions must not replace the error.
      catch case _: Throwable => ()
      first

  private def suppress(first: Throwable, later: Throwable): Unit =
    if !isInternal(later) && hasRoom(first) && !isHeld(later, by = first) then
      val added = if isHeld(first, by = later) then lineOf(later) else later
      first.synchronized { if hasRoom(first) then first.addSuppressed(added) }

  private def isInternal(error: Throwable): Boolean = error match
    case CancelSignal | _: Internal => true
    case _ => false

  private def hasRoom(error: Throwable): Boolean = error.getSuppressed.length < most

  private def lineOf(error: Throwable): Line =
    val line = Line(error.toString)
    line.setStackTrace(error.getStackTrace)
    line

  /** Returns true if `error` is `by`, or is found under it. */
  private def isHeld(error: Throwable, by: Throwable): Boolean =
    val seen = IdentityHashMap[Throwable, Throwable]()
    @tailrec def search(left: List[Throwable]): Boolean = left match
      case next :: others =>
        if next eq error then true
        else if seen.size == followed || (seen.put(next, next) ne null) then search(others)
        else search(Option(next.getCause) ++: next.getSuppressed ++: others)
      case Nil => false
    search(List(by))

/** A function that handles an error, which is not lost if the function throws.
  *
  * `case _: IOException => …` without a default throws a `MatchError` for any other error, which is
  * then suppressed under the `MatchError`.
  */
private[weir] final class ErrorHandler[A](f: Throwable => A) extends (Throwable => A):
  def apply(error: Throwable): A = ErrorHandler.call(f, error)

private[weir] object ErrorHandler:

  /** Returns the result of `f` for `error`. **Fails** with the error that `f` throws, under which
    * `error` is suppressed unless it is a cause of that.
    */
  def call[A](f: Throwable => A, error: Throwable): A =
    try f(error)
    catch
      case thrown: Throwable =>
        throw if isCause(error, thrown, 100) then thrown else Failures.add(thrown, error)

  /** Looks at no more than `left` causes: they may form a circle. */
  @tailrec private def isCause(error: Throwable, of: Throwable | Null, left: Int): Boolean =
    (of ne null) && left > 0 && ((of eq error) || isCause(error, of.getCause, left - 1))

package weir.task

import java.util.IdentityHashMap
import scala.annotation.tailrec
import weir.kernel.CancelSignal

/** The rule that the first failure is the one thrown, and later ones are suppressed under it: a bounded number of them,
  * so that an error does not grow for ever.
  *
  *   - **Once**: an error that the first one holds already, as a cause or suppressed, is not added again.
  *   - **No circles**: one that holds the first, as the error of a `close` does that names what it was closed for, is told
  *     by a `Line`.
  *   - **Never** what is this library's own, such as the signal of a cancel.
  *   - **Shared**: the count and the addition are under the lock of the first error, which its own methods take.
  */
private[weir] object Failures:

  /** As many errors as one may have suppressed under it. */
  inline val most = 64

  /** Errors that a search for one follows, at most: causes may go round in a circle. */
  private inline val followed = 256

  /** An error that only tells this library's own code something. */
  trait Internal

  /** What stands for errors of which only so much is to be printed. */
  final class Line(text: String) extends Throwable(text, null, false, true):
    override def fillInStackTrace(): Throwable = this
    override def toString: String = text

  /** The error to throw: `first`, with `later` suppressed under it; `later` if there is no first. */
  def add(first: Throwable | Null, later: Throwable): Throwable =
    if first eq null then later
    else
      try suppress(first, later)
      // Errors' own methods are called here. Whatever goes wrong must not take the place of the error.
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

  /** True if `error` is `by`, or is found under it. */
  private def isHeld(error: Throwable, by: Throwable): Boolean =
    val seen = IdentityHashMap[Throwable, Throwable]()
    @tailrec def search(left: List[Throwable]): Boolean = left match
      case next :: others =>
        if next eq error then true
        else if seen.size == followed || (seen.put(next, next) ne null) then search(others)
        else search(Option(next.getCause) ++: next.getSuppressed ++: others)
      case Nil => false
    search(List(by))

package weir.fiber

import scala.util.control.ControlThrowable

/** Unwinds plain code of a fiber that was cancelled while it awaited.
  *
  * It is not an `Exception`, and `NonFatal` does not match it (so `Try` does not either): ordinary
  * handlers let it pass. A handler that catches it changes nothing; the fiber unwinds nevertheless.
  */
private[weir] object CancelSignal
    extends ControlThrowable("The fiber was cancelled while it awaited."):

  /** Returns true if `error` is the signal, or wraps it. */
  def isIn(error: Throwable): Boolean =
    var cause: Throwable | Null = error
    var left = 100 // the causes may form a circle
    while (cause ne null) && (cause ne this) && left > 0 do
      cause = cause.getCause
      left -= 1
    cause eq this

package weir

/** The way in which a fiber ended: with a value, with an error, or cancelled. */
enum Outcome[+A]:
  case Succeeded(value: A)
  case Failed(error: Throwable)
  case Canceled

  /** Returns the value, or throws the error. Throws a `java.util.concurrent.CancellationException`
    * if the fiber was cancelled.
    */
  def get: A = this match
    case Succeeded(value) => value
    case Failed(error) => throw error
    case Canceled =>
      throw java.util.concurrent.CancellationException(
        "The fiber was cancelled. To handle that as a value, use join and match on its outcome."
      )

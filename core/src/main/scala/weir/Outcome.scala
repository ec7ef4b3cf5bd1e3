package weir

/** How a fiber ended. */
enum Outcome[+A]:
  case Succeeded(value: A)
  case Failed(error: Throwable)
  case Canceled

  /** The value, or the error thrown; a `java.util.concurrent.CancellationException` where it was
    * canceled.
    */
  def get: A = this match
    case Succeeded(value) => value
    case Failed(error) => throw error
    case Canceled =>
      throw java.util.concurrent.CancellationException(
        "The fiber was cancelled. To handle that as a value, use join and match on its outcome."
      )

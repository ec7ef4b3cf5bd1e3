package weir.task

/** The rule that the first failure is the one thrown, and later ones are suppressed under it: a bounded number of them,
  * so that an error does not grow for ever.
  */
private[weir] object Failures:

  /** As many errors as one may have suppressed under it. */
  inline val most = 64

  /** The error to throw: `first`, with `later` suppressed under it; `later` if there is no first. */
  def add(first: Throwable | Null, later: Throwable): Throwable =
    if first eq null then later
    else
      if (first ne later) && first.getSuppressed.length < most then first.addSuppressed(later)
      first

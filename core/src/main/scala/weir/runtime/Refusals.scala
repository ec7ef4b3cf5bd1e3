package weir.runtime

/** Remembers that the system had no thread to give, so that it is not asked again at once: to try costs it milliseconds, and it
  * prints a line each time.
  */
private[weir] final class Refusals:
  /** When it refused; 0 where it did not, the last time. */
  @volatile private var at = 0L

  def mayAsk: Boolean = at == 0 || System.nanoTime() - at > Tuning.threadRetryNanos

  def refused(): Unit = at = System.nanoTime() | 1
  def granted(): Unit = at = 0

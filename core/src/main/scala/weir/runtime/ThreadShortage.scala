package weir.runtime

/** Remembers that the system had no thread to spare, so that no other start is tried at once: each
  * try costs milliseconds, and makes the JVM print a line.
  */
private[weir] final class ThreadShortage(nanoTime: () => Long = () => System.nanoTime()):
  /** The time at which the last start failed; 0 if it did not. */
  @volatile private var at = 0L

  def mayStart: Boolean = at == 0 || nanoTime() - at > Tuning.threadRetryNanos

  def failed(): Unit = at = nanoTime() | 1
  def started(): Unit = at = 0

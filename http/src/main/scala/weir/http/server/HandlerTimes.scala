package weir.http.server

/** Decides where the tasks of a server's requests begin: on the thread that has read the request,
  * as long as nearly all handlers answer at once, or else on a worker.
  *
  * Handlers are timed in either place. So one that blocks has shown it on a worker, as a rule,
  * before it could keep a thread that reads.
  *
  *   - **Shared**: `longShare`, without an order: a lost update is made good by the next ones.
  */
private[server] final class HandlerTimes:
  import HandlerTimes.*

  /** The moving share of the handlers that take long, times `whole`. */
  private var longShare = whole

  def areShort: Boolean = longShare < shareLimit

  /** Notes a handler's time, up to its response or error. */
  def note(nanos: Long): Unit =
    longShare += ((if nanos > longNanos then whole else 0) - longShare) / weight

  /** Counts a handler that has kept its thread and may have been only slow to get a processor: as
    * two long ones.
    */
  def suspect(): Unit =
    val more = longShare + whole / 32
    if more < shareLimit then longShare = more else distrust()

  /** Has tasks begin on workers, until some hundreds of handlers have been short again. */
  def distrust(): Unit = longShare = whole

private object HandlerTimes:
  /** For longer ones, the hand-over to a worker is the smaller part of the cost. */
  private val longNanos = 100_000L

  private val whole = 1 << 20
  private val weight = 64
  private val shareLimit = whole / 16

package weir.http.server

import java.util.concurrent.atomic.AtomicInteger

/** Decides where the tasks of a server's requests begin: on the thread that has read the request,
  * as long as nearly all handlers answer at once, or else on a worker.
  *
  * Handlers are timed in either place. So one that blocks has shown it on a worker, as a rule,
  * before it could keep a thread that reads.
  *
  *   - **Shared**: `longShare`. A `note` that meets another one is lost, and made good by the next
  *     ones. `suspect` and `distrust` are not lost.
  *
  * This class is not final, only for tests.
  */
private[http] class HandlerTimes:
  import HandlerTimes.*

  /** The moving share of the handlers that take long, times `whole`. */
  private val longShare = AtomicInteger(whole)

  def areShort: Boolean = longShare.get < shareLimit

  /** Notes a handler's time, up to its response or error. */
  def note(nanos: Long): Unit =
    val before = longShare.get
    val change = ((if nanos > longNanos then whole else 0) - before) / weight
    if change != 0 then longShare.compareAndSet(before, before + change): Unit

  /** Notes the time for which a request has kept the thread that reads. For requests from which no
    * other thread has taken over.
    */
  def kept(nanos: Long): Unit = if nanos > keptNanos then suspect()

  /** Counts a handler that has kept its thread and may have been only slow to get a processor: as
    * two long ones.
    */
  def suspect(): Unit =
    longShare.updateAndGet { before =>
      val more = before + whole / 32
      if more < shareLimit then more else whole
    }: Unit

  /** Has tasks begin on workers, until some hundreds of handlers have been short again. */
  def distrust(): Unit = longShare.set(whole)

private object HandlerTimes:
  /** For longer ones, the hand-over to a worker is the smaller part of the cost. */
  private val longNanos = 100_000L

  /** Others have waited for a handler that has kept their thread for longer. */
  private val keptNanos = 1_000_000L

  private val whole = 1 << 20
  private val weight = 64
  private val shareLimit = whole / 16

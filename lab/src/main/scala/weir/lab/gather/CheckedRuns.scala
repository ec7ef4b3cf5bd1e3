package weir.lab.gather

import scala.concurrent.duration.*

import weir.lab.gather.TaskSystem.Returned

/** Runs something again and again, and counts its runs a second.
  *
  * The result of each run is checked, but not while the clock is on: to add up a list costs as much
  * as the fastest systems need to make it. So runs are timed in batches, and a batch is as small as
  * the clock allows, so that the garbage collector does not have to carry many results.
  */
final class CheckedRuns(expected: Long, run: () => Returned):
  private var batch = new Array[Any](1)

  /** Runs a second for about `time`, the checks included; at least one batch. */
  def rate(time: FiniteDuration): Double =
    val end = System.nanoTime() + time.toNanos
    var nanos = 0L
    var runs = 0L
    while
      nanos += timeBatch()
      runs += batch.length
      check()
      System.nanoTime() - end < 0
    do ()
    runs * 1e9 / nanos.max(1)

  /** Doubles the batch for the next time if this one was too short for the clock. */
  private def timeBatch(): Long =
    if isShort then batch = new Array[Any](batch.length * 2)
    val results = batch
    var i = 0
    val start = System.nanoTime()
    while i < results.length do
      results(i) = run()
      i += 1
    val nanos = System.nanoTime() - start
    isShort = nanos < CheckedRuns.batchNanos
    nanos
  private var isShort = false

  private def check(): Unit =
    var i = 0
    while i < batch.length do
      val sum = TaskSystem.total(batch(i).asInstanceOf[Returned])
      if sum != expected then
        throw IllegalStateException(s"a run added up to $sum, not to $expected")
      batch(i) = null
      i += 1

object CheckedRuns:
  /** The clock is read in 30 ns or so. */
  private val batchNanos = 50_000

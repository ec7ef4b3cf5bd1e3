package weir.bench.child.scale

import scala.concurrent.duration.*

/** Runs a load again and again, counts its operations a second, and checks what each run returns.
  */
private[scale] final class TimedRuns(load: Load, run: () => Long):
  private var runs = 0L

  /** All operations so far. */
  def operations: Long = runs * load.operations

  /** Operations a second, for about `time`; at least one run. **Fails** if a run returns another
    * value than the load expects.
    */
  def rate(time: FiniteDuration): Double =
    val start = System.nanoTime()
    val earlier = runs
    var now = start
    while
      once(now)
      now = System.nanoTime()
      now - start < time.toNanos
    do ()
    val busyNanos = now - start - (runs - earlier) * load.idle.toNanos
    (runs - earlier) * load.operations * 1e9 / math.max(1, busyNanos)

  private def once(start: Long): Unit =
    val result = run()
    runs += 1
    if result != load.expected then
      throw IllegalStateException(
        s"a run of ${load.row.id} returned $result. It must return ${load.expected}."
      )
    val nanos = System.nanoTime() - start
    if nanos < load.idle.toNanos then
      throw IllegalStateException(
        s"a run of ${load.row.id} took $nanos ns. It must wait for ${load.idle.toNanos} ns."
      )

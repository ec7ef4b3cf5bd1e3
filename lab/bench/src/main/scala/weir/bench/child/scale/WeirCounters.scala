package weir.bench.child.scale

import weir.WeirRuntime
import weir.lab.scale.ScaleCount

/** Reads Weir's own counts. There are none unless the JVM was started with
  * `ScalePlan.countingFlag`.
  */
private[scale] object WeirCounters extends Counters:
  private val events: Vector[(ScaleCount, String => Boolean)] = Vector(
    ScaleCount.ContendedCas -> (_.startsWith("lost CAS")),
    ScaleCount.LockWaits -> (_.endsWith("found held")),
    ScaleCount.WakeUps ->
      Set("workers started", "workers unparked", "wake-ups of the timer's thread"),
    ScaleCount.HandOvers -> Set("hand-overs"),
    ScaleCount.Steals -> Set("steals", "jobs moved by steals")
  )

  def read(): Map[ScaleCount, Long] =
    val counters = WeirRuntime.counters
    if counters.isEmpty then Map.empty
    else
      events.map((count, is) => count -> counters.collect { case (n, c) if is(n) => c }.sum).toMap

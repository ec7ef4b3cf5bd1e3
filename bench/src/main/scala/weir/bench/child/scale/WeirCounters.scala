package weir.bench.child.scale

import weir.lab.scale.ScaleCount
import weir.runtime.Counters as Internal

/** What Weir counts itself: nothing, unless the JVM was started with `ScalePlan.countingFlag`. */
private[scale] object WeirCounters extends Counters:
  private val events: Vector[(ScaleCount, List[Int])] = Vector(
    ScaleCount.ContendedCas -> List(
      Internal.PushRetry,
      Internal.PollRetry,
      Internal.StandbyLost,
      Internal.SlotLost,
      Internal.IdleLost,
      Internal.RefRetry,
      Internal.RangeRetry
    ),
    ScaleCount.LockWaits -> List(Internal.TimerLockHeld, Internal.LockHeld),
    ScaleCount.WakeUps -> List(
      Internal.WorkerStarted,
      Internal.WorkerUnparked,
      Internal.TimerWoken
    ),
    ScaleCount.HandOvers -> List(Internal.HandOver),
    ScaleCount.Steals -> List(Internal.Steal, Internal.StolenJob)
  )

  def read(): Map[ScaleCount, Long] =
    if Internal.isOn then events.map((count, of) => count -> of.map(Internal.value).sum).toMap
    else Map.empty

package weir.bench.child.scale

import weir.lab.scale.ScaleCount

/** What Weir counts itself: nothing, in a usual build. */
private[scale] object WeirCounters extends Counters:
  def read(): Map[ScaleCount, Long] = Map.empty

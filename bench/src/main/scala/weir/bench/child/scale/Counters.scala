package weir.bench.child.scale

import weir.lab.scale.ScaleCount

/** Counts while a row is measured, without a cost to it. */
private[scale] trait Counters:
  /** The values from the start of the JVM on. What is not counted here is missing. */
  def read(): Map[ScaleCount, Long]

private[scale] object Counters:
  /** Those of the process, and those of the system. */
  def of(system: String): Counters =
    if system == "weir" then () => ProcessCounters.read() ++ WeirCounters.read()
    else ProcessCounters

  /** By how much each count has grown, in its unit, if there were so many operations meanwhile. */
  def growth(
      before: Map[ScaleCount, Long],
      after: Map[ScaleCount, Long],
      operations: Long
  ): Vector[(ScaleCount, Double)] =
    for
      count <- ScaleCount.values.toVector
      earlier <- before.get(count)
      later <- after.get(count)
    yield count -> math.max(0, later - earlier).toDouble * count.operations / operations

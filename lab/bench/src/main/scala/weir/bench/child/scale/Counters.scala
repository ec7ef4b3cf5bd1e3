package weir.bench.child.scale

import weir.lab.scale.ScaleCount

/** Counts while a row is measured, without a cost to it. */
private[scale] trait Counters:
  /** Returns the values since the start of the JVM. Counts that this object does not have are
    * missing.
    */
  def read(): Map[ScaleCount, Long]

private[scale] object Counters:
  /** Returns the counters of the process and of the system. */
  def of(system: String): Counters =
    if system == "weir" then () => ProcessCounters.read() ++ WeirCounters.read()
    else ProcessCounters

  /** Returns the growth of each count, in its unit, for the number of operations meanwhile. */
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

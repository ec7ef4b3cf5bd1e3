package weir.runtime

/** What `CountersSuite` runs in a JVM of its own: counts each event once. */
object CountingAll:
  def main(args: Array[String]): Unit =
    for event <- 0 to Counters.RangeRetry do Counters.count(event)
    val counts = Counters.snapshot
    val once = counts.map(_._1).distinct.size == counts.size && counts.forall(_._2 == 1)
    println(s"${counts.size} counters${if once then ", each 1" else counts.toString}")

package weir.runtime

/** The program that `CountersSuite` runs in a JVM of its own: counts each event once. */
object CountingAll:
  def main(args: Array[String]): Unit =
    val events = 0 to Counters.RangeRetry
    events.foreach(Counters.count)
    val counts = Counters.snapshot
    val once = counts.map(_._1).distinct.size == counts.size && counts.forall(_._2 == 1) &&
      events.forall(Counters.value(_) == 1)
    println(s"${counts.size} counters${if once then ", each 1" else counts.toString}")

package weir.testkit

import scala.concurrent.duration.FiniteDuration
import weir.io.Text

/** The result of a `TestRuntime.explore` in which no order has failed. `toString` describes it.
  *
  * @param orders the number of orders with at most `preemptions` pre-emptions that were run: all
  *   that differ in more than the order of steps that use no common object
  * @param isExhaustive true if those were all orders with as many pre-emptions as `ExploreLimits`
  *   allows, and with as many yields as `yieldsInRow` says
  * @param isComplete true if there is no order with more pre-emptions or yields either
  * @param preemptions the number of pre-emptions up to which all orders were run; -1 if there was
  *   no time for those without any
  * @param yieldsInRow the number of times in a row that a fiber may yield in those orders, as by
  *   `Task.cede`, before another one takes a step; none if no fiber yields more often
  * @param randomOrders the number of further orders that were run, by random priorities
  * @param depth the depth of the bugs that the random orders look for
  * @param probability the smallest probability with which the random orders would have shown a bug
  *   of that depth
  * @param strands the largest number of fibers, threads and alarms of one order
  * @param steps the largest number of steps of one order
  * @param took the real time
  * @param differs the causes of differences between runs of the program: calls of random numbers or
  *   clocks, and threads that are not explored, by name. If there are any, `isExhaustive` is false.
  * @param notCovered a list of what the orders do not cover, including those causes
  */
final case class ExploreReport(
    orders: Long,
    isExhaustive: Boolean,
    isComplete: Boolean,
    preemptions: Int,
    yieldsInRow: Option[Int],
    randomOrders: Long,
    depth: Int,
    probability: Double,
    strands: Int,
    steps: Int,
    took: FiniteDuration,
    differs: List[String],
    notCovered: List[String]
):
  /** Describes the way in which the orders were chosen. */
  def strategy: String = if randomOrders == 0 then "all" else "all, then random priorities"

  override def toString: String =
    val count = String.format(java.util.Locale.ROOT, "%,d", orders)
    val all =
      if differs.nonEmpty then s"$count orders of a program whose runs differ"
      else if isComplete then if orders == 1 then "the only order" else s"all $count orders"
      else if preemptions < 0 then "not all orders without pre-emptions"
      else s"all $count orders with at most $preemptions pre-emptions"
    val yields =
      if preemptions < 0 || differs.nonEmpty then ""
      else yieldsInRow.fold("")(n => s" in which no fiber yields more than $n times in a row")
    val random =
      if randomOrders == 0 then ""
      else
        val percent = String.format(java.util.Locale.ROOT, "%.2g", probability * 100)
        String.format(java.util.Locale.ROOT, ", then %,d", randomOrders) +
          s" by random priorities, which show a bug of depth $depth with a probability of at " +
          s"least $percent % ($strands strands, $steps steps)"
    val why = if differs.isEmpty then "" else differs.mkString(": ", "; ", "")
    s"$all$yields$random, in ${Text.ofDuration(took)}$why"

package weir.lab.compare

import java.util.random.RandomGenerator

/** The computing times of tasks: evenly spread from the least to the most, except for a few long
  * ones.
  *
  * @param longPercent
  *   the number of tasks in a hundred that take `longNanos`
  */
final case class WorkTimes(leastNanos: Int, mostNanos: Int, longPercent: Int, longNanos: Int):
  def next(random: RandomGenerator): Int =
    val usual = random.nextInt(leastNanos, mostNanos + 1)
    if random.nextInt(100) < longPercent then longNanos else usual

  /** As `parse` takes it. */
  def text: String =
    val long = if longPercent == 0 then "" else s",$longPercent%:${longNanos / 1000}us"
    s"${leastNanos / 1000}us..${mostNanos / 1000}us$long"

object WorkTimes:
  private val form =
    "([1-9][0-9]{0,5})us(?:\\.\\.([1-9][0-9]{0,5})us)?(?:,([1-9][0-9]?)%:([1-9][0-9]{0,5})us)?".r

  /** Such as `5us`, `1us..10us` or `1us..10us,1%:500us`; none if `text` is not of that form. */
  def parse(text: String): Option[WorkTimes] = text match
    case form(least, most, percent, long) =>
      val times = WorkTimes(
        least.toInt * 1000,
        Option(most).getOrElse(least).toInt * 1000,
        Option(percent).fold(0)(_.toInt),
        Option(long).fold(0)(_.toInt * 1000)
      )
      Option.when(times.mostNanos >= times.leastNanos)(times)
    case _ => None

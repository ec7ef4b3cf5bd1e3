package weir.lab.scale

import scala.concurrent.duration.*

/** The time in which a JVM measures each of its rows: a warm-up, then rounds of which the median
  * counts.
  */
private[lab] final case class TimeShare(warmUp: FiniteDuration, round: FiniteDuration, rounds: Int):
  def total: FiniteDuration = warmUp + round * rounds

/** Divides the time of a run among its JVMs.
  *
  * The time that is left is divided anew before each JVM, so that a machine that is slower than
  * expected, or a JVM that hangs, makes the later ones shorter and not the run longer.
  */
private[lab] object TimeShare:
  /** The time that a JVM takes to start, to get to its first row, and to end. */
  val start: FiniteDuration = 2.seconds

  /** With less a figure says nothing. */
  val least: FiniteDuration = 300.millis

  /** More makes no figure better. */
  val most: FiniteDuration = 10.seconds

  /** The most with `--quick`. */
  val mostOfQuick: FiniteDuration = 600.millis

  private val rounds = 5

  /** Returns the number of `steps`, which are in order of importance, that can be run in the time
    * that is `left`, and the share of a row of the first of them. None if there is no time for a
    * step.
    */
  def next(
      steps: Seq[ScaleStep],
      left: FiniteDuration,
      most: FiniteDuration = most
  ): Option[(Int, TimeShare)] =
    val shares =
      Iterator.range(steps.size, 0, -1).map(count => count -> shareOf(steps.take(count), left))
    shares.collectFirst:
      case (count, share) if share * steps.take(count).map(weight).min >= least.toMillis =>
        count -> divided((share * weight(steps.head)).toLong.millis.min(most))

  /** Returns the time after which the JVM of `step` counts as hung and is killed, with `share` for
    * each row; at most the time that is `left`.
    */
  def deadline(step: ScaleStep, share: TimeShare, left: FiniteDuration): FiniteDuration =
    (expected(step, share) * 2 + 10.seconds).min(left)

  def expected(step: ScaleStep, share: TimeShare): FiniteDuration =
    start + share.total * step.rows.size

  /** A processor that must also compile the code needs longer until the code is fast. */
  private def weight(step: ScaleStep): Double = 1 + 2.0 / step.carriers

  /** Milliseconds for each row of weight 1. */
  private def shareOf(steps: Seq[ScaleStep], left: FiniteDuration): Double =
    val usable = (left - start * steps.size).toMillis
    usable / steps.map(step => weight(step) * step.rows.size).sum

  /** Half of `time` for the warm-up. */
  private def divided(time: FiniteDuration): TimeShare =
    TimeShare((time.toMillis / 2).millis, (time.toMillis / (2 * rounds)).millis, rounds)

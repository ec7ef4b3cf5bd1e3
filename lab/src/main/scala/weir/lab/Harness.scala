package weir.lab

import scala.concurrent.duration.*

/** Measures how fast something runs when it is run again and again: a warm-up, then rounds.
  *
  * The median of the rounds is what counts, so that a round in which the machine did something else
  * does not.
  */
final case class Harness(warmUp: FiniteDuration, round: FiniteDuration, rounds: Int):
  require(rounds >= 1, s"Harness: rounds was $rounds. It must be at least 1.")

  /** Runs a second, the median of the rounds. */
  def opsPerSecond[A](run: () => A): Double = Harness.median(rates(run))

  /** Milliseconds a run takes, the median of the rounds. */
  def millis[A](run: () => A): Double = 1000 / opsPerSecond(run)

  /** Runs a second in each round. */
  private def rates[A](run: () => A): Vector[Double] =
    val _ = rate(run, warmUp)
    Vector.fill(rounds)(rate(run, round))

  /** At least one run, and no more begun once the time is over. */
  private def rate[A](run: () => A, time: FiniteDuration): Double =
    val start = System.nanoTime()
    val end = start + time.toNanos
    var runs = 0L
    var now = start
    while runs == 0 || now - end < 0 do
      kept = run()
      runs += 1
      now = System.nanoTime()
    runs * 1e9 / (now - start).max(1)

  /** Written after each run, so that the compiler cannot remove the computation. */
  @volatile private[lab] var kept: Any = null

object Harness:
  /** Returns the middle value, or the mean of the two in the middle. */
  def median(values: Seq[Double]): Double =
    require(values.nonEmpty, "Harness.median: there are no values.")
    val sorted = values.sorted
    val middle = sorted.size / 2
    if sorted.size % 2 == 1 then sorted(middle) else (sorted(middle - 1) + sorted(middle)) / 2

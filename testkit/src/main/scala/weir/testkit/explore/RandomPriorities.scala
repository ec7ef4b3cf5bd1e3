package weir.testkit.explore

import java.util.SplittableRandom
import scala.collection.mutable

/** Orders by random priorities: "probabilistic concurrency testing" (Burckhardt, Kothari, Musuvathi
  * and Nagarakatte 2010).
  *
  * Each strand has a random priority. The one with the highest priority of those that can run takes
  * each step. At `depth - 1` random steps the priority of the strand that has run drops below all
  * others. A bug has a certain depth if it shows whenever so many steps come in a certain order. A
  * run of a program with n strands, k steps and a bug of that depth fails with a probability of at
  * least 1 / (n k^(depth-1)^).
  *
  * A strand that yields by itself drops too, which is not in the paper: otherwise a loop that waits
  * for another strand would never end.
  */
private[explore] final class RandomPriorities(seed: Long, depth: Int) extends Strategy:
  private val random = SplittableRandom(seed)
  private val priorities = mutable.ArrayBuffer[Double]()
  private val changes = mutable.Set[Int]()
  private var lowest = 0.0
  private var length = 1

  /** Begins a run of a program of about `steps` steps. */
  def begin(steps: Int): Unit =
    priorities.clear()
    changes.clear()
    lowest = 0.0
    length = steps
    for _ <- 1 until depth do changes += 1 + random.nextInt(math.max(1, steps))

  def choose(point: Point): Int =
    val previous = point.previous
    while priorities.length <= point.enabled.last || priorities.length <= previous do
      priorities += 1 + random.nextDouble()
    if point.branches && point.enabled.contains(previous) then
      // It may disturb at each of about so many places, once.
      if random.nextInt(math.max(1, length)) == 0 then point.disturbing else point.previous
    else byPriority(point)

  private def byPriority(point: Point): Int =
    val previous = point.previous
    val gaveUp = previous >= 0 && !point.continues && point.enabled.contains(previous)
    if previous >= 0 && (gaveUp || changes(point.step)) then
      lowest -= 1
      priorities(previous) = lowest
    if point.isLast then point.default else point.enabled.maxBy(priorities(_))

private[explore] object RandomPriorities:
  /** Returns the smallest probability with which one of `runs` runs shows a bug of this depth. */
  def probability(runs: Long, strands: Int, steps: Int, depth: Int): Double =
    val one = 1.0 / (strands * math.pow(steps.toDouble, depth - 1.0))
    1 - math.pow(1 - one, runs.toDouble)

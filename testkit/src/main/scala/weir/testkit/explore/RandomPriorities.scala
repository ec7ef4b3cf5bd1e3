package weir.testkit.explore

import java.util.SplittableRandom
import scala.collection.mutable

/** Orders by random priorities: "probabilistic concurrency testing" (Burckhardt, Kothari, Musuvathi
  * and Nagarakatte 2010).
  *
  * Each strand has a random priority. The one with the highest priority of those that can run takes
  * each step. At `depth - 1` random steps the priority of the strand that has run drops below all
  * that have not dropped; those that have dropped are in a random order. A bug has a certain depth
  * if it shows whenever so many steps come in a certain order. A run of a program with n strands, k
  * steps and a bug of that depth fails with a probability of at least 1 / (n k^(depth-1)^).
  *
  * A strand that yields again and again drops too, which is not in the paper: otherwise a loop that
  * waits for another strand would never end.
  */
private[explore] final class RandomPriorities(seed: Long, depth: Int) extends Strategy:
  private val random = SplittableRandom(seed)
  private val priorities = mutable.ArrayBuffer[Double]()

  /** The steps before which a priority drops, and to what. */
  private val changes = mutable.Map[Int, Double]()
  private var lowest = 0.0
  private var length = 1

  /** True if a strand disturbs at a random place. */
  private var branches = false
  private val yields = YieldsInRow()

  /** Begins a run of a program of about `steps` steps. */
  def begin(steps: Int): Unit =
    priorities.clear()
    changes.clear()
    lowest = 0.0
    length = steps
    yields.ran(-1)
    for _ <- 1 until depth do changes(1 + random.nextInt(math.max(1, steps))) = random.nextDouble()

  def choose(point: Point): Int =
    val previous = point.previous
    while priorities.length <= point.enabled.last || priorities.length <= previous do
      priorities += 1 + random.nextDouble()
    if point.branches then branches = true
    if point.branches && point.enabled.contains(previous) then
      // It may disturb at each of about so many places, once.
      if random.nextInt(math.max(1, length)) == 0 then point.disturbing
      else previous
    else byPriority(point)

  private def byPriority(point: Point): Int =
    val previous = point.previous
    val gaveUp = previous >= 0 && !point.continues && point.enabled.contains(previous)
    if previous >= 0 then
      for priority <- changes.get(point.step) do priorities(previous) = priority
      if gaveUp && yields.again(previous) > RandomPriorities.mostYields then
        lowest -= 1
        priorities(previous) = lowest
    val chosen = if point.isLast then point.default else point.enabled.maxBy(priorities(_))
    yields.ran(chosen)
    chosen

  /** The probability, at least, that one of `runs` runs shows a bug of this depth. */
  def probability(runs: Long, strands: Int, steps: Int): Double =
    val priorities = 1.0 / (strands * math.pow(steps.toDouble, depth - 1.0))
    // It disturbs at a certain place with 1 / k, and at none of the k before with at least 1 / e.
    val one = if branches then priorities / (math.E * steps) else priorities
    1 - math.pow(1 - one, runs.toDouble)

private[explore] object RandomPriorities:
  /** A strand that yields more often in a row waits for another one, it is supposed. */
  private inline val mostYields = 16

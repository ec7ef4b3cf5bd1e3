package weir.bench.child.scale

import scala.concurrent.duration.*

import weir.bench.Rivals
import weir.lab.scale.ScaleRow

/** The amount of work in a run of a row, the same in all systems.
  *
  * @param divisor
  *   the factor by which a run is smaller than usual, for tests
  */
final case class Load(row: ScaleRow, carriers: Int, work: Work, divisor: Int = 1):
  /** The fibers, the pairs of fibers, the streams or the threads. */
  val fibers: Int = row match
    case ScaleRow.Yields | ScaleRow.TimersSet | ScaleRow.Semaphore | ScaleRow.Mutex => 4 * carriers
    case ScaleRow.QueueMany | ScaleRow.QueuePairs | ScaleRow.RunSync => carriers
    case ScaleRow.Merge => math.max(2, carriers)
    case ScaleRow.ParJoin => 16
    case ScaleRow.TimersRing => less(10_000)
    case _ => 1

  /** The operations of each of `fibers`; of a tree, the number whose Fibonacci number it computes.
    */
  val each: Int = row match
    case ScaleRow.ForkTree => if divisor == 1 then 20 else 10
    case ScaleRow.Sleeping => less(100_000)
    case ScaleRow.ParEvalMap1 => less(20_000)
    case ScaleRow.ParEvalMap10 => less(4_000)
    case ScaleRow.ForkFlat | ScaleRow.QueueOne | ScaleRow.ParEvalMap0 => less(10_000)
    case ScaleRow.QueueMany | ScaleRow.QueuePairs => less(5_000)
    case ScaleRow.Merge | ScaleRow.Blocking => less(2_000)
    case ScaleRow.RunSync => less(3_000)
    case ScaleRow.Mutex => less(40_000 / fibers) // all go through it one by one
    case ScaleRow.TimersRing => 5
    case _ => less(1_000)

  /** The numbers below `each`. */
  val items: List[Int] = List.range(0, each)

  /** Returns the largest number of effects of a stream that run at a time. */
  def parallelism: Int = 2 * carriers

  def permits: Int = carriers

  def capacity: Int = 128

  /** Returns the sleep of each fiber of [[ScaleRow.Sleeping]]. */
  def sleep: FiniteDuration = 500.millis / divisor

  /** Returns the time of a run in which there is nothing to do but to wait. */
  def idle: FiniteDuration = if row == ScaleRow.Sleeping then sleep else Duration.Zero

  def operations: Long = row match
    case ScaleRow.ForkTree => Load.fibonacci(each + 1) - 1
    case _ => fibers.toLong * each

  /** Returns the right result of a run. */
  def expected: Long = row match
    case ScaleRow.ForkTree => Load.fibonacci(each)
    case ScaleRow.Yields | ScaleRow.TimersSet | ScaleRow.TimersRing | ScaleRow.Semaphore |
        ScaleRow.Mutex | ScaleRow.Blocking | ScaleRow.RunSync | ScaleRow.Sleeping =>
      operations
    case _ => fibers * Rivals.totalBelow(each)

  /** Returns the time that the work of an element or a task takes. */
  def micros: Int = row match
    case ScaleRow.GatherWork | ScaleRow.ParEvalMap1 | ScaleRow.Merge => 1
    case ScaleRow.ParEvalMap10 => 10
    case _ => 0

  /** Computes for `micros`, and returns `i`. */
  def compute(i: Int): Int = work.compute(micros, i)

  private def less(size: Int): Int = math.max(1, size / divisor)

object Load:
  private[scale] def fibonacci(n: Int): Long =
    Iterator.iterate((0L, 1L))((a, b) => (b, a + b)).drop(n).next()._1

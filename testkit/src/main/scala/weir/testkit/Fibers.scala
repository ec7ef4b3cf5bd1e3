package weir.testkit

import scala.collection.mutable.ArrayBuffer
import weir.fiber.FiberCore
import weir.runtime.Job

/** The fibers of a test that have not ended, each with a number in the order in which they were
  * made.
  *
  * **Shared, under `lock`**: all of it. Those that have ended are dropped now and then, when the
  * list has doubled.
  */
private[testkit] final class Fibers:
  private val lock = SpinLock()
  private val list = ArrayBuffer[(Int, FiberCore)]()
  private var count = 0
  private var pruneAt = 1024

  def add(fiber: FiberCore): Unit = lock {
    count += 1
    list.addOne((count, fiber))
    if list.size >= pruneAt then
      prune()
      pruneAt = math.max(1024, list.size * 2)
  }

  private def prune(): Unit = list.filterInPlace((_, fiber) => fiber.outcome eq null): Unit

  /** Returns the number of fibers that there have been. */
  def madeEver: Int = lock(count)

  /** Returns the fibers from number `from` on that have not ended. A helper of a parallel operator
    * that was not needed is dropped before it has run, and counts as ended.
    */
  def alive(from: Int): List[(Int, FiberCore)] = lock {
    prune()
    list.iterator.filter((n, fiber) => n >= from && fiber.demand != Job.Never).toList
  }

package weir.testkit

import scala.collection.mutable.ArrayBuffer
import weir.fiber.Waiter

/** The waits for callbacks that code outside of the runtime may call at any time.
  *
  * **Shared, under `lock`**: all of it.
  */
private[testkit] final class Outside:
  private val lock = SpinLock()
  private val waits = ArrayBuffer[Waiter]()
  private var seen = 0

  def add(waiter: Waiter): Unit = lock { waits.addOne(waiter): Unit }

  /** Returns true if some of them are not over, and were not here at the last call. */
  def hasNew(): Boolean = lock {
    val fresh = waits.iterator.drop(seen).exists(_.isOpen)
    waits.filterInPlace(_.isOpen): Unit
    seen = waits.size
    fresh
  }

  def isEmpty: Boolean = lock(!waits.exists(_.isOpen))

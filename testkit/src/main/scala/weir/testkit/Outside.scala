package weir.testkit

import scala.collection.mutable.ArrayBuffer
import weir.kernel.Waiter

/** The waits for callbacks that code outside of the runtime may call at any time.
  *
  * '''Shared, under this object's lock''': all of it.
  */
private[testkit] final class Outside:
  private val waits = ArrayBuffer[Waiter]()
  private var seen = 0

  def add(waiter: Waiter): Unit = synchronized { waits.addOne(waiter): Unit }

  /** True if some of them are not over, and were not here at the last call. */
  def hasNew(): Boolean = synchronized {
    val fresh = waits.iterator.drop(seen).exists(_.isOpen)
    waits.filterInPlace(_.isOpen): Unit
    seen = waits.size
    fresh
  }

  def isEmpty: Boolean = synchronized(!waits.exists(_.isOpen))

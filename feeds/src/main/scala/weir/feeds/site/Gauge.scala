package weir.feeds.site

import scala.concurrent.duration.*

/** A number that goes up and down, and that a thread can wait for to reach a value. */
final class Gauge:
  // guarded by this
  private var value = 0

  def add(amount: Int): Unit = synchronized:
    value += amount
    notifyAll()

  /** True once the number is what `isReached` asks for. **Waits** for it, at most `limit`: false
    * then.
    */
  def await(limit: FiniteDuration)(isReached: Int => Boolean): Boolean = synchronized:
    val end = limit.fromNow
    while !isReached(value) && end.hasTimeLeft() do wait(end.timeLeft.toMillis max 1)
    isReached(value)

package weir.testkit

import java.util.concurrent.atomic.AtomicBoolean

/** A lock for a few instructions at a time, at which no virtual thread leaves its carrier. At any other lock it could, and would
  * then look asleep to the conductor, while nothing but a moment keeps it from going on.
  */
private[testkit] final class SpinLock:
  private val taken = AtomicBoolean()

  inline def apply[A](inline body: A): A =
    lock()
    try body
    finally unlock()

  def lock(): Unit =
    while taken.get || !taken.compareAndSet(false, true) do Thread.onSpinWait()

  def unlock(): Unit = taken.set(false)

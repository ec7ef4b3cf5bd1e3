package weir.testkit

import java.util.concurrent.atomic.AtomicBoolean

/** A lock for a few instructions at a time, at which no virtual thread leaves its carrier. At any
  * other lock it could, and the conductor would then take it for asleep, though it goes on in a
  * moment.
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

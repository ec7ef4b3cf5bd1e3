package scala.spinning

import java.util.concurrent.atomic.AtomicBoolean

/** A spin lock in a package whose code is not explored. */
final class Spinning:
  private val taken = AtomicBoolean()

  /** Spins until it has the lock. */
  def lock(): Unit = while !taken.compareAndSet(false, true) do Thread.onSpinWait()
  def unlock(): Unit = taken.set(false)

package weir

import java.util.concurrent.atomic.AtomicReference
import weir.runtime.Tuning
import weir.sync.Backoff

/** A value that fibers share and change atomically. */
final class Ref[A] private (state: AtomicReference[A]):

  /** The present value. */
  def get: Task[A] = Task.delay(state.get)

  /** Replaces the value. */
  def set(value: A): Task[Unit] = Task.delay(state.set(value))

  /** The value before, replaced by `value`. */
  def getAndSet(value: A): Task[A] = Task.delay(state.getAndSet(value))

  /** Replaces the value by `f` of it. `f` may be called more than once, and should be quick and pure. */
  def update(f: A => A): Task[Unit] = Task.delay(change(f): Unit)

  /** The new value, `f` of the one before. */
  def updateAndGet(f: A => A): Task[A] = Task.delay(change(f))

  /** The second part of `f` of the value, whose first part becomes the new value. */
  def modify[B](f: A => (A, B)): Task[B] = Task.delay {
    var current = state.get
    var both = f(current)
    var pause = Tuning.backoffFirstNanos
    while !state.compareAndSet(current, both._1) do
      pause = Backoff.pause(pause)
      current = state.get
      both = f(current)
    both._2
  }

  private def change(f: A => A): A =
    var current = state.get
    var next = f(current)
    var pause = Tuning.backoffFirstNanos
    while !state.compareAndSet(current, next) do
      pause = Backoff.pause(pause)
      current = state.get
      next = f(current)
    next

object Ref:
  /** A new one that holds `value`. */
  def of[A](value: A): Task[Ref[A]] = Task.delay(unsafe(value))

  /** A new one, made at once, for use outside of tasks. */
  def unsafe[A](value: A): Ref[A] = Ref(AtomicReference(value))

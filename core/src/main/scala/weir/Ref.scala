package weir

import java.util.concurrent.atomic.AtomicReference
import weir.runtime.{Counters, Tuning}
import weir.sync.Backoff

/** A value that fibers share and change atomically. Functions that it is given may be called more
  * than once for one change, and should be quick and pure.
  */
final class Ref[A] private (state: AtomicReference[A]):

  /** The present value. */
  def get: Task[A] = Task.delay(state.get)

  private[weir] def present: A = state.get

  /** Replaces the value. */
  def set(value: A): Task[Unit] = Task.delay(state.set(value))

  /** The value before, replaced by `value`. */
  def getAndSet(value: A): Task[A] = Task.delay(state.getAndSet(value))

  /** Replaces the value by `f` of it. `f` may be called more than once; it should be quick and
    * pure.
    */
  def update(f: A => A): Task[Unit] = Task.delay(change(f): Unit)

  /** The value before, replaced by `f` of it. */
  def getAndUpdate(f: A => A): Task[A] = modify(a => (f(a), a))

  /** True if the value has been replaced by `f` of it; false if it was changed by another fiber
    * meanwhile.
    */
  def tryUpdate(f: A => A): Task[Boolean] = tryModify(a => (f(a), ())).map(_.isDefined)

  /** The second part of `f` of the value, whose first part has become the new value; `None` if the
    * value was changed by another fiber meanwhile.
    */
  def tryModify[B](f: A => (A, B)): Task[Option[B]] = Task.delay {
    val current = state.get
    val (next, result) = f(current)
    Option.when(state.compareAndSet(current, next))(result)
  }

  /** What the task returns that is the second part of `f` of the value, whose first part has become
    * the new value.
    *
    * **Cancelled**: not between the two, and not while that task runs.
    */
  def flatModify[B](f: A => (A, Task[B])): Task[B] =
    Task.uncancelable(_ => modify(f).flatMap(identity))

  /** The new value, `f` of the one before. */
  def updateAndGet(f: A => A): Task[A] = Task.delay(change(f))

  /** The second part of `f` of the value, whose first part becomes the new value. */
  def modify[B](f: A => (A, B)): Task[B] = Task.delay {
    var current = state.get
    var both = f(current)
    var pause = Tuning.backoffFirstNanos
    while !state.compareAndSet(current, both._1) do
      Counters.count(Counters.RefRetry)
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
      Counters.count(Counters.RefRetry)
      pause = Backoff.pause(pause)
      current = state.get
      next = f(current)
    next

object Ref:
  /** A new reference that holds `value`.
    * {{{
    * val found = Ref.of(0).flatMap { count =>
    *   Task.parForeach(ids)(id => load(id) >> count.update(_ + 1)) >> count.get
    * }
    * }}}
    */
  def of[A](value: A): Task[Ref[A]] = Task.delay(unsafe(value))

  /** As `of`, made at once, for use outside of tasks. */
  def unsafe[A](value: A): Ref[A] = Ref(AtomicReference(value))

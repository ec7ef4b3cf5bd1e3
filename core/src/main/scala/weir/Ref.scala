package weir

import java.util.concurrent.atomic.AtomicReference
import weir.runtime.{Counters, Tuning}
import weir.sync.Backoff

/** A value that fibers share and change atomically. Functions that are passed to it may be called
  * more than once for one change, and should be quick and pure.
  */
final class Ref[A] private (state: AtomicReference[A]):

  /** Returns the present value. */
  def get: Task[A] = Task.delay(state.get)

  private[weir] def present: A = state.get

  /** Sets the value. */
  def set(value: A): Task[Unit] = Task.delay(state.set(value))

  /** Sets the value and returns the previous value. */
  def getAndSet(value: A): Task[A] = Task.delay(state.getAndSet(value))

  /** Sets the value to the result of `f` for it. `f` may be called more than once; it should be
    * quick and pure.
    */
  def update(f: A => A): Task[Unit] = Task.delay(change(f): Unit)

  /** Sets the value to the result of `f` for it, and returns the previous value. */
  def getAndUpdate(f: A => A): Task[A] = modify(a => (f(a), a))

  /** Calls `f` with the value and sets the value to the result, unless another fiber has changed
    * the value meanwhile. Returns true if the value was set.
    */
  def tryUpdate(f: A => A): Task[Boolean] = tryModify(a => (f(a), ())).map(_.isDefined)

  /** Calls `f` with the value. Sets the value to the first part of the result and returns the
    * second part, or returns `None` if another fiber has changed the value meanwhile.
    */
  def tryModify[B](f: A => (A, B)): Task[Option[B]] = Task.delay {
    val current = state.get
    val (next, result) = f(current)
    Option.when(state.compareAndSet(current, next))(result)
  }

  /** Calls `f` with the value, sets the value to the first part of the result, then runs the task
    * that is the second part and returns its value.
    *
    * **Cancelled**: takes effect neither between the two nor while that task runs.
    */
  def flatModify[B](f: A => (A, Task[B])): Task[B] =
    Task.uncancelable(_ => modify(f).flatMap(identity))

  /** Sets the value to the result of `f` for it, and returns the new value. */
  def updateAndGet(f: A => A): Task[A] = Task.delay(change(f))

  /** Calls `f` with the value. Sets the value to the first part of the result, and returns the
    * second part.
    */
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
  /** Returns a new reference that holds `value`.
    * {{{
    * val found = Ref.of(0).flatMap { count =>
    *   Task.parForeach(ids)(id => load(id) >> count.update(_ + 1)) >> count.get
    * }
    * }}}
    */
  def of[A](value: A): Task[Ref[A]] = Task.delay(unsafe(value))

  /** As `of`, but makes the reference at once, for use outside of tasks. */
  def unsafe[A](value: A): Ref[A] = Ref(AtomicReference(value))

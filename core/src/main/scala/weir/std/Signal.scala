package weir.std

import weir.io.Source
import weir.{Deferred, Ref, Stream, Task}

/** A value that fibers share, change atomically, and can watch: a `Ref` whose changes are a stream.
  * Functions that are passed to it may be called more than once for one change, and should be quick
  * and pure.
  */
final class Signal[A] private (ref: Ref[Signal.State[A]]) extends Signal.View[A]:
  private[weir] def state: Task[Signal.State[A]] = ref.get

  private[weir] override def present: A = ref.present.value

  /** Sets the value.
    * {{{
    * def reload(config: Signal[Config]): Task[Unit] = fromFile.flatMap(config.set)
    * }}}
    */
  def set(value: A): Task[Unit] = update(_ => value)

  /** Sets the value to the result of `f` for it.
    * {{{
    * def seen(count: Signal[Int]): Task[Unit] = count.update(_ + 1)
    * }}}
    */
  def update(f: A => A): Task[Unit] = modify(a => (f(a), ()))

  /** Sets the value to the result of `f` for it, and returns the new value.
    * {{{
    * def nextId(ids: Signal[Int]): Task[Int] = ids.updateAndGet(_ + 1)
    * }}}
    */
  def updateAndGet(f: A => A): Task[A] = modify { a =>
    val next = f(a)
    (next, next)
  }

  /** Calls `f` with the value. Sets the value to the first part of the result, and returns the
    * second part.
    * {{{
    * def takeAll(waiting: Signal[List[String]]): Task[List[String]] =
    *   waiting.modify(all => (Nil, all))
    * }}}
    */
  def modify[B](f: A => (A, B)): Task[B] = Task.defer {
    val changed = Deferred.unsafe[Unit]
    ref.flatModify { before =>
      val (value, result) = f(before.value)
      (Signal.State(value, changed), before.changed.complete(()).as(result))
    }
  }

object Signal:
  private[weir] final case class State[+A](value: A, changed: Deferred[Unit])

  /** A value that can be read and watched: a signal, or a `map` of one, which cannot be set. */
  sealed abstract class View[+A]:
    private[weir] def state: Task[State[A]]

    /** Returns the present value. */
    private[weir] def present: A

    /** Returns the present value.
      * {{{
      * def address(config: Signal[Config]): Task[String] = config.get.map(_.address)
      * }}}
      */
    final def get: Task[A] = state.map(_.value)

    /** Returns a view whose value is the result of `f` for this value. `f` is called at each read.
      * The view changes whenever this does, even if `f` returns an equal value.
      * {{{
      * def addresses(config: Signal[Config]): Stream[String] =
      *   config.map(_.address).discrete.changes
      * }}}
      */
    final def map[B](f: A => B): View[B] = Mapped(this, f)

    /** Emits the present value, then the latest one after each change. While the consumer is busy,
      * values may be skipped, but never the latest one. A value may be equal to the one before it;
      * to drop those, add `changes`. Never ends by itself.
      *
      * **Waits** for a change.
      * {{{
      * def shown(progress: Signal[Int]): Task[Unit] =
      *   progress.discrete.changes.sample(1.second).evalForeach(n => Task(log(s"$n done")))
      * }}}
      */
    final def discrete: Stream[A] = Stream.fromSource(Task(Watch(state)))

    /** Emits the present value again and again, without waiting. Never ends by itself.
      * {{{
      * def sampled(load: Signal[Int]): Stream[Int] = load.continuous.metered(100.millis)
      * }}}
      */
    final def continuous: Stream[A] = Stream.repeatEval(get)

    /** Waits until `isWanted` is true for the value, and returns that value. A value that is
      * replaced before it is checked is missed. **Cancelled** while it waits: has no effect on
      * others.
      * {{{
      * def whenIdle(running: Signal[Int]): Task[Int] = running.waitUntil(_ == 0)
      * }}}
      */
    final def waitUntil(isWanted: A => Boolean): Task[A] = state.flatMap { now =>
      if isWanted(now.value) then Task.pure(now.value)
      else now.changed.get.flatMap(_ => waitUntil(isWanted))
    }

  private final class Mapped[A, +B](of: View[A], f: A => B) extends View[B]:
    private[weir] def state: Task[State[B]] =
      of.state.map(now => State(f(now.value), now.changed))
    private[weir] def present: B = f(of.present)

  private final class Watch[A](state: Task[State[A]]) extends Source[A]:
    private var seen: State[A] | Null = null
    def next()(using Task.Direct): A | Source.End =
      val last = seen
      if last != null then last.changed.get.await
      val now = state.await
      seen = now
      now.value

  /** Returns a new signal that holds `value`.
    * {{{
    * val drained = Signal.of(3).flatMap { left =>
    *   Task.parForeach(ids)(id => load(id) >> left.update(_ - 1)).both(left.waitUntil(_ == 0))
    * }
    * }}}
    */
  def of[A](value: A): Task[Signal[A]] = Task.delay(unsafe(value))

  /** As `of`, but makes the signal at once, for use outside of tasks. */
  def unsafe[A](value: A): Signal[A] = new Signal(Ref.unsafe(State(value, Deferred.unsafe[Unit])))

package weir

/** A value that fibers change one after the other, by tasks: a `Ref` whose changes may wait.
  *
  *   - **Shared**: the value, changed by whoever is inside of the mutex. `get` reads it without
  *     waiting.
  */
final class AtomicCell[A] private (value: Ref[A], mutex: Mutex):

  /** The present value, without waiting: that of before, while a change is under way. */
  def get: Task[A] = value.get

  /** Replaces the value. **Waits** for changes that came before. **Cancelled** while it waits: the
    * value stays.
    */
  def set(a: A): Task[Unit] = mutex.withLock(value.set(a))

  /** The second part of what the task that `f` makes of the value returns; the first part becomes
    * the new value.
    *
    * **Waits** for changes that came before. **Cancelled** while it waits or while that task runs:
    * the value stays. **Fails** with what `f` or the task fails with: the value stays. A change
    * inside of a change of the same cell waits for ever. **Order**: changes are made in the order
    * in which they came.
    * {{{
    * def valid(cell: AtomicCell[Token]): Task[Token] = cell.evalModify { old =>
    *   if old.isValid then Task.pure((old, old)) else login.map(fresh => (fresh, fresh))
    * }
    * }}}
    */
  def evalModify[B](f: A => Task[(A, B)]): Task[B] = mutex.withLock(
    value.get.flatMap(f).flatMap { case (next, result) => value.set(next).as(result) }
  )

  /** Replaces the value by `f` of it. **Waits** for changes that came before. */
  def update(f: A => A): Task[Unit] = mutex.withLock(value.update(f))

  /** The second part of `f` of the value; the first part becomes the new value. **Waits** for
    * changes that came before.
    */
  def modify[B](f: A => (A, B)): Task[B] = mutex.withLock(value.modify(f))

  /** Replaces the value by what the task that `f` makes of it returns. Otherwise as `evalModify`.
    */
  def evalUpdate(f: A => Task[A]): Task[Unit] = evalModify(a => f(a).map(next => (next, ())))

  /** The new value, which the task has returned that `f` makes of the one before. Otherwise as
    * `evalModify`.
    */
  def evalUpdateAndGet(f: A => Task[A]): Task[A] =
    evalModify(a => f(a).map(next => (next, next)))

  /** The value before, replaced by what the task that `f` makes of it returns. Otherwise as
    * `evalModify`.
    */
  def evalGetAndUpdate(f: A => Task[A]): Task[A] = evalModify(a => f(a).map(next => (next, a)))

object AtomicCell:
  /** A new one that holds `value`. */
  def of[A](value: A): Task[AtomicCell[A]] = Task.delay(unsafe(value))

  /** A new one, made at once, for use outside of tasks. */
  def unsafe[A](value: A): AtomicCell[A] = new AtomicCell(Ref.unsafe(value), Mutex.unsafe())

package weir.std

import weir.{Mutex, Ref, Task}

/** A value that fibers change one after the other. It is a `Ref` whose changes may be tasks, which
  * may wait.
  *
  *   - **Shared**: the value, changed by the fiber that holds the mutex. `get` reads it without
  *     waiting.
  */
final class AtomicCell[A] private (value: Ref[A], mutex: Mutex):

  /** Returns the present value without waiting. While a change is in flight, that is the value
    * before the change.
    */
  def get: Task[A] = value.get

  /** Sets the value. **Waits** for earlier changes. **Cancelled** while it waits: the value does
    * not change.
    */
  def set(value: A): Task[Unit] = mutex.withLock(this.value.set(value))

  /** Runs the task that `f` returns for the value. Sets the value to the first part of its result,
    * and returns the second part.
    *
    * **Waits** for earlier changes. **Cancelled** while it waits or while that task runs: the value
    * does not change. **Fails** with the error of `f` or of the task: the value does not change. A
    * change inside of a change of the same cell waits for ever. **Order**: changes are made in the
    * order in which they were requested.
    * {{{
    * def valid(cell: AtomicCell[Token]): Task[Token] = cell.evalModify { old =>
    *   if old.isValid then Task.pure((old, old)) else login.map(fresh => (fresh, fresh))
    * }
    * }}}
    */
  def evalModify[B](f: A => Task[(A, B)]): Task[B] = mutex.withLock(
    value.get.flatMap(f).flatMap { case (next, result) => value.set(next).as(result) }
  )

  /** Sets the value to the result of `f` for it. **Waits** for earlier changes. */
  def update(f: A => A): Task[Unit] = mutex.withLock(value.update(f))

  /** Calls `f` with the value. Sets the value to the first part of the result, and returns the
    * second part. **Waits** for earlier changes.
    */
  def modify[B](f: A => (A, B)): Task[B] = mutex.withLock(value.modify(f))

  /** Sets the value to the result of the task that `f` returns for it. Otherwise as `evalModify`.
    */
  def evalUpdate(f: A => Task[A]): Task[Unit] = evalModify(a => f(a).map(next => (next, ())))

  /** Sets the value to the result of the task that `f` returns for it, and returns the new value.
    * Otherwise as `evalModify`.
    */
  def evalUpdateAndGet(f: A => Task[A]): Task[A] =
    evalModify(a => f(a).map(next => (next, next)))

  /** Sets the value to the result of the task that `f` returns for it, and returns the previous
    * value. Otherwise as `evalModify`.
    */
  def evalGetAndUpdate(f: A => Task[A]): Task[A] = evalModify(a => f(a).map(next => (next, a)))

object AtomicCell:
  /** Returns a new cell that holds `value`. */
  def of[A](value: A): Task[AtomicCell[A]] = Task.delay(unsafe(value))

  /** As `of`, but makes the cell at once, for use outside of tasks. */
  def unsafe[A](value: A): AtomicCell[A] = new AtomicCell(Ref.unsafe(value), Mutex.unsafe())

package weir

import weir.fiber.{Exchange, Suspend, TaskFiber}
import weir.sync.{Permits, WithPermits}

/** A number of permits that fibers take and give back. Fair: fibers that wait are served in the
  * order in which they came.
  */
final class Semaphore private (initial: Long) extends Permits(initial):

  /** What `task` returns, run with one permit, which is given back however the task ends.
    *
    * **Waits** until a permit is free. **Cancelled** while it waits: takes none.
    * {{{
    * val pages = Semaphore(4).flatMap { fourAtOnce =>
    *   Task.parTraverse(urls)(url => fourAtOnce.withPermit(Task(fetch(url))))
    * }
    * }}}
    */
  def withPermit[A](task: Task[A]): Task[A] = WithPermits(this, 1, task)

  /** As `withPermit`, with `n` permits at once. **Fails** with an `IllegalArgumentException` if `n`
    * is negative.
    */
  def withPermits[A](n: Long)(task: Task[A]): Task[A] =
    WithPermits(this, Semaphore.checked("withPermits", n), task)

  /** Nothing, once a permit has been taken. It has to be given back by `release`; prefer
    * `withPermit`, which always does so.
    *
    * **Waits** until a permit is free. **Cancelled** while it waits: takes none. A cancel that
    * comes once the permit has been granted takes effect after it, so run this under a mask that
    * keeps the permit: `Task.uncancelable(poll => poll(acquire).flatMap(…))`.
    */
  val acquire: Task[Unit] = acquiring(1)

  /** As `acquire`, for `n` at once: takes none before it can take them all. */
  def acquireN(n: Long): Task[Unit] = acquiring(Semaphore.checked("acquireN", n))

  private def acquiring(n: Long): Task[Unit] = new Exchange[Unit]:
    def begin(fiber: TaskFiber): Any =
      val entry = take(fiber, n)
      if entry eq null then () else entry

  /** True if a permit was free, and has been taken. False also while other fibers wait for one. */
  val tryAcquire: Task[Boolean] = tryAcquiring(1)

  /** As `tryAcquire`, for `n` at once. */
  def tryAcquireN(n: Long): Task[Boolean] = tryAcquiring(Semaphore.checked("tryAcquireN", n))

  private def tryAcquiring(n: Long): Task[Boolean] = new Suspend[Boolean]:
    def begin(fiber: TaskFiber): Any = tryTake(fiber, n)

  /** Nothing, once a permit has been given back, or added. */
  val release: Task[Unit] = releasing(1)

  /** As `release`, for `n` at once. */
  def releaseN(n: Long): Task[Unit] = releasing(Semaphore.checked("releaseN", n))

  private def releasing(n: Long): Task[Unit] = new Suspend[Unit]:
    def begin(fiber: TaskFiber): Any = give(fiber, n)

  /** How many permits may be taken without waiting; 0 while other fibers wait. */
  def available: Task[Long] = new Suspend[Long]:
    def begin(fiber: TaskFiber): Any = availableNow(fiber)

  /** How many permits are free, less those that fibers wait for: below 0, so many are missing. */
  def count: Task[Long] = new Suspend[Long]:
    def begin(fiber: TaskFiber): Any = balance(fiber)

  private[weir] def awaitedAs: String = awaitedBy(s"Semaphore($initial)")

object Semaphore:
  /** A new semaphore with `permits` free permits. **Fails** with an `IllegalArgumentException` if
    * `permits` is negative.
    */
  def apply(permits: Long): Task[Semaphore] = Task.delay(unsafe(permits))

  /** As `apply`, made at once, for use outside of tasks. */
  def unsafe(permits: Long): Semaphore =
    new Semaphore(checked("apply", permits))

  private def checked(method: String, n: Long): Long =
    require(
      n >= 0,
      s"Semaphore.$method: the number of permits was $n. It must not be negative."
    )
    n

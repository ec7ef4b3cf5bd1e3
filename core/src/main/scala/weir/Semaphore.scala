package weir

import weir.fiber.{Exchange, Suspend, TaskFiber}
import weir.metrics.NamedMetrics
import weir.sync.{Permits, WithPermits}

/** A number of permits that fibers take and return. It is fair: waiting fibers are served in the
  * order in which they came.
  */
final class Semaphore private (permits: Long) extends Permits(permits):

  /** True if `release` has been called: it may have added permits. A dump reads it. */
  private var isReleased = false

  /** Runs `task` with one permit and returns its value. The permit is returned however the task
    * ends.
    *
    * **Waits** until a permit is free. **Cancelled** while it waits: takes none.
    * {{{
    * val pages = Semaphore(4).flatMap { fourAtOnce =>
    *   Task.parTraverse(urls)(url => fourAtOnce.withPermit(Task(fetch(url))))
    * }
    * }}}
    */
  def withPermit[A](task: Task[A]): Task[A] = WithPermits(this, 1, task)

  /** As `withPermit`, but with `n` permits at once. **Fails** with an `IllegalArgumentException` if
    * `n` is negative.
    */
  def withPermits[A](n: Long)(task: Task[A]): Task[A] =
    WithPermits(this, Semaphore.checked("withPermits", n), task)

  /** Takes a permit, which `release` has to return. Prefer `withPermit`, which always returns it.
    *
    * **Waits** until a permit is free. **Cancelled** while it waits: takes none. A cancel that
    * comes once the permit has been granted takes effect after this task. So run it under a mask
    * that keeps the permit: `Task.uncancelable(poll => poll(acquire).flatMap(…))`.
    */
  val acquire: Task[Unit] = acquiring(1)

  /** As `acquire`, but takes `n` permits at once: takes none before it can take all of them. */
  def acquireN(n: Long): Task[Unit] = acquiring(Semaphore.checked("acquireN", n))

  private def acquiring(n: Long): Task[Unit] = new Exchange[Unit]:
    def begin(fiber: TaskFiber): Any =
      val entry = take(fiber, n)
      if entry eq null then () else entry

  /** Takes a permit and returns true if one is free and no other fiber waits for one. Returns false
    * otherwise.
    */
  val tryAcquire: Task[Boolean] = tryAcquiring(1)

  /** As `tryAcquire`, but takes `n` permits at once. */
  def tryAcquireN(n: Long): Task[Boolean] = tryAcquiring(Semaphore.checked("tryAcquireN", n))

  private def tryAcquiring(n: Long): Task[Boolean] = new Suspend[Boolean]:
    def begin(fiber: TaskFiber): Any = tryTake(fiber, n)

  /** Returns a permit, or adds one. Does not wait. */
  val release: Task[Unit] = releasing(1)

  /** As `release`, for `n` permits at once. */
  def releaseN(n: Long): Task[Unit] = releasing(Semaphore.checked("releaseN", n))

  private def releasing(n: Long): Task[Unit] = new Suspend[Unit]:
    def begin(fiber: TaskFiber): Any =
      isReleased = true
      give(fiber, n)

  /** Returns the number of permits that can be taken without waiting. It is 0 while other fibers
    * wait.
    */
  def available: Task[Long] = new Suspend[Long]:
    def begin(fiber: TaskFiber): Any = availableNow(fiber)

  /** Returns the number of free permits minus the number of permits that fibers wait for. A
    * negative result is the number of permits that are missing.
    */
  def count: Task[Long] = new Suspend[Long]:
    def begin(fiber: TaskFiber): Any = balance(fiber)

  /** Names this semaphore: `WeirRuntime.metrics` then reports its metrics under that name. Returns
    * this semaphore.
    * {{{
    * val fourAtOnce = Semaphore(4).map(_.named("connections"))
    * }}}
    */
  def named(name: String): this.type =
    NamedMetrics.register(this, name)((semaphore, named) => semaphore.figures("semaphore", named))
    this

  private[weir] def awaitedAs: String = awaitedBy(s"Semaphore($initial)")

  override private[weir] def isHeldByFrames: Boolean = true
  override private[weir] def allPermits: Long = if isReleased then Long.MaxValue else initial

object Semaphore:
  /** Returns a new semaphore with `permits` free permits. **Fails** with an
    * `IllegalArgumentException` if `permits` is negative.
    */
  def apply(permits: Long): Task[Semaphore] = Task.delay(unsafe(permits))

  /** As `apply`, but makes the semaphore at once, for use outside of tasks. */
  def unsafe(permits: Long): Semaphore =
    new Semaphore(checked("apply", permits))

  private def checked(method: String, n: Long): Long =
    require(
      n >= 0,
      s"Semaphore.$method: the number of permits was $n. It must not be negative."
    )
    n

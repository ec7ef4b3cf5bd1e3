package weir

import weir.kernel.{RunLoop, Suspend}
import weir.sync.{Permits, WithPermits}

/** A number of permits that fibers take and give back. Fair: those who wait are served in the order in which they came. */
final class Semaphore private (initial: Long) extends Permits(initial):

  /** What `task` returns, run with one permit, which is given back however it ends. '''Waits''' until there is one.
    * '''Cancelled''' while it waits: takes none.
    */
  def withPermit[A](task: Task[A]): Task[A] = WithPermits(this, 1, task)

  /** As `withPermit`, with `n` at once. '''Fails''' with an `IllegalArgumentException` if `n` is negative. */
  def withPermits[A](n: Long)(task: Task[A]): Task[A] =
    WithPermits(this, Semaphore.checked("withPermits", n), task)

  /** Nothing, with one permit less. To be given back by `release`; prefer `withPermit`, which cannot forget.
    *
    * '''Waits''' until there is one. '''Cancelled''' while it waits: takes none.
    */
  val acquire: Task[Unit] = acquiring(1)

  /** As `acquire`, for `n` at once: takes none before it can take them all. */
  def acquireN(n: Long): Task[Unit] = acquiring(Semaphore.checked("acquireN", n))

  private def acquiring(n: Long): Task[Unit] = new Suspend[Unit]:
    def begin(fiber: RunLoop): Any =
      val entry = take(fiber, n)
      if entry eq null then () else entry

  /** True if there was a permit, which has been taken; false also while others wait for one. */
  val tryAcquire: Task[Boolean] = tryAcquiring(1)

  /** As `tryAcquire`, for `n` at once. */
  def tryAcquireN(n: Long): Task[Boolean] = tryAcquiring(Semaphore.checked("tryAcquireN", n))

  private def tryAcquiring(n: Long): Task[Boolean] = new Suspend[Boolean]:
    def begin(fiber: RunLoop): Any = tryTake(fiber, n)

  /** Nothing, with one permit more. */
  val release: Task[Unit] = releasing(1)

  /** As `release`, for `n` at once. */
  def releaseN(n: Long): Task[Unit] = releasing(Semaphore.checked("releaseN", n))

  private def releasing(n: Long): Task[Unit] = new Suspend[Unit]:
    def begin(fiber: RunLoop): Any = give(fiber, n)

  /** How many permits may be taken at once; 0 while others wait. */
  def available: Task[Long] = new Suspend[Long]:
    def begin(fiber: RunLoop): Any = availableNow(fiber)

  /** How many permits there are, less those that fibers wait for: below 0, so many are missing. */
  def count: Task[Long] = new Suspend[Long]:
    def begin(fiber: RunLoop): Any = balance(fiber)

  def awaitedAs: String = awaitedAs(s"Semaphore($initial)")

object Semaphore:
  /** A new one with `permits` to begin with. '''Fails''' with an `IllegalArgumentException` if that is negative. */
  def apply(permits: Long): Task[Semaphore] = Task.delay(unsafe(permits))

  /** A new one, made at once, for use outside of tasks. */
  def unsafe(permits: Long): Semaphore =
    new Semaphore(checked("apply", permits))

  private def checked(method: String, n: Long): Long =
    require(
      n >= 0,
      s"Semaphore.$method: the number of permits was $n. It must not be negative."
    )
    n

package weir.japi

import weir.Semaphore as ScalaSemaphore

/** A number of permits that fibers take and return. Waiting fibers get permits in the order in
  * which they asked, and block no thread. With one permit it is a lock.
  */
final class Semaphore private (underlying: ScalaSemaphore):

  /** Takes a permit, runs `task`, and returns the permit, however the task ends. **Waits** for a
    * permit.
    */
  def withPermit[A](task: Task[A]): Task[A] = Task(underlying.withPermit(task.asScala))

  /** As `withPermit`, with `n` permits. */
  def withPermits[A](n: Long, task: Task[A]): Task[A] =
    Task(underlying.withPermits(n)(task.asScala))

  /** Returns the number of permits that are free. */
  def available(): Task[java.lang.Long] = Task(underlying.available.map(Long.box))

  /** Names this semaphore, for `WeirRuntime.metrics`. Returns this semaphore. */
  def named(name: String): Semaphore =
    underlying.named(name): Unit
    this

  /** Returns the semaphore of Weir's Scala API. */
  def asScala: ScalaSemaphore = underlying

object Semaphore:
  /** Makes a semaphore with `permits` permits. **Fails** with an `IllegalArgumentException` if that
    * is negative.
    */
  def of(permits: Long): Semaphore = new Semaphore(ScalaSemaphore.unsafe(permits))

package weir.japi

import java.time.Duration
import weir.std.RateLimiter as ScalaRateLimiter

/** Limits the number of tasks that begin in a given time.
  *
  * Outside of tests there is one runtime, and so one limiter. Each test with `TestRuntime` has a
  * separate one, which begins full and follows the clock of that test.
  */
final class RateLimiter private (limiter: OnEachRuntime[ScalaRateLimiter]):

  /** Runs `task` as soon as there is a permit, and returns its value. **Waits** in the order in
    * which fibers ask.
    */
  def limit[A](task: Task[A]): Task[A] = limiter(_.limit(task.asScala))

  /** Takes a permit. **Waits** for one. */
  def acquire(): Task[Void] = limiter(_.acquire.as(null))

  /** Takes a permit and returns true if there is one; returns false otherwise. */
  def tryAcquire(): Task[java.lang.Boolean] = limiter(_.tryAcquire.map(Boolean.box))

  /** Names this limiter, for `WeirRuntime.metrics`. Returns this limiter. */
  def named(name: String): RateLimiter =
    limiter.atHome.named(name): Unit
    this

object RateLimiter:
  /** Makes a limiter of `permits` permits in each `per`, evenly spread. */
  def of(permits: Int, per: Duration): RateLimiter = of(permits, per, 1)

  /** As `of`, but allows up to `burst` permits at once after a pause. */
  def of(permits: Int, per: Duration, burst: Int): RateLimiter =
    new RateLimiter(
      OnEachRuntime(ScalaRateLimiter.unsafe(permits, Durations.of(per), burst)(using _))
    )

package weir.japi

import java.time.Duration
import weir.std.CircuitBreaker as ScalaCircuitBreaker

/** Refuses calls to a service that keeps failing, and tries it again after a time.
  *
  * Outside of tests there is one runtime, and so one breaker. Each test with `TestRuntime` has a
  * separate one, which begins closed and follows the clock of that test.
  */
final class CircuitBreaker private (breaker: OnEachRuntime[ScalaCircuitBreaker]):

  /** Runs `task`, unless the breaker is open. **Fails** with a `weir.std.CircuitOpen` then, without
    * running it.
    */
  def protect[A](task: Task[A]): Task[A] = breaker(_.protect(task.asScala))

  /** Returns true if calls are refused now. */
  def isOpen(): Task[java.lang.Boolean] = breaker(
    _.currentState.map(state => Boolean.box(state == ScalaCircuitBreaker.State.Open))
  )

  /** Names this breaker, for `WeirRuntime.metrics`. Returns this breaker. */
  def named(name: String): CircuitBreaker =
    breaker.atHome.named(name): Unit
    this

object CircuitBreaker:
  /** Makes a breaker that opens after `maxFailures` failures in a row. After `resetAfter` it lets
    * one call through. If that succeeds, the breaker closes.
    */
  def of(maxFailures: Int, resetAfter: Duration): CircuitBreaker =
    new CircuitBreaker(
      OnEachRuntime(ScalaCircuitBreaker.unsafe(maxFailures, Durations.of(resetAfter))(using _))
    )

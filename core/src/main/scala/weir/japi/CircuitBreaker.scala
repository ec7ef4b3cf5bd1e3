package weir.japi

import java.time.Duration
import weir.std.CircuitBreaker as ScalaCircuitBreaker

/** Refuses calls to a service that keeps failing, and tries it again after a time. */
final class CircuitBreaker private (underlying: ScalaCircuitBreaker):

  /** Runs `task`, unless the breaker is open. **Fails** with a `weir.std.CircuitOpen` then, without
    * running it.
    */
  def protect[A](task: Task[A]): Task[A] = Task(underlying.protect(task.asScala))

  /** Returns true if calls are refused now. */
  def isOpen(): Task[java.lang.Boolean] = Task(
    underlying.currentState.map(state => Boolean.box(state == ScalaCircuitBreaker.State.Open))
  )

  /** Names this breaker, for `WeirRuntime.metrics`. Returns this breaker. */
  def named(name: String): CircuitBreaker =
    underlying.named(name): Unit
    this

object CircuitBreaker:
  /** Makes a breaker that opens after `maxFailures` failures in a row. After `resetAfter` it lets
    * one call through. If that succeeds, the breaker closes.
    */
  def of(maxFailures: Int, resetAfter: Duration): CircuitBreaker =
    new CircuitBreaker(ScalaCircuitBreaker.unsafe(maxFailures, Durations.of(resetAfter)))

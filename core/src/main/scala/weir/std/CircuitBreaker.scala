package weir.std

import java.util.concurrent.atomic.AtomicReference
import scala.concurrent.duration.{Duration, DurationInt, DurationLong, FiniteDuration}
import weir.group.Failures
import weir.metrics.{Metric, NamedMetrics}
import weir.runtime.DurationText
import weir.runtime.Timers
import weir.task.Guarantee
import weir.{Outcome, Task, WeirRuntime}

/** Refuses calls to a service that fails. Lets a single call through from time to time, the probe,
  * to find out if the service has recovered.
  *
  * {{{
  * Closed --maxFailures in a row--> Open --a call after the pause--> HalfOpen
  *   ^                               ^ ^                              | | |
  *   |                               | +------the probe is cancelled--+ | |
  *   |                               +----the probe fails: longer pause-+ |
  *   +--------------------the probe succeeds------------------------------+
  * }}}
  *
  *   - **Shared**: `state`, which moves by CAS alone. The probe itself moves it out of HalfOpen,
  *     however the probe ends: by a finalizer, whose frame is on the stack before the state moves.
  *   - If a probe lasts longer than `probeLimit`, the next call overtakes it: it replaces the
  *     probe's `HalfOpen` by one of its own. After that, the end of the first probe changes
  *     nothing.
  *   - A call that began before the circuit opened does not count after that: its `epoch` has
  *     ended.
  */
final class CircuitBreaker private (settings: CircuitBreaker.Settings, timers: Timers):
  import CircuitBreaker.{Closed, Condition, HalfOpen, Open, Waiting}
  private val state = AtomicReference[Condition](Closed(0, 0))

  /** Runs `task` and returns its value, or refuses to run it.
    *
    * **Cancelled**: does not affect the circuit. If this call was the probe, the next call becomes
    * the probe. **Fails** with the error of the task. Fails with `CircuitOpen`, without running the
    * task, while the circuit is open, or while another call is the probe.
    */
  def protect[A](task: Task[A]): Task[A] = Task.defer {
    state.get match
      case closed: Closed => watched(task, closed.epoch)
      case waiting: Waiting if waiting.isOver(timers.nanoTime) => probe(task)
      case open: Open =>
        Task.fail(CircuitOpen((open.untilNanos - timers.nanoTime).max(0).nanos, open.error))
      case halfOpen: HalfOpen => Task.fail(CircuitOpen(Duration.Zero, halfOpen.open.error))
  }

  /** Returns the present state. It stays `Open` after the pause until the next call. */
  def currentState: Task[CircuitBreaker.State] = Task.delay(state.get.name)

  /** Names this breaker: `WeirRuntime.metrics` then reports its metrics under that name. Returns
    * this breaker.
    * {{{
    * val mail = CircuitBreaker(5, 10.seconds).map(_.named("mail"))
    * }}}
    */
  def named(name: String): this.type =
    NamedMetrics.register(this, name)((breaker, named) => breaker.figures(named))
    this

  private def figures(named: NamedMetrics): Vector[Metric] =
    val now = state.get.name
    Vector(
      named.by(
        Metric.Kind.Gauge,
        "weir.circuit_breaker.state",
        "",
        "1 for the state of the breaker, 0 for the others.",
        "state",
        CircuitBreaker.State.values.toSeq.map(s =>
          CircuitBreaker.word(s) -> (if s == now then 1.0 else 0.0)
        )*
      )
    )

  private def watched[A](task: Task[A], epoch: Long): Task[A] = task.attempt.flatMap {
    case Right(value) =>
      succeeded(epoch)
      Task.pure(value)
    case Left(error) =>
      if isFailure(error) then failed(epoch, error) else succeeded(epoch)
      Task.fail(error)
  }

  private def succeeded(epoch: Long): Unit =
    var retries = true
    while retries do
      retries = state.get match
        case closed: Closed if closed.epoch == epoch && closed.failures > 0 =>
          !state.compareAndSet(closed, Closed(0, epoch))
        case _ => false

  private def failed(epoch: Long, error: Throwable): Unit =
    var retries = true
    while retries do
      retries = state.get match
        case closed: Closed if closed.epoch == epoch =>
          val failures = closed.failures + 1
          val next =
            if failures < settings.maxFailures then Closed(failures, epoch)
            else opened(settings.resetAfter.toNanos, epoch, error)
          !state.compareAndSet(closed, next)
        case _ => false

  private def opened(pauseNanos: Long, epoch: Long, error: Throwable): Open =
    Open(timers.nanoTime + pauseNanos, pauseNanos, epoch, error)

  private def probe[A](task: Task[A]): Task[A] = Task.uncancelable { poll =>
    Task.defer {
      val now = timers.nanoTime
      state.get match
        case waiting: Waiting if waiting.isOver(now) =>
          val halfOpen = HalfOpen(waiting.open, now + settings.probeLimitNanos)
          if state.compareAndSet(waiting, halfOpen) then
            Guarantee(poll(task), outcome => Task.delay(probed(halfOpen, outcome)))
          else poll(protect(task))
        case _ => poll(protect(task))
    }
  }

  /** Moves the state after a probe. Changes nothing if another probe has overtaken this one. */
  private def probed(halfOpen: HalfOpen, outcome: Outcome[Any]): Unit =
    val open = halfOpen.open
    val next = outcome match
      case Outcome.Failed(error) if isFailure(error) =>
        opened(settings.longer(open.pauseNanos), open.epoch, error)
      case Outcome.Canceled => open
      case _ => recovered(open)
    state.compareAndSet(halfOpen, next): Unit

  /** Returns true if `error` is a failure. `counts` is the user's code: if it throws, `error` is a
    * failure, and the error of `counts` is suppressed under it.
    */
  private def isFailure(error: Throwable): Boolean =
    try settings.counts(error)
    catch
      case thrown: Throwable =>
        Failures.add(error, thrown): Unit
        true

  private def recovered(open: Open): Closed = Closed(0, open.epoch + 1)

object CircuitBreaker:
  /** The state of a circuit. */
  enum State:
    /** Calls go through. */
    case Closed

    /** Calls are refused. */
    case Open

    /** One call, the probe, is running, and its outcome decides. Other calls are refused. */
    case HalfOpen

  private def word(state: State): String = state match
    case State.Closed => "closed"
    case State.Open => "open"
    case State.HalfOpen => "half_open"

  /** Returns a new breaker, which is closed. It opens after `maxFailures` calls in a row have
    * failed. After `resetAfter`, the next call, the probe, is let through. If it succeeds, the
    * circuit closes. If it fails, the next pause is `backoffFactor` times as long, up to
    * `maxResetAfter`.
    *
    * An error for which `counts` is false, such as one about the caller's own input, is not a
    * failure: the service has answered. If `counts` throws, the error is a failure. If the probe
    * has not ended within `probeLimit`, the next call replaces it as the probe. **Fails** with an
    * `IllegalArgumentException` if `maxFailures` is below 1, if `resetAfter` or `probeLimit` is not
    * positive, or if `backoffFactor` is below 1.
    */
  def apply(
      maxFailures: Int,
      resetAfter: FiniteDuration,
      backoffFactor: Double = 2,
      maxResetAfter: FiniteDuration = 1.minute,
      counts: Throwable => Boolean = _ => true,
      probeLimit: Duration = 1.minute
  ): Task[CircuitBreaker] = Task.onRuntime(runtime =>
    unsafe(maxFailures, resetAfter, backoffFactor, maxResetAfter, counts, probeLimit)(using runtime)
  )

  /** As `apply`, but makes the breaker at once, for use outside of tasks, with the clock of
    * `runtime`.
    */
  def unsafe(
      maxFailures: Int,
      resetAfter: FiniteDuration,
      backoffFactor: Double = 2,
      maxResetAfter: FiniteDuration = 1.minute,
      counts: Throwable => Boolean = _ => true,
      probeLimit: Duration = 1.minute
  )(using runtime: WeirRuntime): CircuitBreaker =
    require(
      maxFailures >= 1 && resetAfter > Duration.Zero && backoffFactor >= 1 &&
        probeLimit > Duration.Zero,
      s"CircuitBreaker: maxFailures was $maxFailures, resetAfter $resetAfter, " +
        s"backoffFactor $backoffFactor, probeLimit $probeLimit. They must be at least 1, " +
        "positive, at least 1, and positive."
    )
    val settings =
      Settings(maxFailures, resetAfter, backoffFactor, maxResetAfter, counts, probeLimit)
    new CircuitBreaker(settings, runtime.timers)

  private final class Settings(
      val maxFailures: Int,
      val resetAfter: FiniteDuration,
      backoffFactor: Double,
      maxResetAfter: FiniteDuration,
      val counts: Throwable => Boolean,
      probeLimit: Duration
  ):
    val probeLimitNanos: Long = probeLimit match
      case finite: FiniteDuration => finite.toNanos
      case _ => Long.MaxValue
    private val mostNanos = maxResetAfter.max(resetAfter).toNanos

    /** Returns the pause that follows one of `pauseNanos`. */
    def longer(pauseNanos: Long): Long =
      math.min(pauseNanos * backoffFactor, mostNanos.toDouble).toLong

  private sealed abstract class Condition(val name: State)

  private final case class Closed(failures: Int, epoch: Long) extends Condition(State.Closed)

  /** Refuses calls until its time is over. Then the next call is the probe. If the probe is
    * cancelled, the state is `open` again.
    */
  private sealed abstract class Waiting(name: State) extends Condition(name):
    def untilNanos: Long
    def open: Open
    final def isOver(nowNanos: Long): Boolean = nowNanos - untilNanos >= 0

  private final case class Open(untilNanos: Long, pauseNanos: Long, epoch: Long, error: Throwable)
      extends Waiting(State.Open):
    def open: Open = this

  private final case class HalfOpen(open: Open, untilNanos: Long) extends Waiting(State.HalfOpen)

/** The error of a call that a circuit breaker has refused. The cause is the last of the failures
  * that have opened the circuit. The next call is let through after `retryAfter`, which is zero
  * while a probe runs.
  */
final class CircuitOpen private[weir] (val retryAfter: FiniteDuration, lastFailure: Throwable)
    extends RuntimeException(
      s"CircuitBreaker: the circuit is open after $lastFailure, so the call was not made. " +
        (if retryAfter > Duration.Zero then
           s"One call is let through in ${DurationText(retryAfter)}: try again then."
         else "One call tests the service now: try again when it has ended."),
      lastFailure,
      true,
      false
    )

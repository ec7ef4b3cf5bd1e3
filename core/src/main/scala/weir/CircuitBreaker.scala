package weir

import java.util.concurrent.atomic.AtomicReference
import scala.concurrent.duration.{Duration, DurationInt, DurationLong, FiniteDuration}
import weir.runtime.Timers
import weir.task.Guarantee

/** Refuses calls to something that fails, and lets one through now and then to see whether it has
  * recovered.
  *
  * {{{
  * Closed --maxFailures in a row--> Open --a call after the pause--> HalfOpen
  *   ^                               ^ ^                              | | |
  *   |                               | +------the probe is cancelled--+ | |
  *   |                               +----the probe fails: longer pause-+ |
  *   +--------------------the probe succeeds------------------------------+
  * }}}
  *
  *   - **Shared**: `state`, which moves by CAS alone. Only the probe itself moves it out of
  *     HalfOpen, however the probe ends: by a finalizer, whose frame is on the stack before the
  *     state moves.
  *   - A call that began before the circuit opened says nothing about the time after: its `epoch`
  *     has ended.
  */
final class CircuitBreaker private (settings: CircuitBreaker.Settings, timers: Timers):
  import CircuitBreaker.{Closed, Condition, HalfOpen, Open}
  private val state = AtomicReference[Condition](Closed(0, 0))

  /** What `task` returns.
    *
    * **Cancelled**: says nothing about the circuit; if this call was the probe, the next call is.
    * **Fails** with the error of the task; with `CircuitOpen`, and without running the task, while
    * the circuit is open or another call is the probe that tries whether it can be closed.
    */
  def protect[A](task: Task[A]): Task[A] = Task.defer {
    state.get match
      case closed: Closed => watched(task, closed.epoch)
      case open: Open if open.isOver(timers.nanoTime) => probe(task)
      case open: Open =>
        Task.fail(CircuitOpen((open.untilNanos - timers.nanoTime).max(0).nanos, open.error))
      case HalfOpen(before) => Task.fail(CircuitOpen(Duration.Zero, before.error))
  }

  /** The present state. It is `Open` until a call comes after the pause. */
  def currentState: Task[CircuitBreaker.State] = Task.delay(state.get.name)

  private def watched[A](task: Task[A], epoch: Long): Task[A] = task.attempt.flatMap {
    case Right(value) =>
      succeeded(epoch)
      Task.pure(value)
    case Left(error) =>
      if settings.counts(error) then failed(epoch, error) else succeeded(epoch)
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
      state.get match
        case open: Open if open.isOver(timers.nanoTime) =>
          if state.compareAndSet(open, HalfOpen(open)) then
            Guarantee(poll(task), outcome => Task.delay(probed(open, outcome)))
          else poll(protect(task))
        case _ => poll(protect(task))
    }
  }

  private def probed(open: Open, outcome: Outcome[Any]): Unit = outcome match
    case Outcome.Succeeded(_) => state.set(recovered(open))
    case Outcome.Canceled => state.set(open)
    case Outcome.Failed(error) =>
      // `counts` is user's code, and may throw: the circuit must not stay half-open then.
      var next: Condition = opened(settings.longer(open.pauseNanos), open.epoch, error)
      try if !settings.counts(error) then next = recovered(open)
      finally state.set(next)

  private def recovered(open: Open): Closed = Closed(0, open.epoch + 1)

object CircuitBreaker:
  /** The state of a circuit. */
  enum State:
    /** Calls go through. */
    case Closed

    /** Calls are refused. */
    case Open

    /** One call has gone through, the probe, whose outcome decides; others are refused. */
    case HalfOpen

  /** A new breaker, closed. It opens after `maxFailures` calls in a row have failed. After
    * `resetAfter` the next call is let through; if it fails too, the pause becomes `backoffFactor`
    * times as long, up to `maxResetAfter`.
    *
    * An error for which `counts` is false, such as one about the caller's own input, is no failure:
    * the other side has answered. **Fails** with an `IllegalArgumentException` if `maxFailures` is
    * below 1, `resetAfter` not positive, or `backoffFactor` below 1.
    */
  def apply(
      maxFailures: Int,
      resetAfter: FiniteDuration,
      backoffFactor: Double = 2,
      maxResetAfter: FiniteDuration = 1.minute,
      counts: Throwable => Boolean = _ => true
  ): Task[CircuitBreaker] = Task.onRuntime(runtime =>
    unsafe(maxFailures, resetAfter, backoffFactor, maxResetAfter, counts)(using runtime)
  )

  /** As `apply`, made at once, for use outside of tasks, by the clock of `runtime`. */
  def unsafe(
      maxFailures: Int,
      resetAfter: FiniteDuration,
      backoffFactor: Double = 2,
      maxResetAfter: FiniteDuration = 1.minute,
      counts: Throwable => Boolean = _ => true
  )(using runtime: Runtime): CircuitBreaker =
    require(
      maxFailures >= 1 && resetAfter > Duration.Zero && backoffFactor >= 1,
      s"CircuitBreaker: maxFailures was $maxFailures, resetAfter $resetAfter, " +
        s"backoffFactor $backoffFactor. They must be at least 1, positive, and at least 1."
    )
    val settings = Settings(maxFailures, resetAfter, backoffFactor, maxResetAfter, counts)
    new CircuitBreaker(settings, runtime.timers)

  private final class Settings(
      val maxFailures: Int,
      val resetAfter: FiniteDuration,
      backoffFactor: Double,
      maxResetAfter: FiniteDuration,
      val counts: Throwable => Boolean
  ):
    private val mostNanos = maxResetAfter.max(resetAfter).toNanos

    /** The pause after one of `pauseNanos`. */
    def longer(pauseNanos: Long): Long =
      math.min(pauseNanos * backoffFactor, mostNanos.toDouble).toLong

  private sealed abstract class Condition(val name: State)

  private final case class Closed(failures: Int, epoch: Long) extends Condition(State.Closed)

  private final case class Open(untilNanos: Long, pauseNanos: Long, epoch: Long, error: Throwable)
      extends Condition(State.Open):
    def isOver(nowNanos: Long): Boolean = nowNanos - untilNanos >= 0

  private final case class HalfOpen(before: Open) extends Condition(State.HalfOpen)

/** A call was refused by a circuit breaker, after failures of which the cause is the last. The next
  * call is let through after `retryAfter`, which is zero while a probe runs.
  */
final class CircuitOpen private[weir] (val retryAfter: FiniteDuration, lastFailure: Throwable)
    extends RuntimeException(
      "CircuitBreaker: the call was not made, since calls before it have failed, the last with " +
        s"$lastFailure. " +
        (if retryAfter > Duration.Zero then
           s"Try again in ${retryAfter.toMillis} ms, when one call is let through."
         else "One call is trying now whether that is still so; try again when it has ended."),
      lastFailure,
      true,
      false
    )

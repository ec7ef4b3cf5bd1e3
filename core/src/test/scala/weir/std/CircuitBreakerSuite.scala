package weir.std

import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.std.CircuitBreaker.State
import weir.{Deferred, HandTimers, Outcome, StreamTests, Task, WeirRuntime}

class CircuitBreakerSuite extends StreamTests:

  /** A breaker by a clock that is moved by hand, and a service behind it. */
  private final class Hand(
      maxFailures: Int = 3,
      backoffFactor: Double = 2,
      maxResetAfter: FiniteDuration = 1.minute,
      counts: Throwable => Boolean = _ => true,
      probeLimit: Duration = 20.seconds
  ):
    val clock: HandTimers = HandTimers(CircuitBreakerSuite.this)
    given runtime: WeirRuntime = clock.runtime
    val breaker: CircuitBreaker =
      CircuitBreaker
        .unsafe(maxFailures, 10.seconds, backoffFactor, maxResetAfter, counts, probeLimit)
    val calls = AtomicInteger()
    val works: Task[Int] = breaker.protect(Task(calls.incrementAndGet()))
    val fails: Task[Int] =
      breaker.protect(Task(calls.incrementAndGet()).andThen(Task.fail(Boom("service"))))
    def state: State = breaker.currentState.runSync()
    def fail(times: Int): Unit =
      for _ <- 1 to times do intercept[Boom](fails.runSync()): Unit
    def refusal(): CircuitOpen =
      val before = calls.get
      val error = intercept[CircuitOpen](works.runSync())
      assertEquals(calls.get, before)
      error

  test("closed, it gives the task's value and errors"):
    val hand = Hand()
    import hand.given
    assertEquals(hand.works.runSync(), 1)
    hand.fail(1)
    assertEquals(hand.state, State.Closed)

  for maxFailures <- List(1, 2, 5) do
    test(s"it opens after $maxFailures failures in a row, and then refuses without calling"):
      val hand = Hand(maxFailures)
      import hand.given
      hand.fail(maxFailures - 1)
      assertEquals(hand.state, State.Closed)
      hand.works.runSync(): Unit
      hand.fail(maxFailures - 1)
      assertEquals(hand.state, State.Closed)
      hand.fail(1)
      assertEquals(hand.state, State.Open)
      val error = hand.refusal()
      assertEquals(error.retryAfter, 10.seconds)
      assert(error.getCause.isInstanceOf[Boom])
      assert(error.getMessage.contains("is let through in 10 s"), error.getMessage)

  test("after the pause one call goes through, others are refused until it has ended"):
    val hand = Hand()
    import hand.given
    hand.fail(3)
    hand.clock.pass(10.seconds - 1.nano)
    assertEquals(hand.refusal().retryAfter, 1.nano)
    hand.clock.pass(1.nano)
    assertEquals(hand.state, State.Open)
    val go = Deferred.unsafe[Unit]
    val probe = parked(hand.breaker.protect(go.get))
    assertEquals(hand.state, State.HalfOpen)
    assertEquals(hand.refusal().retryAfter, Duration.Zero)
    go.complete(()).runSync(): Unit
    probe.joinOrFail.runSync()
    assertEquals(hand.state, State.Closed)
    hand.fail(2)
    assertEquals(hand.state, State.Closed)

  test("a probe that fails makes the pause longer, up to the longest, and a success resets it"):
    val hand = Hand(maxResetAfter = 35.seconds)
    import hand.given
    hand.fail(3)
    for pause <- List(10, 20, 35, 35) do
      assertEquals(hand.refusal().retryAfter, pause.seconds)
      hand.clock.pass(pause.seconds)
      hand.fail(1)
    hand.clock.pass(35.seconds)
    hand.works.runSync(): Unit
    hand.fail(3)
    assertEquals(hand.refusal().retryAfter, 10.seconds)

  test("a backoff factor of 1 keeps the pause"):
    val hand = Hand(backoffFactor = 1)
    hand.fail(3)
    for _ <- 1 to 5 do
      assertEquals(hand.refusal().retryAfter, 10.seconds)
      hand.clock.pass(10.seconds)
      hand.fail(1)

  test("a cancelled probe says nothing: the next call is the probe, at once"):
    val hand = Hand()
    import hand.given
    hand.fail(3)
    hand.clock.pass(10.seconds)
    for _ <- 1 to 3 do
      val probe = parked(hand.breaker.protect(Task.never))
      assertEquals(hand.state, State.HalfOpen)
      probe.cancel.runSync()
      assertEquals(hand.state, State.Open)
    assertEquals(hand.works.runSync(), 4)
    assertEquals(hand.state, State.Closed)

  test("a probe that is cancelled before it begins leaves the circuit as it was"):
    val hand = Hand()
    import hand.given
    hand.fail(3)
    hand.clock.pass(10.seconds)
    val fiber = Task.uncancelable(poll => Task.canceled.andThen(poll(hand.works))).start
    assertEquals(fiber.flatMap(_.join).runSync(), Outcome.Canceled)
    assertEquals(hand.state, State.Open)
    hand.works.runSync(): Unit

  test("a probe in a masked region goes on through a cancel"):
    val hand = Hand()
    import hand.given
    hand.fail(3)
    hand.clock.pass(10.seconds)
    val go = Deferred.unsafe[Unit]
    val probe = parked(Task.uncancelable(_ => hand.breaker.protect(go.get)))
    val cancel = parked(probe.cancel)
    assertEquals(hand.state, State.HalfOpen)
    go.complete(()).runSync(): Unit
    cancel.joinOrFail.runSync()
    assertEquals(hand.state, State.Closed)

  test("a cancelled call while closed is no failure"):
    val hand = Hand(1)
    import hand.given
    val fiber = parked(hand.breaker.protect(Task.never))
    fiber.cancel.runSync()
    assertEquals(hand.state, State.Closed)

  test("errors that do not count open nothing, reset the count, and close a half-open circuit"):
    val hand = Hand(2, counts = !_.isInstanceOf[IllegalArgumentException])
    import hand.given
    val harmless = hand.breaker.protect(Task.fail(IllegalArgumentException("input")))
    for _ <- 1 to 5 do intercept[IllegalArgumentException](harmless.runSync())
    assertEquals(hand.state, State.Closed)
    hand.fail(1)
    intercept[IllegalArgumentException](harmless.runSync()): Unit
    hand.fail(1)
    assertEquals(hand.state, State.Closed)
    hand.fail(1)
    assertEquals(hand.state, State.Open)
    hand.clock.pass(10.seconds)
    intercept[IllegalArgumentException](harmless.runSync()): Unit
    assertEquals(hand.state, State.Closed)

  test("where the function for what counts throws, the circuit is not left half-open"):
    val hand = Hand(1, counts = error => if error.getMessage == "odd" then throw Boom() else true)
    import hand.given
    hand.fail(1)
    hand.clock.pass(10.seconds)
    intercept[RuntimeException](
      hand.breaker.protect(Task.fail(RuntimeException("odd"))).runSync()
    ): Unit
    assertEquals(hand.state, State.Open)
    hand.clock.pass(1.minute)
    hand.works.runSync(): Unit
    assertEquals(hand.state, State.Closed)

  test("calls that began before the circuit opened change nothing after that"):
    val hand = Hand(1)
    import hand.given
    val go = Deferred.unsafe[Unit]
    val late = parked(hand.breaker.protect(go.get.andThen(Task.fail(Boom("late"))))).join
    val good = parked(hand.breaker.protect(go.get))
    hand.fail(1)
    hand.clock.pass(10.seconds)
    hand.works.runSync(): Unit
    go.complete(()).runSync(): Unit
    assert(late.runSync().isInstanceOf[Outcome.Failed[?]])
    good.joinOrFail.runSync()
    assertEquals(hand.state, State.Closed)

  test("settings that make no sense are refused with the rule"):
    for make <- List(
        () => CircuitBreaker.unsafe(0, 1.second),
        () => CircuitBreaker.unsafe(1, 0.seconds),
        () => CircuitBreaker.unsafe(1, 1.second, 0.5),
        () => CircuitBreaker.unsafe(1, 1.second, probeLimit = Duration.Zero)
      )
    do
      val error = intercept[IllegalArgumentException](make())
      assert(error.getMessage.contains("They must be at least 1, positive"), error.getMessage)

  test("a probe that does not end within its limit is overtaken by the next call"):
    val hand = Hand(1)
    import hand.given
    hand.fail(1)
    hand.clock.pass(10.seconds)
    val stuck = parked(hand.breaker.protect(Task.never))
    hand.clock.pass(20.seconds - 1.nano)
    assertEquals(hand.refusal().retryAfter, Duration.Zero)
    hand.clock.pass(1.nano)
    assertEquals(hand.state, State.HalfOpen)
    hand.works.runSync(): Unit
    assertEquals(hand.state, State.Closed)
    stuck.cancel.runSync()
    assertEquals(hand.state, State.Closed)

  test("the end of a probe that was overtaken changes nothing, however it ends"):
    for end <- List[Task[Unit]](Task.unit, Task.fail(Boom("late")), Task.canceled) do
      val hand = Hand(1)
      import hand.given
      hand.fail(1)
      hand.clock.pass(10.seconds)
      val go = Deferred.unsafe[Unit]
      val first = parked(hand.breaker.protect(go.get >> end))
      hand.clock.pass(20.seconds)
      val second = parked(hand.breaker.protect(Task.never))
      hand.refusal(): Unit
      (go.complete(()) >> first.join).runSync(): Unit
      assertEquals(hand.state, State.HalfOpen)
      second.cancel.runSync()
      assertEquals(hand.state, State.Open)
      hand.works.runSync(): Unit
      assertEquals(hand.state, State.Closed)

  test("a probe that ends after its limit decides, if no other call came"):
    val hand = Hand(1)
    import hand.given
    hand.fail(1)
    hand.clock.pass(10.seconds)
    val go = Deferred.unsafe[Unit]
    val probe = parked(hand.breaker.protect(go.get))
    hand.clock.pass(1.hour)
    (go.complete(()) >> probe.joinOrFail).runSync()
    assertEquals(hand.state, State.Closed)

  test("without a limit, a probe is the only one for as long as it lasts"):
    val hand = Hand(1, probeLimit = Duration.Inf)
    import hand.given
    hand.fail(1)
    hand.clock.pass(10.seconds)
    val probe = parked(hand.breaker.protect(Task.never))
    hand.clock.pass(10_000.days)
    assertEquals(hand.refusal().retryAfter, Duration.Zero)
    probe.cancel.runSync()

  test("an error for which the function for what counts throws is the caller's, and counts"):
    val odd = Boom("odd")
    val hand = Hand(1, counts = _ => throw odd)
    import hand.given
    val boom = Boom()
    assertEquals(hand.breaker.protect(Task.fail(boom)).attempt.runSync(), Left(boom))
    assertEquals(boom.getSuppressed.toList, List(odd))
    assertEquals(hand.state, State.Open)
    hand.clock.pass(10.seconds)
    val second = Boom()
    assertEquals(hand.breaker.protect(Task.fail(second)).attempt.runSync(), Left(second))
    assertEquals(second.getSuppressed.toList, List(odd))
    assertEquals(hand.state, State.Open)

package weir.feeds.fetch

import java.time.Instant
import scala.concurrent.duration.*

import munit.FunSuite

class BackoffSuite extends FunSuite:
  private val backoff = Backoff(retries = 3, base = 500.millis, seed = 1)
  private val error = Failure(Reason.ServerError, "status 500")

  test("a wait is drawn below a ceiling that doubles"):
    for tries <- 1 to 3 do
      val waits = (1L to 200L).flatMap(backoff.waitFor(_, tries, error))
      val ceiling = 500.millis * (1L << (tries - 1))
      assertEquals(waits.size, 200)
      assert(waits.max <= ceiling)
      assert(waits.max > ceiling * 3 / 4)
      assert(waits.min < ceiling / 4)

  test("a seed gives the same waits again"):
    assertEquals(backoff.waitFor(7, 2, error), backoff.copy().waitFor(7, 2, error))

  test("there are no more tries than were asked for"):
    assertEquals(backoff.waitFor(1, 4, error), None)
    assertEquals(backoff.copy(retries = 0).waitFor(1, 1, error), None)

  test("what cannot recover is not tried again"):
    for reason <- Reason.values if !reason.mayRecover do
      assertEquals(backoff.waitFor(1, 1, Failure(reason, "")), None)
    assert(!Reason.NotFound.mayRecover && !Reason.Malformed.mayRecover)

  test("a server that asks for a pause gets it, and none that is too long for a run"):
    val asked = backoff.waitFor(1, 1, error.copy(retryAfter = Some(2.seconds))).get
    assert(asked >= 2.seconds && asked <= 2500.millis)
    assertEquals(backoff.waitFor(1, 1, error.copy(retryAfter = Some(1.hour))), None)

  test("Retry-After is seconds or a date, and at most a day"):
    val now = Instant.parse("2026-01-01T00:00:00Z")
    assertEquals(RetryAfter.parse(" 90 ", now), Some(90.seconds))
    assertEquals(RetryAfter.parse("Thu, 01 Jan 2026 00:01:00 GMT", now), Some(1.minute))
    assertEquals(RetryAfter.parse("Wed, 31 Dec 2025 00:00:00 GMT", now), Some(Duration.Zero))
    assertEquals(RetryAfter.parse("999999999", now), Some(1.day))
    assertEquals(RetryAfter.parse("soon", now), None)

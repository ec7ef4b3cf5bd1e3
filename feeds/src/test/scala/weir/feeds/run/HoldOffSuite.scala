package weir.feeds.run

import scala.concurrent.duration.*

import munit.FunSuite

import weir.feeds.fetch.{Failure, Reason}

class HoldOffSuite extends FunSuite:
  private val failure = Failure(Reason.NotFound, "status 404")

  test("the first failure counts as any check, each further one doubles the pause"):
    assertEquals(HoldOff.after(1, 1.hour, failure), Duration.Zero)
    assertEquals(HoldOff.after(2, 1.hour, failure), 2.hours)
    assertEquals(HoldOff.after(3, 1.hour, failure), 4.hours)

  test("a pause is at least some minutes and at most a week"):
    assertEquals(HoldOff.after(2, Duration.Zero, failure), 10.minutes)
    assertEquals(HoldOff.after(1000, 1.hour, failure), 7.days)
    assertEquals(HoldOff.after(1000, 3650.days, failure), 7.days)

  test("a server that asks for more gets it"):
    val asked = failure.copy(retryAfter = Some(5.hours))
    assertEquals(HoldOff.after(1, 1.hour, asked), 5.hours)
    assertEquals(HoldOff.after(9, 1.hour, asked), 7.days)

  test("a success is followed by the longest pause that was asked for, up to a day"):
    assertEquals(HoldOff.fresh(Nil), Duration.Zero)
    assertEquals(HoldOff.fresh(List(1.hour, 2.hours)), 2.hours)
    assertEquals(HoldOff.fresh(List(2.days)), 1.day)
    assertEquals(HoldOff.fresh(List(-1.hour)), Duration.Zero)

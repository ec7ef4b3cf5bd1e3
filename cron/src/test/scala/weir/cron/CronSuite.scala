package weir.cron

import java.time.{Instant, LocalDateTime, ZoneId, ZoneOffset}
import scala.concurrent.duration.*
import weir.testkit.WeirFunSuite
import weir.{Schedule, Stream, Task}

class CronSuite extends WeirFunSuite:

  /** The first `count` minutes after a local time, with their offsets. */
  private def after(local: String, expression: String, count: Int): List[String] =
    val zone = ZoneId.of("Europe/Berlin")
    val times = Cron.parse(expression)
    Iterator
      .iterate(Option(LocalDateTime.parse(local).atZone(zone).toInstant))(
        _.flatMap(Cron.following(times, _, zone))
      )
      .slice(1, count + 1)
      .flatten
      .map(_.atZone(zone).toOffsetDateTime.toString)
      .toList

  test("days of the week, and of the month, either of which counts"):
    assertEquals(
      after("2026-12-10T10:00", "0 9 13 * 5", 3),
      List("2026-12-11T09:00+01:00", "2026-12-13T09:00+01:00", "2026-12-18T09:00+01:00")
    )
    assertEquals(after("2026-12-10T10:00", "0 9 * * 7", 1), List("2026-12-13T09:00+01:00"))
    assertEquals(after("2026-12-10T10:00", "0 0 29 2 *", 1), List("2028-02-29T00:00+01:00"))

  test("a day that never comes ends the schedule"):
    assertEquals(after("2026-12-10T10:00", "0 0 30 2 *", 1), Nil)

  test("in spring the minutes that are skipped are skipped"):
    assertEquals(
      after("2026-03-29T01:30", "*/20 * * * *", 3),
      List("2026-03-29T01:40+01:00", "2026-03-29T03:00+02:00", "2026-03-29T03:20+02:00")
    )
    assertEquals(
      after("2026-03-28T01:00", "30 2 * * *", 2),
      List("2026-03-28T02:30+01:00", "2026-03-30T02:30+02:00")
    )

  test("in autumn a named hour comes once, and each hour twice where every hour is meant"):
    assertEquals(
      after("2026-10-24T12:00", "30 2 * * *", 2),
      List("2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00")
    )
    assertEquals(
      after("2026-10-25T02:00", "15 * * * *", 3),
      List("2026-10-25T02:15+02:00", "2026-10-25T02:15+01:00", "2026-10-25T03:15+01:00")
    )

  private def instants(texts: String*) = texts.toList.map(Instant.parse)

  test("a stream waits for the first minute"):
    Stream
      .fromSchedule(Schedule.cron("*/5 * * * *", ZoneOffset.UTC))
      .evalMap(_ => Task.realTime)
      .take(2)
      .toList
      .assertEquals(instants("1970-01-01T00:05:00Z", "1970-01-01T00:10:00Z"))

  test("a task that is repeated begins at once, and misses the minutes of a long run"):
    val times = List.newBuilder[Instant]
    val run = Task.realTime.map(times += _).andThen(Task.sleep(7.minutes))
    run
      .repeat(Schedule.cron("*/5 * * * *", ZoneOffset.UTC).times(2))
      .map(_ =>
        assertEquals(
          times.result(),
          instants("1970-01-01T00:00:00Z", "1970-01-01T00:10:00Z", "1970-01-01T00:20:00Z")
        )
      )

  // In 1970 Rome's clocks went from 0:00 to 1:00 on May 31, and from 1:00 to 0:00 on September 27.
  for (day, times) <- List(
      149 -> List("1970-05-29T23:30:00Z", "1970-05-31T22:30:00Z", "1970-06-01T22:30:00Z"),
      269 -> List("1970-09-26T22:30:00Z", "1970-09-27T23:30:00Z", "1970-09-28T23:30:00Z")
    )
  do
    test(s"in virtual time, around the change of the clocks after day $day"):
      val runs = Stream
        .fromSchedule(Schedule.cron("30 0 * * *", ZoneId.of("Europe/Rome")))
        .evalMap(_ => Task.realTime)
      Task.sleep(day.days - 2.hours).andThen(runs.take(3).toList).assertEquals(instants(times*))

  for bad <- List("", "* * * *", "* * * * * *", "60 * * * *", "a * * * *", "*/0 * * * *", "@daily")
  do
    test(s"'$bad' is refused with its reason, at once"):
      val error = intercept[IllegalArgumentException](Schedule.cron(bad, ZoneOffset.UTC))
      assert(
        error.getMessage.startsWith(s"Schedule.cron: '$bad' is not an expression of cron: "),
        error.getMessage
      )
      assert(error.getMessage.contains("It has five fields"), error.getMessage)

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
        _.flatMap(times.following(_, zone))
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

  test("a day that never comes is refused"):
    for never <- List("0 0 30 2 *", "0 0 31 4,6 *") do
      val error = intercept[IllegalArgumentException](Schedule.cron(never, ZoneOffset.UTC))
      assert(error.getMessage.endsWith(s"'$never' names a day that never comes."), error.getMessage)
    Schedule.cron("0 0 29 2 *", ZoneOffset.UTC): Unit

  test("either day counts, also by a step; a step from a minute; a range does not go down"):
    assertEquals(
      after("2026-12-10T10:00", "0 9 */9 * 5", 3),
      List("2026-12-11T09:00+01:00", "2026-12-18T09:00+01:00", "2026-12-19T09:00+01:00")
    )
    assertEquals(
      after("2026-12-10T10:00", "5/25 * * * *", 3),
      List("2026-12-10T10:05+01:00", "2026-12-10T10:30+01:00", "2026-12-10T10:55+01:00")
    )
    for down <- List("0 22-2 * * *", "0 9 * * fri-mon") do
      intercept[IllegalArgumentException](Schedule.cron(down, ZoneOffset.UTC)): Unit

  /** The minutes of three days from `from`, each of which comes once, and those of `hours`. */
  private def once(from: LocalDateTime, zone: ZoneId, hours: Set[Int], minutes: Set[Int]) =
    val start = from.atZone(zone)
    Iterator
      .iterate(start.plusMinutes(1))(_.plusMinutes(1))
      .takeWhile(_.toLocalDateTime.isBefore(from.plusDays(3)))
      .filter(time => hours(time.getHour) && minutes(time.getMinute))
      .filter(time => time.withEarlierOffsetAtOverlap.isEqual(time))
      .map(_.toInstant)
      .toList

  for
    zone <- List("Europe/Berlin", "Antarctica/Troll", "Australia/Lord_Howe")
    (expression, hours, minutes) <- List(
      ("0 2,3 * * *", Set(2, 3), Set(0)),
      ("0,30 2 * * *", Set(2), Set(0, 30)),
      ("*/30 2 * * *", Set(2), Set(0, 30)),
      ("0 1-4 * * *", (1 to 4).toSet, Set(0)),
      ("0 0-6 * * *", (0 to 6).toSet, Set(0)),
      ("30 1 * * *", Set(1), Set(30)),
      ("30 2 * * *", Set(2), Set(30))
    )
  do
    test(s"each named minute once where the clock changes: $expression in $zone"):
      val place = ZoneId.of(zone)
      for transition <- List("2026-01-01T00:00:00Z", "2026-07-01T00:00:00Z").map(text =>
          place.getRules.nextTransition(Instant.parse(text)).getDateTimeBefore
        )
      do
        val from = transition.toLocalDate.minusDays(1).atStartOfDay
        val end = from.plusDays(3).atZone(place).toInstant
        val cron = Cron.parse(expression)
        val found = Iterator
          .iterate(Option(from.atZone(place).toInstant))(_.flatMap(cron.following(_, place)))
          .drop(1)
          .flatten
          .takeWhile(_.isBefore(end))
          .toList
        assertEquals(found, once(from, place, hours, minutes))

  test("a step of hours names no hour: the one that comes twice counts twice"):
    assertEquals(
      after("2026-10-25T01:00", "0 */2 * * *", 3),
      List("2026-10-25T02:00+02:00", "2026-10-25T02:00+01:00", "2026-10-25T04:00+01:00")
    )

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

  test("in virtual time, a run of two minutes before the clock goes back is not repeated"):
    val runs = Stream
      .fromSchedule(Schedule.cron("30 0 * * *", ZoneId.of("Europe/Rome")))
      .evalMap(_ => Task.realTime.flatMap(Task.sleep(2.minutes).as(_)))
    Task
      .sleep(269.days - 2.hours)
      .andThen(runs.take(2).toList)
      .assertEquals(instants("1970-09-26T22:30:00Z", "1970-09-27T23:30:00Z"))

  for bad <- List("", "* * * *", "* * * * * *", "60 * * * *", "a * * * *", "*/0 * * * *", "@daily")
  do
    test(s"'$bad' is refused with its reason, at once"):
      val error = intercept[IllegalArgumentException](Schedule.cron(bad, ZoneOffset.UTC))
      assert(
        error.getMessage.startsWith(s"Schedule.cron: '$bad' is not an expression of cron: "),
        error.getMessage
      )
      assert(error.getMessage.contains("It has five fields"), error.getMessage)

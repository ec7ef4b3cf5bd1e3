package weir.feeds.parse

import java.time.{
  DateTimeException,
  Instant,
  LocalDate,
  LocalDateTime,
  LocalTime,
  ZoneId,
  ZoneOffset
}
import scala.util.Try

/** Reads a date as feeds write them, by what its parts look like and not by a list of formats.
  *
  * Three orders are distinguished: `2026-01-31` and its short forms, `31 Jan 2026` (RFC 822, with
  * or without a weekday) and `Jan 31 2026`; further `31.01.2026`, numbers of seconds or
  * milliseconds since 1970, and `20260131`. In `1/31/2026` the month is first if only that makes a
  * date, or if the hours have AM or PM; what is left, `01/02/2026`, could be either of two days,
  * and is none. A time and a zone may follow; without a zone it is UTC.
  *
  * **Strict where it matters**: 32 December is no date, nor is 25 o'clock. Only a weekday that does
  * not fit its date is put up with, since many programs compute it wrongly.
  */
private[parse] object FeedDate:
  /** Returns the moment that `text` names; none if it names none, or an implausible one. */
  def parse(text: String, now: Instant): Option[Instant] =
    Some(text.trim)
      .filter(_.length <= longest)
      .flatMap(moment)
      .flatMap(PlausibleDate.of(_, now))

  /** No date is longer, and a text that is no date may have megabytes. */
  private val longest = 100

  private def moment(text: String): Option[Instant] =
    text match
      case seconds() => Some(Instant.ofEpochSecond(text.takeWhile(_ != '.').toLong))
      case millis() => Some(Instant.ofEpochMilli(text.toLong))
      case _ =>
        for
          (date, rest) <- dateIn(text)
          (time, zone) <- timeIn(rest)
          moment = LocalDateTime.of(date, time)
          offset <- offsetAt(moment, zone)
        yield moment.toInstant(offset)

  private val seconds = """-?\d{9,10}(?:\.\d*)?""".r
  private val millis = """\d{13}""".r

  private val yearFirst = """(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?!\d)(.*)""".r
  private val yearFirstOtherwise = """(\d{4})([/.])(\d{1,2})\2(\d{1,2})(?!\d)(.*)""".r
  private val yearAlone = """(\d{4})""".r
  private val packedTime = """(\d{4})(\d{2})(\d{2})(\d{4}|\d{6})""".r
  private val packed = """(\d{4})(\d{2})(\d{2})(?!\d)(.*)""".r
  private val slashed = """(\d{1,2})/(\d{1,2})/(\d{4})(?!\d)(.*)""".r
  private val half = """(?i).*\d\s*[ap]\.?m\b.*""".r
  private val chinese = """(\d{4})年\s*(\d{1,2})月\s*(\d{1,2})日(?:\s*星期.)?(.*)""".r
  private val german = """(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)(.*)""".r
  private val dayFirst =
    ("""(\d{1,2})(?:st|nd|rd|th|º|\.)?(?:\s+|-|\s+de\s+|/)(\p{L}+)\.?,?(?:\s+de)?""" +
      """(?:\s+|-|/)(\d{4}|\d{2})(?!\d)(.*)""").r
  private val monthFirst =
    """(\p{L}+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(?!\d)(.*)""".r
  private val asctime =
    """(\p{L}{3})\s+(\d{1,2})\s+(\d{1,2}:\d{2}:\d{2})(\s+[\p{L}\d:+-]+)?\s+(\d{4})""".r

  private val word = """(\p{L}+)\.?(?:-feira)?(\s*,)?\s*(.*)""".r

  /** A name before a comma is that of a day, in any language. Otherwise it may be that of a month.
    */
  private def withoutWeekday(text: String): String =
    text match
      case word(name, comma, rest) if comma != null || Months.number(name).isEmpty => rest
      case _ => text

  /** Returns the date at the start of `text`, and what follows it. */
  private def dateIn(text: String): Option[(LocalDate, String)] =
    withoutWeekday(text) match
      case yearFirst(year, month, day, rest) => date(year, month, Option(day).getOrElse("1"), rest)
      case yearFirstOtherwise(year, _, month, day, rest) => date(year, month, day, rest)
      case packedTime(year, month, day, time) => date(year, month, day, time)
      case packed(year, month, day, rest) => date(year, month, day, rest)
      case yearAlone(year) => date(year, "1", "1", "")
      case chinese(year, month, day, rest) =>
        val isAfternoon = rest.contains("下午")
        date(year, month, day, rest.filter(_ < 128) + (if isAfternoon then " pm" else ""))
      case german(day, month, year, rest) => date(year, month, day, rest)
      case slashed(first, second, year, rest) =>
        if first.toInt > 12 then date(year, second, first, rest)
        else if second.toInt > 12 || half.matches(rest) then date(year, first, second, rest)
        else None
      case asctime(month, day, time, zone, year) =>
        Months
          .number(month)
          .flatMap(n => date(year, s"$n", day, s" $time ${Option(zone).getOrElse("")}"))
      case dayFirst(day, month, year, rest) =>
        Months.number(month).flatMap(n => date(fullYear(year), s"$n", day, rest))
      case monthFirst(month, day, year, rest) =>
        Months.number(month).flatMap(n => date(year, s"$n", day, rest))
      case _ => None

  private def date(
      year: String,
      month: String,
      day: String,
      rest: String
  ): Option[(LocalDate, String)] =
    Try(LocalDate.of(year.toInt, month.toInt, day.toInt)).toOption.map((_, rest))

  /** RFC 2822: two digits below 50 are in this century. */
  private def fullYear(year: String): String =
    if year.length == 4 then year else if year.toInt < 50 then s"20$year" else s"19$year"

  private val clock =
    ("""(?i)^[\s,T@_-]*(?:\p{L}+,?\s+)?(\d{1,2})(:\d{1,2}|\d{2})(:\d{1,2}|\d{2})?""" +
      """(?:[.,](\d+))?\s*(am|pm|a\.m\.|p\.m\.)?(?!\d)(.*)$""").r

  /** Returns the time at the start of `text`, or midnight; and what follows it. */
  private def timeIn(text: String): Option[(LocalTime, String)] =
    text match
      case clock(hour, minute, second, fraction, half, rest) =>
        Try {
          val hours = hourOfDay(hour.toInt, Option(half).map(_.toLowerCase.head))
          // A leap second, and the midnight at a day's end, are the nearest that `LocalTime` can
          // represent.
          if hours == 24 then LocalTime.MAX
          else
            val seconds = Option(second).fold(0)(number)
            if seconds > 60 then throw DateTimeException("no such second")
            val nanos = Option(fraction).fold(0)(_.take(9).padTo(9, '0').toInt)
            LocalTime.of(hours, number(minute), seconds min 59, nanos)
        }.toOption.map((_, rest))
      case _ => Some((LocalTime.MIDNIGHT, text))

  /** Of minutes or seconds, with or without their colon. */
  private def number(text: String): Int = text.stripPrefix(":").toInt

  private def hourOfDay(hour: Int, half: Option[Char]): Int =
    half match
      case Some('a') if hour == 12 => 0
      case Some('p') if hour < 12 => hour + 12
      case _ => hour

  private val numeric = """(?i)^(?:GMT|UTC|UT|Z)?\s*([+\-−])\s*(\d{1,2}):?(\d{2})?(?!\d).*""".r
  private val region = """^[(\[]?([A-Za-z]+(?:/[A-Za-z_]+)+).*""".r
  private val letters = """^\(?([A-Za-z]{1,5})\b.*""".r

  /** Returns the zone that `text`, which follows a time, names; UTC if it names none. */
  private def offsetAt(moment: LocalDateTime, text: String): Option[ZoneOffset] =
    text.trim match
      case numeric(sign, hours, minutes) =>
        val total = hours.toInt * 60 + Option(minutes).fold(0)(_.toInt)
        Try(ZoneOffset.ofTotalSeconds((if sign == "+" then total else -total) * 60)).toOption
      case region(name) => Try(ZoneId.of(name).getRules.getOffset(moment)).toOption
      case letters(name) => Some(Zones.offset(name))
      case _ => Some(ZoneOffset.UTC)

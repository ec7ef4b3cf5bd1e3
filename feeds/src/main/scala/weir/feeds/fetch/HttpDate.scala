package weir.feeds.fetch

import java.time.{Instant, LocalDateTime, ZoneOffset, ZonedDateTime}
import java.time.format.DateTimeFormatter
import java.time.temporal.ChronoUnit
import java.util.Locale
import scala.util.Try

/** Reads the dates of HTTP headers. */
private[fetch] object HttpDate:
  /** Returns the moment that `text` names, in one of the three forms of RFC 9110, section 5.6.7, or
    * with the dashes that cookies often have. A year of two digits is at most 50 years after `now`.
    */
  def parse(text: String, now: Instant = Instant.now()): Option[Instant] =
    val plain = text.trim.replace('-', ' ').replaceAll(" +", " ")
    Try(ZonedDateTime.parse(plain, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant)
      .orElse(Try(LocalDateTime.parse(plain, asctime).toInstant(ZoneOffset.UTC)))
      .toOption
      .orElse(shortYear(plain, now))

  /** As C prints it: `Sun Nov  6 08:49:37 1994`, in GMT. */
  private val asctime = DateTimeFormatter.ofPattern("EEE MMM d HH:mm:ss uuuu", Locale.ENGLISH)

  private val rfc850 = "[A-Za-z]+, ([0-9]{2} [A-Za-z]{3}) ([0-9]{2}) ([0-9:]{8}) GMT".r
  private val withoutDay = DateTimeFormatter.ofPattern("dd MMM uuuu HH:mm:ss", Locale.ENGLISH)

  /** `Sunday, 06-Nov-94 08:49:37 GMT`. */
  private def shortYear(plain: String, now: Instant): Option[Instant] =
    plain match
      case rfc850(day, year, time) =>
        Try(LocalDateTime.parse(s"$day 20$year $time", withoutDay)).toOption.map: date =>
          val latest = LocalDateTime.ofInstant(now, ZoneOffset.UTC).plus(50, ChronoUnit.YEARS)
          (if date.isAfter(latest) then date.minusYears(100) else date).toInstant(ZoneOffset.UTC)
      case _ => None

package weir.feeds.reader

import java.time.{Instant, ZoneId}
import java.time.format.DateTimeFormatter
import java.time.temporal.ChronoUnit

/** Formats moments for people in a time zone. They are given in milliseconds since 1970. Years of
  * more than four digits, which feeds may name, are shown as the nearest year of four digits.
  */
final class LocalTime(zone: ZoneId):
  private val minutes = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm").withZone(zone)

  /** `2026-11-20 09:30`. */
  def show(millis: Long): String = minutes.format(instant(millis))

  /** As ISO 8601 has it, with the offset of the zone. */
  def iso(millis: Long): String =
    DateTimeFormatter.ISO_OFFSET_DATE_TIME
      .format(instant(millis).truncatedTo(ChronoUnit.SECONDS).atZone(zone))

  private def instant(millis: Long) =
    Instant.ofEpochMilli(millis.max(LocalTime.first).min(LocalTime.last))

object LocalTime:
  private val first = Instant.parse("0001-01-02T00:00:00Z").toEpochMilli
  private val last = Instant.parse("9999-12-30T00:00:00Z").toEpochMilli

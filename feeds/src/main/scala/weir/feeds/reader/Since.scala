package weir.feeds.reader

import java.time.{Instant, LocalDate, LocalDateTime, OffsetDateTime, ZoneId}
import scala.util.Try

import weir.program.{BadInput, DurationText}

/** A moment in the past as users write it: `1d` ago, `2026-11-20`, `2026-11-20T09:30`. */
object Since:
  /** Returns the moment, in milliseconds since 1970. A date without a zone is one of `zone`.
    *
    * **Fails** with [[BadInput]] that names `option` if `text` is neither.
    */
  def parse(option: String, text: String, now: Instant, zone: ZoneId): Long =
    val trimmed = text.trim
    Try(LocalDate.parse(trimmed).atStartOfDay(zone).toInstant)
      .orElse(Try(LocalDateTime.parse(trimmed).atZone(zone).toInstant))
      .orElse(Try(OffsetDateTime.parse(trimmed).toInstant))
      .getOrElse(ago(option, text, now))
      .toEpochMilli

  private def ago(option: String, text: String, now: Instant): Instant =
    if !text.exists(_.isLetter) || text.contains('-') then
      throw BadInput(
        option,
        s"'$text' is neither a duration nor a date.",
        "Write it like 90m, 1d, 2026-11-20 or 2026-11-20T09:30."
      )
    now.minusMillis(DurationText.parse(option, text).toMillis)

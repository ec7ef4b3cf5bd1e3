package weir.feeds.fetch

import java.time.{Duration, Instant}
import scala.concurrent.duration.*

/** Reads the `Retry-After` header: a number of seconds, or a date. */
object RetryAfter:
  /** A server that asks for a longer pause is still asked again after a day. */
  val longest: FiniteDuration = 1.day

  /** Returns the wait from `now`; none if `text` is neither a number of seconds nor a date. */
  def parse(text: String, now: Instant): Option[FiniteDuration] =
    val trimmed = text.trim
    if trimmed.matches("[0-9]{1,9}") then Some(trimmed.toLong.seconds min longest)
    else
      HttpDate
        .parse(trimmed, now)
        .map(date => Duration.between(now, date).toMillis.max(0).millis min longest)

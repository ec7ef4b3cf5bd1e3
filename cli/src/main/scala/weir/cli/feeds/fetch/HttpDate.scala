package weir.cli.feeds.fetch

import java.time.{Instant, ZonedDateTime}
import java.time.format.DateTimeFormatter
import scala.util.Try

/** Reads the dates of HTTP headers. */
private[fetch] object HttpDate:
  /** The moment that `text` names, in the form of RFC 9110 or with the dashes that cookies often
    * have.
    */
  def parse(text: String): Option[Instant] =
    val plain = text.trim.replace('-', ' ')
    Try(ZonedDateTime.parse(plain, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant).toOption

package weir.feeds.fetch

import java.net.http.HttpHeaders
import java.time.{Duration, Instant}
import java.util.Locale
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

/** Computes for how long an answer is fresh by its own headers, after RFC 9111 for a private cache.
  */
private[fetch] object Freshness:
  /** A feed is checked at least once a day, even if its server says otherwise. */
  val longest: FiniteDuration = 1.day

  private val unusable = Set("no-cache", "no-store")
  private val seconds = "\"?([0-9]{1,18})\"?".r

  /** Returns the time from `now` to the moment when the answer may be out of date; none if it says
    * nothing, or that it must not be relied on.
    */
  def of(headers: HttpHeaders, now: Instant): Option[FiniteDuration] =
    val directives = headers
      .allValues("Cache-Control")
      .asScala
      .flatMap(_.toLowerCase(Locale.ROOT).split(','))
      .map(_.split("=", 2).map(_.trim))
    if directives.exists(directive => unusable(directive.head)) then None
    else
      directives.collectFirst { case Array("max-age", value) => value } match
        case Some(value) => number(value).flatMap(fresh => positive(fresh - age(headers)))
        case None => untilExpiry(headers, now).flatMap(left => positive(left - age(headers)))

  /** Returns the seconds between `Date` and `Expires`: both are of the server's clock. */
  private def untilExpiry(headers: HttpHeaders, now: Instant): Option[Long] =
    header(headers, "Expires")
      .flatMap(HttpDate.parse(_, now))
      .map: expires =>
        val date = header(headers, "Date").flatMap(HttpDate.parse(_, now)).getOrElse(now)
        Duration.between(date, expires).toSeconds

  /** Returns the age of the answer in seconds, as a cache on the way says: the time since its
    * server sent it.
    */
  private def age(headers: HttpHeaders): Long = header(headers, "Age").flatMap(number).getOrElse(0)

  private def number(text: String): Option[Long] =
    text.trim match
      case seconds(digits) => Some(digits.toLong)
      case _ => None

  private def positive(left: Long): Option[FiniteDuration] =
    Option.when(left > 0)(left.min(longest.toSeconds).seconds)

  private def header(headers: HttpHeaders, name: String): Option[String] =
    headers.allValues(name).asScala.headOption

package weir.cli.feeds.input

import java.net.{IDN, URI, URISyntaxException}
import scala.util.control.NonFatal

/** The address of a feed in its one normal form, so that equal addresses are equal strings.
  *
  * Scheme and host are lower case, an international host name is in its ASCII form, a default port
  * and a fragment are left out, an empty path is `/`. What the server may tell apart (the rest of
  * the path, a final slash, the query) is kept.
  */
final case class FeedUrl private (text: String):
  def uri: URI = URI(text)

  /** Host and port: what the limit per host counts by. */
  def host: String = uri.getAuthority

object FeedUrl:
  /** The address in `text`, or what is wrong with it. */
  def parse(text: String): Either[String, FeedUrl] =
    val trimmed = text.trim
    try
      val (scheme, rest) = trimmed.splitAt(trimmed.indexOf(':') max 0)
      if !rest.startsWith("://") || !Set("http", "https").contains(scheme.toLowerCase) then
        Left(s"'${shortened(trimmed)}' is not an http or https URL.")
      else normal(URI(s"${scheme.toLowerCase}://${asciiHost(rest.drop(3))}"))
    catch
      case bad: URISyntaxException =>
        Left(s"'${shortened(trimmed)}' is not a URL (${bad.getReason.toLowerCase}).")
      case NonFatal(_) => Left(s"'${shortened(trimmed)}' is not a URL.")

  /** An address that was in normal form when it was stored. */
  private[feeds] def stored(text: String): FeedUrl = new FeedUrl(text)

  /** What every message about a wrong address advises. */
  val hint = "Write it like https://example.org/feed.xml."

  private def normal(uri: URI): Either[String, FeedUrl] =
    val port = uri.getPort
    if uri.getHost == null || uri.getHost.isEmpty then
      Left(s"'${shortened(uri.toString)}' has no host.")
    else if uri.getRawUserInfo != null then
      Left(s"'${shortened(uri.toString)}' has a user name in it, which weir does not send.")
    else if port > 65535 || port == 0 then
      Left(s"'${shortened(uri.toString)}' has a port outside 1 to 65535.")
    else
      val default = if uri.getScheme == "https" then 443 else 80
      val portPart = if port == -1 || port == default then "" else s":$port"
      val path = Option(uri.getRawPath).filter(_.nonEmpty).getOrElse("/")
      val query = Option(uri.getRawQuery).fold("")("?" + _)
      Right(new FeedUrl(s"${uri.getScheme}://${uri.getHost.toLowerCase}$portPart$path$query"))

  /** `rest` (what follows `://`) with its host name in ASCII. */
  private def asciiHost(rest: String): String =
    val end = rest.indexWhere(char => "/?#".indexOf(char) >= 0)
    val (authority, tail) = if end < 0 then (rest, "") else rest.splitAt(end)
    val ascii = if authority.forall(_ < 128) then authority else IDN.toASCII(authority)
    ascii + tail.flatMap(char => if char < 128 then char.toString else percent(char))

  private def percent(char: Char): String =
    char.toString.getBytes("UTF-8").map(byte => f"%%${byte & 0xff}%02X").mkString

  private def shortened(text: String): String =
    if text.length <= 60 then text else text.take(57) + "..."

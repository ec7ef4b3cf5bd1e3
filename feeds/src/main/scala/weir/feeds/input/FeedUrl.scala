package weir.feeds.input

import java.net.URI

/** The address of a feed in its one normal form, so that equal addresses are equal strings.
  *
  * Scheme and host are lower case, an international host name is in its ASCII form, a default port
  * and a fragment are left out, an empty path is `/`, and `.` and `..` in it are resolved.
  * Characters that an address may not contain are percent-encoded. What a server may distinguish
  * (the rest of the path, a final slash, the query) is kept.
  */
final case class FeedUrl private (text: String):
  def uri: URI = URI(text)

  /** Returns host and port, by which the limit per host counts. */
  def host: String = uri.getAuthority

  /** Returns the host without its port; an IPv6 address is in brackets. */
  def hostName: String = host.replaceFirst(":[0-9]+$", "")

  def isHttps: Boolean = text.startsWith("https:")

  /** Returns true if a login for this address may be sent to `other`: it is at the same host and
    * port, and not less secure. The default ports of http and https count as the same.
    */
  def sharesLoginWith(other: FeedUrl): Boolean = host == other.host && (other.isHttps || !isHttps)

  /** Resolves `reference`, such as a `Location`, against this address. Returns the address or the
    * error.
    */
  def resolve(reference: String): Either[String, FeedUrl] =
    FeedUrl.normal(UrlParts.of(text).resolve(UrlParts.of(reference)), reference)

object FeedUrl:
  /** Parses the address in `text`. Returns the address or the error. */
  def parse(text: String): Either[String, FeedUrl] =
    normal(UrlParts.of(text), text)

  /** More than servers take, and all that an index of Postgres holds. */
  private val longest = 2_000

  /** Parses an address that a user has written. Returns the address or the error. Unlike [[parse]],
    * it accepts `feed:` before an address, or in place of `http:`, as feed readers do. It also
    * accepts a host and path without a scheme, which become `https:`. A [[Login]] in it is left
    * out.
    */
  def typed(text: String): Either[String, FeedUrl] =
    Login.split(text.trim)._2 match
      case long if long.length > longest => parse(long)
      case feedBefore(address) => parse(address)
      case feedFor(scheme, rest) => parse(s"${scheme.toLowerCase.replace("feed", "http")}://$rest")
      case host @ bare() => parse(s"https://$host")
      case other => parse(other)

  /** An address that was in normal form when it was stored. */
  private[feeds] def stored(text: String): FeedUrl = new FeedUrl(text)

  /** The advice of every message about a wrong address. */
  val hint = "Write it like https://example.org/feed.xml."

  private val feedBefore = "(?i)feeds?:(?://)?(https?:.*)".r
  private val feedFor = s"(?i)(feeds?):(?://)?($dotted.*)".r
  private val bare = s"$dotted(?::[0-9]{1,5})?(?:[/?#].*)?".r

  /** Returns a host name with a dot in it. A name without one might be a plain word of a text. */
  private def dotted = "[\\p{L}\\p{M}\\p{N}_-]+(?:\\.[\\p{L}\\p{M}\\p{N}_-]+)+"

  private val ports = "(?s)(.*?)(?::([0-9]*))?".r

  private def normal(parts: UrlParts, asked: String): Either[String, FeedUrl] =
    val (host, port) = parts.authority.getOrElse("") match
      case ports(host, port) => (host, Option(port).filter(_.nonEmpty).map(BigInt(_)))
    def wrong(problem: String) = Left(s"'${shortened(asked)}' $problem")
    if asked.length > longest then wrong(s"is longer than $longest characters.")
    else if !parts.scheme.exists(Set("http", "https")) then wrong("is not an http or https URL.")
    else if host.contains('@') then wrong("has a user name in it, which only you may give.")
    else if port.exists(number => number < 1 || number > 65535) then
      wrong("has a port outside 1 to 65535.")
    else
      HostName.ascii(host) match
        case Left(problem) => wrong(problem)
        case Right(ascii) =>
          val scheme = parts.scheme.get
          val usual = if scheme == "https" then 443 else 80
          val portPart = port.filter(_ != usual).fold("")(":" + _)
          val query = parts.query.fold("")("?" + PercentCode.query(_))
          Right(new FeedUrl(s"$scheme://$ascii$portPart${PercentCode.path(parts.plainPath)}$query"))

  private def shortened(text: String): String =
    val shown = text.trim.replaceFirst("://[^/?#]*@", "://***@")
    if shown.length <= 60 then shown else shown.take(57) + "..."

package weir.feeds.fetch

import java.time.Instant
import scala.util.Try

import weir.feeds.input.FeedUrl

/** The cookies that were set on one way from redirect to redirect, which are forgotten at its end.
  *
  * After RFC 6265, section 5; differs in that nothing is known of public suffixes, so that a domain
  * needs one dot. The JDK's CookieManager prints a cookie that it cannot read on standard error.
  */
private[fetch] final case class ChainCookies(cookies: Vector[ChainCookies.Cookie]):
  /** Returns the cookies after an answer of `url` with these values of `Set-Cookie`. */
  def set(url: FeedUrl, lines: Iterable[String], now: Instant): ChainCookies =
    lines.foldLeft(this)((jar, line) => ChainCookies.read(url, line, now).fold(jar)(jar.keep))

  /** Returns the value of `Cookie` that belongs into a request of `url`; none if it has no cookie.
    */
  def header(url: FeedUrl): Option[String] =
    val sent = cookies.filter(_.belongsTo(url)).sortBy(-_.path.length)
    Option.when(sent.nonEmpty)(sent.map(cookie => s"${cookie.name}=${cookie.value}").mkString("; "))

  private def keep(cookie: ChainCookies.Cookie): ChainCookies =
    val others = cookies.filterNot(_.key == cookie.key)
    ChainCookies(if cookie.isOver then others else (others :+ cookie).takeRight(ChainCookies.most))

private[fetch] object ChainCookies:
  val none: ChainCookies = ChainCookies(Vector.empty)

  /** The least that RFC 6265, section 6.1, asks for: cookies for a domain, and bytes for a cookie.
    */
  private val most = 50
  private val longest = 4096

  final case class Cookie(
      name: String,
      value: String,
      domain: String,
      isHostOnly: Boolean,
      path: String,
      isSecure: Boolean,
      isOver: Boolean
  ):
    def key: (String, String, String) = (name, domain, path)

    def belongsTo(url: FeedUrl): Boolean =
      val isOfDomain =
        if isHostOnly then url.hostName == domain else isWithin(url.hostName, domain)
      val asked = url.uri.getRawPath
      val isOnPath = asked == path || asked.startsWith(path.stripSuffix("/") + "/")
      isOfDomain && isOnPath && (!isSecure || url.isHttps)

  /** Returns the cookie in `line`; none if it is no cookie, or if `url` may not set it. */
  private def read(url: FeedUrl, line: String, now: Instant): Option[Cookie] =
    val parts = line.split(';').map(_.trim)
    val attributes = parts.drop(1).map(pair).toMap
    val domain = attributes.get("domain").map(_.toLowerCase.stripPrefix(".")).filter(_.nonEmpty)
    parts.headOption.getOrElse("").split("=", 2) match
      case Array(name, value)
          if !name.isBlank && line.length <= longest && !line.exists(Character.isISOControl) &&
            domain.forall(mayBeSet(url.hostName, _)) =>
        Some(
          Cookie(
            name = name.trim,
            value = value.trim,
            domain = domain.getOrElse(url.hostName),
            isHostOnly = domain.isEmpty,
            path = attributes.get("path").filter(_.startsWith("/")).getOrElse(folder(url)),
            isSecure = attributes.contains("secure"),
            isOver = isOver(attributes, now)
          )
        )
      case _ => None

  private def pair(text: String): (String, String) =
    val (name, value) = text.span(_ != '=')
    name.trim.toLowerCase -> value.drop(1).trim

  private def isOver(attributes: Map[String, String], now: Instant): Boolean =
    attributes.get("max-age").flatMap(text => Try(BigInt(text)).toOption) match
      case Some(seconds) => seconds <= 0
      case None => attributes.get("expires").flatMap(HttpDate.parse(_, now)).exists(_.isBefore(now))

  private def mayBeSet(host: String, domain: String): Boolean =
    host == domain || (isWithin(host, domain) && domain.contains('.'))

  /** An IP address is within itself alone. */
  private def isWithin(host: String, domain: String): Boolean =
    host == domain || (host.endsWith("." + domain) && !host.last.isDigit)

  private def folder(url: FeedUrl): String =
    val path = url.uri.getRawPath
    if path.lastIndexOf('/') <= 0 then "/" else path.take(path.lastIndexOf('/'))

package weir.feeds.fetch

import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}

import weir.feeds.input.FeedUrl

/** The chain of redirects from the address of a feed to the address of its body.
  *
  * Redirects are followed by hand, since only then can a loop be distinguished from a long chain,
  * and a permanent move from a temporary one.
  *
  * @param asked
  *   the requests so far: each address with the cookies that were sent there
  * @param hop
  *   the last address
  * @param trusted
  *   the addresses that may be private
  */
private[fetch] final case class Redirects(
    guard: AddressGuard,
    asked: Vector[(FeedUrl, Option[String])],
    hop: AddressGuard.Hop,
    trusted: Set[FeedUrl],
    cookies: ChainCookies,
    isPermanent: Boolean
):
  def current: FeedUrl = hop.url

  /** Returns the value of `Cookie` for the request of `current`. */
  def cookie: Option[String] = asked.last._2

  /** Returns the new address of the feed, if the move can be believed: every redirect was permanent
    * (301, 308), none led from https to http, and the body needs no cookie. The caller must check
    * that the body is a feed, since a provider's login page also comes by a redirect.
    */
  def movedTo: Option[FeedUrl] =
    val leftHttps = asked.head._1.isHttps && asked.exists(!_._1.isHttps)
    val isElsewhere = current != asked.head._1
    Option.when(isElsewhere && isPermanent && !leftHttps && cookie.isEmpty)(current)

  /** Returns the way with one more hop, to `location` as the server wrote it. The same address with
    * other cookies is not a loop: sites that want a cookie set it and redirect to themselves.
    *
    * **Fails** with [[Failure.Abandoned]] if it has been there, is too long, leads nowhere, or
    * where `guard` does not let it go.
    */
  def follow(
      status: Int,
      location: Option[String],
      after: ChainCookies = cookies
  ): Redirects =
    val next = location.map(text => current.resolve(Redirects.readable(text))) match
      case Some(Right(url)) => url
      case Some(Left(problem)) =>
        Failure.abandon(Reason.BadRedirect, s"status $status leads nowhere: $problem")
      case None => Failure.abandon(Reason.BadRedirect, s"status $status without a Location")
    val step = (next, after.header(next))
    if asked.contains(step) then
      Failure.abandon(Reason.RedirectLoop, s"${next.text} again after ${asked.size} hops")
    if asked.size > Redirects.limit then
      Failure.abandon(Reason.TooManyRedirects, s"more than ${Redirects.limit}")
    val reached = guard.next(hop, next)
    Redirects(
      guard,
      asked :+ step,
      reached,
      trusted ++ Redirects.trustedAt(reached),
      after,
      isPermanent && Redirects.permanent(status)
    )

private[fetch] object Redirects:
  /** Feeds behind a shortener, a move to https and a host name take three or four hops. */
  val limit = 8

  private val permanent = Set(301, 308)
  private val always = permanent ++ Set(302, 303, 307)

  /** Returns true if the answer leads elsewhere: 300 (several to choose from) only if it names a
    * choice.
    */
  def isRedirect(status: Int, location: Option[String]): Boolean =
    always(status) || (status == 300 && location.nonEmpty)

  def from(guard: AddressGuard, hop: AddressGuard.Hop): Redirects =
    Redirects(
      guard,
      Vector((hop.url, None)),
      hop,
      trustedAt(hop).toSet,
      ChainCookies.none,
      isPermanent = true
    )

  private def trustedAt(hop: AddressGuard.Hop): Option[FeedUrl] =
    Option.when(hop.mayBePrivate)(hop.url)

  /** `location` as UTF-8: the JDK reads the bytes of headers as ISO 8859-1. Bytes that are no UTF-8
    * are percent-encoded one by one, as browsers do.
    */
  private def readable(location: String): String =
    val bytes = location.getBytes(ISO_8859_1)
    try UTF_8.newDecoder.decode(ByteBuffer.wrap(bytes)).toString
    catch
      case _: CharacterCodingException =>
        location.flatMap(char => if char < 128 then char.toString else f"%%${char.toInt}%02X")

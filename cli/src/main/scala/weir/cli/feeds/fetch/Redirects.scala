package weir.cli.feeds.fetch

import java.net.URI

import weir.cli.feeds.input.FeedUrl

/** The way from the address of a feed to where its body is.
  *
  * Redirects are followed by hand, since only so a loop can be told from a long way, and a permanent
  * move from a temporary one.
  */
private[fetch] final case class Redirects(
    visited: Vector[FeedUrl],
    isPermanent: Boolean
):
  def current: FeedUrl = visited.last

  /** Where the feed lives now, if it may be believed: every hop said "for good" (301, 308), and none
    * led from https to http. That the body there is a feed is for the caller to see, since a
    * provider's login page also comes by a redirect.
    */
  def movedTo: Option[FeedUrl] =
    val leftHttps =
      visited.head.uri.getScheme == "https" && visited.exists(_.uri.getScheme == "http")
    Option.when(visited.size > 1 && isPermanent && !leftHttps)(current)

  /** The way with one more hop, to `location` as the server wrote it.
    *
    * '''Fails''' with [[Failure.Abandoned]] if it has been there, is too long, or leads nowhere.
    */
  def follow(status: Int, location: Option[String]): Redirects =
    val target = location
      .map(text => URI.create(current.text).resolve(text.trim.replace(" ", "%20")).toString)
      .getOrElse(Failure.abandon(Reason.BadRedirect, s"status $status without a Location"))
    val next = FeedUrl.parse(target) match
      case Right(url) => url
      case Left(problem) => Failure.abandon(Reason.BadRedirect, problem)
    if visited.contains(next) then
      Failure.abandon(Reason.RedirectLoop, s"${next.text} again after ${visited.size} hops")
    if visited.size > Redirects.limit then
      Failure.abandon(Reason.TooManyRedirects, s"more than ${Redirects.limit}")
    Redirects(visited :+ next, isPermanent && Redirects.permanent(status))

private[fetch] object Redirects:
  /** Feeds behind a shortener, a move to https and a host name take three or four hops. */
  val limit = 8

  private val permanent = Set(301, 308)
  private val all = permanent ++ Set(302, 303, 307)

  def isRedirect(status: Int): Boolean = all(status)

  def from(url: FeedUrl): Redirects = Redirects(Vector(url), isPermanent = true)

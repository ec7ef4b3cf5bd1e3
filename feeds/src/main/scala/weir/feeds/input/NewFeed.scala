package weir.feeds.input

import scala.concurrent.duration.*

/** A feed to add to the database.
  *
  * @param expected
  *   the time that fetching it is assumed to take, until a fetch has shown it. Feeds are fetched
  *   longest first, so that no long one begins when all else is done.
  * @param login
  *   the login that the user gave with the address
  */
final case class NewFeed(
    url: FeedUrl,
    title: Option[String],
    expected: FiniteDuration = NewFeed.usual,
    login: Option[Login] = None
)

object NewFeed:
  /** The time assumed for a feed that nothing is known about. */
  val usual: FiniteDuration = 1.second

  /** Parses the feed that a user has written. Returns the feed or the error. A title that repeats
    * the address with its login is dropped.
    */
  def typed(text: String, title: Option[String] = None): Either[String, NewFeed] =
    val (login, _) = Login.split(text.trim)
    val shown = title.filter(text => login.isEmpty || Login.split(text.trim)._1.isEmpty)
    FeedUrl.typed(text).map(NewFeed(_, shown, login = login))

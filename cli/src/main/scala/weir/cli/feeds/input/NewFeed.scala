package weir.cli.feeds.input

import scala.concurrent.duration.*

/** A feed that is to be added to the database.
  *
  * @param expected
  *   how long fetching it is thought to take, until a fetch has shown it. Feeds are fetched longest
  *   first, so that no long one begins when all else is done.
  */
final case class NewFeed(
    url: FeedUrl,
    title: Option[String],
    expected: FiniteDuration = NewFeed.usual
)

object NewFeed:
  /** What is assumed of a feed that nothing is known about. */
  val usual: FiniteDuration = 1.second

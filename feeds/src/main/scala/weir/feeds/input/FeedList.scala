package weir.feeds.input

import weir.program.BadInput

/** The content of a user's files: the feeds, each address once, and the problems, each with its
  * place.
  */
final case class FeedList(feeds: Vector[NewFeed], problems: Vector[BadInput]):
  def ++(other: FeedList): FeedList =
    FeedList((feeds ++ other.feeds).distinctBy(_.url), problems ++ other.problems)

object FeedList:
  val empty: FeedList = FeedList(Vector.empty, Vector.empty)

  /** Returns the list for the results of reading each entry. */
  def of(entries: Iterable[Either[BadInput, NewFeed]]): FeedList =
    val (problems, feeds) = entries.toVector.partitionMap(identity)
    FeedList(feeds.distinctBy(_.url), problems)

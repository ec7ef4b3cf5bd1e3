package weir.cli.feeds.manage

import weir.cli.feeds.store.ListedFeed

/** By what lists of feeds are sorted. */
enum FeedSort:
  case Url
  case Title

  /** The latest check first; those that have had none last. */
  case Checked

  /** The next check first; those that will have none last. */
  case Next

  /** The most first. */
  case Failures

  /** The most first. */
  case Items

  /** The feeds in that order; those that are equal in it stay as they are. */
  def apply(feeds: Vector[ListedFeed], staleMillis: Long): Vector[ListedFeed] = this match
    case Url => feeds.sortBy(_.url)
    case Title => feeds.sortBy(feed => feed.title.getOrElse(feed.url).toLowerCase)
    case Checked => feeds.sortBy(feed => -feed.checkedAt.getOrElse(0L))
    case Next => feeds.sortBy(_.dueAt(staleMillis).getOrElse(Long.MaxValue))
    case Failures => feeds.sortBy(feed => -feed.failures)
    case Items => feeds.sortBy(feed => -feed.items)

object FeedSort:
  /** The words of the option. */
  val words: Seq[(String, FeedSort)] = values.toSeq.map(sort => sort.toString.toLowerCase -> sort)

package weir.feeds.manage

import weir.feeds.store.ListedFeed

/** The orders of lists of feeds. */
enum FeedSort:
  case Url
  case Title

  /** The latest check first; feeds without a check last. */
  case Checked

  /** The next check first; feeds without a next check last. */
  case Next

  /** The most first. */
  case Failures

  /** The most first. */
  case Items

  /** Sorts the feeds in this order. The sort is stable. */
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

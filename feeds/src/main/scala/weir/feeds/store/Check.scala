package weir.feeds.store

import weir.feeds.input.FeedUrl

/** The findings of one check of a feed. They are stored in one transaction, all or none.
  *
  * @param detail
  *   more about the outcome: the error, or the fault that was tolerated
  * @param holdOffMillis
  *   the time for which not to fetch the feed, if that is longer than `--stale`
  * @param isGone
  *   true if the server has said that the feed is gone for good
  * @param movedTo
  *   the new address, if the old one may be replaced for good
  * @param livesAt
  *   the address of the feed that a page led to. It replaces the page's address, if only the page
  *   was ever found there
  * @param found
  *   the content of the feed, if it is new; otherwise its title and items stay
  * @param renewed
  *   the validators that came with an answer that nothing is new; missing ones stay
  * @param trusted
  *   the addresses on the way that may be private, as those that the user gave
  */
final case class Check(
    feed: DueFeed,
    atMillis: Long,
    tookMillis: Long,
    outcome: String,
    detail: Option[String],
    failures: Int,
    holdOffMillis: Long,
    isGone: Boolean,
    movedTo: Option[FeedUrl],
    livesAt: Option[FeedUrl],
    found: Option[Check.Found],
    renewed: Option[Check.Validators] = None,
    trusted: Set[FeedUrl] = Set.empty
)

/** The numbers of items that a check has stored.
  *
  * @param fresh
  *   the number of items that are new
  * @param changed
  *   the number of items whose content has changed
  */
final case class Recorded(fresh: Int, changed: Int)

object Check:
  final case class Found(
      about: FeedAbout,
      etag: Option[String],
      lastModified: Option[String],
      ttlMillis: Long,
      items: Vector[Item],
      skips: SkippedTimes = SkippedTimes.none
  )

  /** The values that the next request sends, so that the server can say that nothing is new. */
  final case class Validators(etag: Option[String], lastModified: Option[String])

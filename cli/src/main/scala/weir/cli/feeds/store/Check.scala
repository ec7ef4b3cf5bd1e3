package weir.cli.feeds.store

import weir.cli.feeds.input.FeedUrl

/** What one check of a feed found out: all of it is stored in one transaction, or none.
  *
  * @param detail
  *   more about the outcome: what went wrong, or what was put up with
  * @param holdOffMillis
  *   how long to leave the feed alone, if that is longer than `--stale`
  * @param isGone
  *   whether the server has said that the feed is gone for good
  * @param movedTo
  *   the new address, if the old one may be replaced for good
  * @param livesAt
  *   the address of the feed that a page led to; it replaces the page's, if nothing was ever found
  *   under that but the page
  * @param found
  *   what the feed said, if it said anything new; else its title and items stay
  * @param renewed
  *   the validators that came with an answer that nothing is new; those that did not come stay
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

/** What a check has stored.
  *
  * @param fresh
  *   how many items are new
  * @param changed
  *   how many say something else than before
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

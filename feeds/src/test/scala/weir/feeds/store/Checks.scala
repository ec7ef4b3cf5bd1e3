package weir.feeds.store

/** The findings of checks in tests, of which each test names what it is about. */
private[store] object Checks:
  /** A check that has found `items`. */
  def fetched(
      feed: DueFeed,
      atMillis: Long,
      items: Iterable[Item],
      about: FeedAbout = FeedAbout(None),
      etag: Option[String] = None
  ): Check = Check(
    feed,
    atMillis,
    tookMillis = 5,
    outcome = "fetched",
    detail = None,
    failures = 0,
    holdOffMillis = 0,
    isGone = false,
    movedTo = None,
    livesAt = None,
    found = Some(Check.Found(about, etag, None, ttlMillis = 0, items.toVector))
  )

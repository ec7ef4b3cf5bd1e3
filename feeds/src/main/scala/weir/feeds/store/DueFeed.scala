package weir.feeds.store

import weir.feeds.input.{FeedUrl, Login}

/** A due feed, with the results of its last check.
  *
  * @param isGiven
  *   true if the user gave the address, so that it may be private
  * @param login
  *   the login for this address alone
  */
final case class DueFeed(
    id: Long,
    url: FeedUrl,
    etag: Option[String],
    lastModified: Option[String],
    failures: Int,
    ttlMillis: Long,
    expectedMillis: Long,
    isGiven: Boolean = true,
    login: Option[Login] = None
):
  /** Returns the same feed at an address that a server names. */
  def at(named: FeedUrl): DueFeed =
    copy(
      url = named,
      etag = None,
      lastModified = None,
      isGiven = false,
      login = login.filter(_ => url.sharesLoginWith(named))
    )

package weir.feeds.site

/** The behaviours of feeds of the local site: good feeds, and the faults that real feeds have.
  *
  * @param share
  *   the number of feeds among 500 that behave so. A site has at least one of each kind that has a
  *   share
  */
enum Kind(val share: Int):
  case Plain extends Kind(0)

  /** A document of 7 MB. */
  case Large extends Kind(0)
  case MovedForNow extends Kind(16)
  case MovedForGood extends Kind(14)
  case RecoversFromServerError extends Kind(16)
  case RecoversFromReset extends Kind(6)
  case Busy extends Kind(6)
  case WrongEncoding extends Kind(10)
  case ExternalEntity extends Kind(8)
  case NotFound extends Kind(18)
  case Gone extends Kind(4)
  case ServerError extends Kind(5)
  case Reset extends Kind(6)
  case Trickle extends Kind(6)
  case Endless extends Kind(4)
  case HugeAnnounced extends Kind(2)
  case HugeSilent extends Kind(2)
  case GzipBomb extends Kind(2)
  case Malformed extends Kind(4)
  case NotQuiteXml extends Kind(6)
  case Truncated extends Kind(6)
  case UnknownEncoding extends Kind(4)
  case EntityBomb extends Kind(2)
  case RedirectLoop extends Kind(6)

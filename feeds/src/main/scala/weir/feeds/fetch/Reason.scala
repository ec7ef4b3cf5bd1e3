package weir.feeds.fetch

/** The ways in which the check of a feed can end: the rows of the table of outcomes, in its order.
  *
  * @param isFailure
  *   true if the feed counts as failed, and is left alone for longer each time
  * @param mayRecover
  *   true if trying again within the same run can help
  */
enum Reason(val text: String, val isFailure: Boolean = true, val mayRecover: Boolean = false):
  case Fetched extends Reason("fetched", isFailure = false)
  case EncodingRecovered extends Reason("fetched, wrong encoding recovered", isFailure = false)
  case EntityLeftOut extends Reason("fetched, external entity left out", isFailure = false)
  case Recovered extends Reason("fetched, malformed XML recovered", isFailure = false)
  case Truncated extends Reason("fetched, truncated", isFailure = false)
  case FoundOnPage extends Reason("fetched, found through its page", isFailure = false)
  case NotModified extends Reason("not modified", isFailure = false)
  case HostHeld extends Reason("held, its host wants a pause", isFailure = false)
  case NotFound extends Reason("404 not found")
  case Gone extends Reason("410 gone, asked again in a month")
  case Denied extends Reason("401 or 403, access denied")
  case ClientError extends Reason("other 4xx, request refused")
  case TooManyRequests extends Reason("429 too many requests", mayRecover = true)
  case ServerError extends Reason("server error", mayRecover = true)
  case Reset extends Reason("connection reset", mayRecover = true)
  case ConnectTimedOut extends Reason("connecting timed out", mayRecover = true)
  case NoConnection extends Reason("no connection")
  case UnknownHost extends Reason("unknown host")
  case Insecure extends Reason("TLS failed")
  case TimedOut extends Reason("timed out")
  case TooLarge extends Reason("too large")
  case BrokenPacking extends Reason("broken compression")
  case WrongEncoding extends Reason("wrong encoding, refused")
  case Malformed extends Reason("malformed XML")
  case Unreadable extends Reason("could not be read")
  case NotStored extends Reason("could not be stored")
  case EntityBomb extends Reason("entity expansion refused")
  case NotAFeed extends Reason("not a feed")
  case RedirectLoop extends Reason("redirect loop")
  case TooManyRedirects extends Reason("too many redirects")
  case NotHttp extends Reason("not an answer of HTTP")
  case BadRedirect extends Reason("redirect to nowhere")
  case PrivateAddress extends Reason("private address, refused")
  case OtherAnswer extends Reason("unexpected answer")

  /** Returns the row of the table in which it counts. After several tries, the row has their
    * number.
    */
  def row(tries: Int): String =
    if isFailure && mayRecover then
      if tries == 1 then s"$text after 1 try" else s"$text after $tries tries"
    else text

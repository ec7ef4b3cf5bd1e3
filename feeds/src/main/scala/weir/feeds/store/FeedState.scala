package weir.feeds.store

/** Says if a feed is to be checked.
  *
  * @param number
  *   its number in the column `disabled`
  */
enum FeedState(val number: Int):
  /** It is checked when it is due. */
  case Active extends FeedState(0)

  /** Its server has said that it is gone: it is checked when a long hold-off has passed. */
  case Gone extends FeedState(1)

  /** The user has disabled it: it is not checked. */
  case Disabled extends FeedState(2)

object FeedState:
  def of(number: Int): FeedState = values.find(_.number == number).getOrElse(Active)

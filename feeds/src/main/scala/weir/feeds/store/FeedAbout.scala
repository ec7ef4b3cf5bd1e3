package weir.feeds.store

/** A feed's description of itself, for its readers.
  *
  * @param home
  *   the address of the page that it is the feed of
  * @param language
  *   as the feed has it, usually like `en-GB`
  * @param picture
  *   the address of a picture for the feed
  */
final case class FeedAbout(
    title: Option[String],
    home: Option[String] = None,
    language: Option[String] = None,
    picture: Option[String] = None
)

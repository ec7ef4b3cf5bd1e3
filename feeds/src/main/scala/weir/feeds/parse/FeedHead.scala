package weir.feeds.parse

import java.time.DayOfWeek
import scala.concurrent.duration.*

import weir.feeds.store.{FeedAbout, SkippedTimes}

/** The part of a feed besides its entries.
  *
  * @param ttl
  *   the time for which it asks not to be fetched after a check, at most a day
  * @param skips
  *   the times at which it asks not to be fetched
  * @param newUrl
  *   the new address that it announces
  */
final case class FeedHead(
    about: FeedAbout,
    ttl: Option[FiniteDuration] = None,
    skips: SkippedTimes = SkippedTimes.none,
    newUrl: Option[String] = None
)

private[parse] object FeedHead:
  /** Reads the head of an XML feed from `channel`, an element of `root`. */
  def read(root: Node, channel: Node): FeedHead =
    FeedHead(
      about = FeedAbout(
        title = channel.named("title").flatMap(Markup.plain).nextOption().map(Clean.text),
        home = EntryReader.page(channel).map(Clean.text),
        language = language(root, channel),
        picture = picture(root, channel).map(Clean.text)
      ),
      ttl = (texts(channel, "ttl").flatMap(minutes) ++ period(channel)).maxOption,
      skips = SkippedTimes.of(
        hours = listed(channel, "skiphours", "hour").flatMap(hour).toSet,
        days = listed(channel, "skipdays", "day").flatMap(day).toSet
      ),
      newUrl = texts(channel, "itunes:new-feed-url").map(_.trim).find(_.nonEmpty)
    )

  private def texts(node: Node, name: String): Iterator[String] = node.named(name).map(_.text)

  private def listed(channel: Node, list: String, name: String): Iterator[String] =
    channel.named(list).flatMap(texts(_, name)).map(_.trim)

  private def language(root: Node, channel: Node): Option[String] =
    (texts(channel, "language") ++ texts(channel, "dc:language") ++
      channel.attribute("xml:lang") ++ root.attribute("xml:lang"))
      .map(text => Clean.text(text).trim)
      .find(text => text.nonEmpty && text.length <= longestLanguage)

  private val longestLanguage = 100

  /** RSS 1.0 has the picture beside the channel. */
  private def picture(root: Node, channel: Node): Option[String] =
    val ofRss =
      (channel.named("image") ++ root.named("image")).flatMap(_.named("url")).flatMap(address)
    val ofItunes = channel
      .named("itunes:image")
      .flatMap: image =>
        image.attribute("href").flatMap(Link.resolve(image.base, _))
    val ofAtom = List("logo", "icon").iterator.flatMap(channel.named).flatMap(address)
    (ofRss ++ ofItunes ++ ofAtom).nextOption()

  private def address(node: Node): Option[String] = Link.resolve(node.base, node.text)

  private val longest = 1.day

  private def minutes(text: String): Option[FiniteDuration] =
    text.trim.toLongOption.filter(m => m > 0 && m <= longest.toMinutes).map(_.minutes)

  /** Reads RSS's module for syndication: a number of times in a period, once if no number is given.
    */
  private def period(channel: Node): Option[FiniteDuration] =
    for
      name <- texts(channel, "sy:updateperiod").map(text => Node.lower(text.trim)).nextOption()
      whole <- periods.get(name)
      times = texts(channel, "sy:updatefrequency").flatMap(_.trim.toIntOption).find(_ > 0)
    yield (whole / times.getOrElse(1).toLong).min(longest)

  private val periods = Map(
    "hourly" -> 1.hour,
    "daily" -> 1.day,
    "weekly" -> 7.days,
    "monthly" -> 30.days,
    "yearly" -> 365.days
  )

  /** Old feeds count the hours from 1 to 24, so that the last is the first of the day. */
  private def hour(text: String): Option[Int] =
    text.toIntOption.filter(hour => hour >= 0 && hour <= 24).map(_ % 24)

  private def day(text: String): Option[DayOfWeek] =
    DayOfWeek.values.find(_.name.equalsIgnoreCase(text))

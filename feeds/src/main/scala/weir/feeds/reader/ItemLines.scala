package weir.feeds.reader

import org.jsoup.Jsoup

import weir.feeds.store.{Enclosure, ItemQuery, ListedItem}

/** The forms in which an item is printed. None lets a control character of a feed through. */
final class ItemLines(times: LocalTime):
  /** Two lines for people: when, what and whose in at most `columns`, and the link, which is never
    * cut.
    */
  def forTerminal(item: ListedItem, columns: Int): String =
    val date = s"${times.show(when(item))}  "
    val room = (columns - date.length - ItemLines.separator.length).max(ItemLines.leastRoom)
    val feed = PlainText.cut(feedTitle(item), room / 3)
    val title = PlainText.cut(itemTitle(item), room - PlainText.width(feed))
    val link = item.url.fold("")(url => s"${" " * date.length}${PlainText.line(url)}\n")
    s"$date$title${ItemLines.separator}$feed\n$link"

  /** Returns a line for programs: date, feed, title and link, separated by tabs. */
  def withTabs(item: ListedItem): String =
    val link = PlainText.line(item.url.getOrElse(""))
    s"${times.iso(when(item))}\t${feedTitle(item)}\t${itemTitle(item)}\t$link\n"

  /** Returns a JSON object on a line, with the unchanged values of the database, so its HTML is not
    * sanitized.
    */
  def json(item: ListedItem, details: ItemQuery.Details): String =
    val about = details.feed
    val fields = ujson.Obj(
      "id" -> ujson.Num(item.id.toDouble),
      "feed" -> ujson.Obj(
        "url" -> item.feedUrl,
        "title" -> text(about.title),
        "home" -> text(about.home),
        "language" -> text(about.language),
        "picture" -> text(about.picture)
      ),
      "title" -> text(item.title),
      "url" -> text(item.url),
      "published" -> text(item.publishedAt.map(times.iso)),
      "firstSeen" -> times.iso(item.firstSeenAt),
      "changed" -> text(item.changedAt.map(times.iso)),
      "authors" -> ujson.Arr.from(details.authors),
      "categories" -> ujson.Arr.from(details.categories),
      "enclosures" -> ujson.Arr.from(details.enclosures.map(enclosure)),
      "summary" -> text(details.summary),
      "content" -> text(details.content)
    )
    s"${ItemLines.escaped(ujson.write(fields))}\n"

  private def text(value: Option[String]) = value.fold[ujson.Value](ujson.Null)(ujson.Str(_))

  private def enclosure(file: Enclosure): ujson.Value =
    def number(value: Option[Long]) =
      value.fold[ujson.Value](ujson.Null)(number => ujson.Num(number.toDouble))
    ujson.Obj(
      "url" -> file.url,
      "type" -> text(file.kind),
      "length" -> number(file.length),
      "duration" -> number(file.seconds)
    )

  private def when(item: ListedItem) = item.publishedAt.getOrElse(item.firstSeenAt)

  private def feedTitle(item: ListedItem) =
    ItemLines.titleOr(item.feedTitle, item.feedUrl)

  private def itemTitle(item: ListedItem) = ItemLines.title(item)

object ItemLines:
  private val separator = " · "

  /** On a narrower terminal the line wraps: less of it would say nothing. */
  private val leastRoom = 30

  /** Returns the name of the item: its title, or the beginning of its text, or its address. */
  private[reader] def title(item: ListedItem): String =
    val opening = item.opening.map: html =>
      PlainText.cut(PlainText.line(Jsoup.parseBodyFragment(html).text), openingColumns)
    titleOr(item.title.orElse(opening), item.url.getOrElse("(no title)"))

  private val openingColumns = 100

  /** Returns the title, or `other` if nothing is left of it. */
  private[reader] def titleOr(title: Option[String], other: String): String =
    title.map(PlainText.line).filter(_.nonEmpty).getOrElse(PlainText.line(other))

  /** JSON leaves DEL, C1 and characters that change the direction as they are; they can only be in
    * a string, where an escape means the same.
    */
  private def escaped(json: String): String =
    if json.forall(char => char >= ' ' && char < 0x7f) then json
    else
      json.flatMap: char =>
        Character.getType(char) match
          case Character.CONTROL | Character.FORMAT | Character.SURROGATE |
              Character.LINE_SEPARATOR | Character.PARAGRAPH_SEPARATOR =>
            f"\\u${char.toInt}%04x"
          case _ => char.toString

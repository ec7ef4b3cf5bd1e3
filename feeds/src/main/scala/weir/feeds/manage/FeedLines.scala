package weir.feeds.manage

import weir.feeds.reader.{LocalTime, PlainText}
import weir.feeds.store.{FeedState, ListedFeed}
import weir.program.Text

/** The forms in which a feed is printed. None lets a control character of a feed through but JSON,
  * which escapes it.
  */
private[manage] final class FeedLines(times: LocalTime, staleMillis: Long):
  import FeedLines.*

  /** The headings of the columns of `forTerminal`. */
  val heading: String = row("state", "last check", "next check", "failures", "items", "feed")

  /** Two lines for people: how it goes, in at most `columns`, and the address, which is never cut,
    * with the outcome of the last check where that is not as usual.
    */
  def forTerminal(feed: ListedFeed, columns: Int): String =
    val line = row(
      state(feed),
      feed.checkedAt.fold("never")(times.show),
      next(feed).fold("none")(_.fold("now")(times.show)),
      Text.grouped(feed.failures),
      Text.grouped(feed.items),
      PlainText.cut(title(feed), (columns - titleAt).max(leastRoom))
    )
    val outcome = feed.outcome.filter(_ => feed.isFailing).toVector ++
      feed.detail.filter(_ => feed.isFailing)
    val why = if outcome.isEmpty then "" else s"  ${PlainText.line(outcome.mkString(": "))}"
    s"$line${" " * stateWidth}  ${PlainText.line(feed.url)}$why\n"

  /** Returns a line for programs: state, last check, next check, failures, items, address and
    * title, separated by tabs.
    */
  def withTabs(feed: ListedFeed): String =
    Vector(
      state(feed),
      feed.checkedAt.fold("")(times.iso),
      next(feed).flatten.fold("")(times.iso),
      s"${feed.failures}",
      s"${feed.items}",
      PlainText.line(feed.url),
      title(feed)
    ).mkString("", "\t", "\n")

  /** A JSON object on a line. */
  def json(feed: ListedFeed): String =
    val fields = ujson.Obj(
      "url" -> feed.url,
      "title" -> text(feed.title),
      "home" -> text(feed.home),
      "state" -> state(feed),
      "outcome" -> text(feed.outcome),
      "detail" -> text(feed.detail),
      "failures" -> feed.failures,
      "checked" -> text(feed.checkedAt.map(times.iso)),
      "next" -> text(next(feed).flatten.map(times.iso)),
      "items" -> ujson.Num(feed.items.toDouble)
    )
    s"${ujson.write(fields, escapeUnicode = true)}\n"

  private def text(value: Option[String]) = value.fold[ujson.Value](ujson.Null)(ujson.Str(_))

  private def state(feed: ListedFeed): String = feed.state match
    case FeedState.Disabled => "disabled"
    case FeedState.Gone => "gone"
    case FeedState.Active =>
      if feed.isFailing then "failing" else if feed.checkedAt.isEmpty then "new" else "ok"

  /** When it is due: none if never; some that is empty before the first check. */
  private def next(feed: ListedFeed): Option[Option[Long]] =
    feed.dueAt(staleMillis).map(at => Some(at).filter(_ > 0))

  private def title(feed: ListedFeed): String =
    feed.title.map(PlainText.line).filter(_.nonEmpty).getOrElse(PlainText.line(feed.url))

private object FeedLines:
  private val stateWidth = 8
  private val timeWidth = 16
  private val numberWidth = 8

  /** The column at which the title begins. */
  private val titleAt = stateWidth + 2 * (timeWidth + 2) + 2 * (numberWidth + 2) + 2

  /** On a narrower terminal the line wraps: less of a title would say nothing. */
  private val leastRoom = 20

  private def row(
      state: String,
      checked: String,
      next: String,
      failures: String,
      items: String,
      title: String
  ): String =
    def number(text: String) = " " * (numberWidth - text.length).max(0) + text
    Vector(
      state.padTo(stateWidth, ' '),
      checked.padTo(timeWidth, ' '),
      next.padTo(timeWidth, ' '),
      number(failures),
      number(items),
      title
    ).mkString("", "  ", "\n")

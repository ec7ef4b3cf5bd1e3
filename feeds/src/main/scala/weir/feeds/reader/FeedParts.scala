package weir.feeds.reader

import scalatags.Text.all.*
import scalatags.Text.tags2

import weir.feeds.store.{ListedFeed, Stages}
import weir.program.Text

/** The parts of pages that show feeds.
  *
  * @param staleMillis
  *   the time after a check at which a feed is due again, if no hold-off is longer
  */
private[reader] final class FeedParts(times: LocalTime, staleMillis: Long):
  def title(feed: ListedFeed): String = ItemLines.titleOr(feed.title, feed.url)

  /** Returns the feeds in their order, which the page's script keeps up to date. */
  def list(feeds: Seq[ListedFeed]): Frag =
    frag(
      Option.when(feeds.isEmpty)(p(cls := "none", "There are no such feeds.")),
      ul(id := "feeds", cls := "feeds", attr("data-live") := "check", feeds.map(row))
    )

  /** The feeds with no more than what their last checks came to. */
  def checks(feeds: Seq[ListedFeed]): Frag =
    frag(
      Option.when(feeds.isEmpty)(p(cls := "none", "No feed has been checked yet.")),
      ul(
        id := "checks",
        cls := "checks",
        attr("data-live") := "check",
        feeds.map: feed =>
          li(id := s"check-${feed.id}", link(feed), p(cls := "about", outcome(feed), checked(feed)))
      )
    )

  /** Shows how busy the stages of a `weir feeds --stages` are, or were. */
  def stages(found: Option[Stages]): Frag = found match
    case None => p(cls := "none", "No weir feeds --stages has run on this database.")
    case Some(stages) =>
      div(
        id := "stages",
        cls := "stages",
        attr("data-live") := "",
        p(id := "stages-at", "While weir feeds ran, up to ", time(stages.atMillis)),
        pre(id := "stages-table", stages.table),
        p(id := "stages-mark", "* makes the others wait")
      )

  /** All that is known of the feed. */
  def facts(feed: ListedFeed): Frag =
    val rows = Seq(
      fact("address", webLink(feed)),
      fact("last check", checked(feed)),
      fact("outcome", outcome(feed)),
      fact("details", feed.detail.map(PlainText.line)),
      fact("failures in a row", Option.when(feed.failures > 0)(Text.grouped(feed.failures))),
      fact("next check", next(feed)),
      fact("items", Text.grouped(feed.items))
    )
    dl(id := "facts", cls := "facts", attr("data-live") := "", rows)

  private def fact(name: String, value: Frag) =
    div(id := s"fact-${name.replace(' ', '-')}", dt(name), dd(value))

  private def row(feed: ListedFeed) =
    li(
      id := s"feed-${feed.id}",
      div(cls := "what", link(feed), address(feed).map(p(cls := "address", _))),
      div(
        cls := "state",
        p(outcome(feed), repeated(feed)),
        feed.detail.map(detail => p(cls := "detail", PlainText.line(detail)))
      ),
      p(
        cls := "about",
        span(Text.count(feed.items, "item")),
        feed.checkedAt.map(at => span("checked: ", time(at))),
        span("next check: ", next(feed))
      )
    )

  private def link(feed: ListedFeed) =
    a(cls := "title", href := s"/feeds/${feed.id}", dir := "auto", title(feed))

  /** Returns the address, unless the title is it already. */
  private def address(feed: ListedFeed): Option[String] =
    Some(PlainText.line(feed.url)).filter(_ != title(feed))

  private def webLink(feed: ListedFeed): Frag =
    SafeHtml.link(feed.url) match
      case Some(to) =>
        a(href := to, attr("rel") := "noopener noreferrer nofollow", PlainText.line(feed.url))
      case None => PlainText.line(feed.url)

  private def outcome(feed: ListedFeed) =
    val kind = if feed.isFailing then "failed" else if feed.checkedAt.isEmpty then "new" else "fine"
    span(cls := s"outcome $kind", PlainText.line(feed.outcome.getOrElse("never checked")))

  private def repeated(feed: ListedFeed) =
    Option.when(feed.failures > 1)(span(s" ${Text.count(feed.failures, "time")} in a row"))

  private def checked(feed: ListedFeed) = feed.checkedAt.map(time)

  private def next(feed: ListedFeed): Frag =
    feed.dueAt(staleMillis) match
      case None => "none, it is disabled"
      case Some(0) => "the next run"
      case Some(at) => time(at)

  private def time(millis: Long) =
    tags2.time(attr("datetime") := times.iso(millis), times.show(millis))

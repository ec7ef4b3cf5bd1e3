package weir.feeds.reader

import java.net.URI

import scalatags.Text.all.*
import scalatags.Text.tags2

import weir.feeds.store.ListedItem

/** The parts of pages that show items. */
private[reader] final class ItemParts(times: LocalTime):
  def title(item: ListedItem): String = ItemLines.title(item)

  /** Returns the items in their order, which the page's script keeps up to date. */
  def list(items: Seq[ListedItem], showsFeed: Boolean): Frag =
    frag(
      Option.when(items.isEmpty)(p(cls := "none", "There are no items here yet.")),
      ul(id := "items", cls := "items", attr("data-live") := "item", items.map(row(_, showsFeed)))
    )

  /** Returns the item with its text, or with a note that it has none. */
  def whole(item: ListedItem, html: Option[String]): Frag =
    tags2.article(
      h1(dir := "auto", title(item)),
      p(
        cls := "about",
        feed(item),
        time("published", item.publishedAt),
        time("first seen", Some(item.firstSeenAt)),
        time("changed", item.changedAt)
      ),
      original(item).map(address => p(a(href := address, rel, s"Read it at ${hostOf(address)}"))),
      html match
        case None => p(cls := "none", "The feed gives no text for it.")
        case Some(text) =>
          val safe = SafeHtml.of(text, original(item).getOrElse(item.feedUrl))
          val form = if safe.isPlain then "content plain" else "content"
          div(cls := form, dir := "auto", raw(safe.html))
    )

  private def row(item: ListedItem, showsFeed: Boolean) =
    li(
      id := s"item-${item.id}",
      a(cls := "title", href := s"/items/${item.id}", dir := "auto", title(item)),
      p(
        cls := "about",
        Option.when(showsFeed)(feed(item)),
        time("", item.publishedAt.orElse(Some(item.firstSeenAt))),
        original(item).map(address => a(href := address, rel, hostOf(address)))
      )
    )

  private def feed(item: ListedItem) =
    a(href := s"/feeds/${item.feedId}", dir := "auto", feedTitle(item))

  private def feedTitle(item: ListedItem) = ItemLines.titleOr(item.feedTitle, item.feedUrl)

  private def time(what: String, millis: Option[Long]) =
    millis.map: at =>
      span(s"$what ".stripLeading, tags2.time(attr("datetime") := times.iso(at), times.show(at)))

  private def original(item: ListedItem) = item.url.flatMap(SafeHtml.link)

  private def rel = attr("rel") := "noopener noreferrer nofollow"

  private def hostOf(address: String) = PlainText.line(URI(address).getRawAuthority)

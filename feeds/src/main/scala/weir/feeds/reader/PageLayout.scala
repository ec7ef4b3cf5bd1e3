package weir.feeds.reader

import scalatags.Text.all.*
import scalatags.Text.tags2

import weir.program.Text

/** The layout of all pages around their content.
  *
  * @param stamp
  *   the [[weir.feeds.store.FeedQuery.stamp]] from before the content was read
  */
private[reader] final case class PageLayout(
    heading: String,
    database: String,
    links: Seq[PageLayout.Link],
    current: Option[String],
    stamp: String
):
  def page(content: Seq[Frag]): String =
    "<!doctype html>\n" + html(
      lang := "en",
      head(
        meta(charset := "utf-8"),
        meta(name := "viewport", attr("content") := "width=device-width, initial-scale=1"),
        tags2.title(s"$heading - weir feeds"),
        link(rel := "icon", href := Assets.icon),
        link(rel := "stylesheet", href := Assets.style),
        script(src := Assets.script, attr("defer") := "defer")
      ),
      body(
        a(cls := "skip", href := "#content", "Skip to the content"),
        header(
          p(cls := "name", a(href := "/", span("weir"), " feeds")),
          navigation,
          p(
            cls := "live",
            span(id := "live", attr("data-stamp") := stamp),
            span(id := "news", role := "status"),
            tags2.noscript("Reload the page to see what is new.")
          )
        ),
        tags2.main(id := "content", tabindex := "-1", content),
        footer(p(database))
      )
    ).render

  private def navigation =
    tags2.nav(
      attr("aria-label") := "Pages",
      ul(
        id := "pages",
        links.map: link =>
          val isHere = Option.when(current.contains(link.path))(attr("aria-current") := "page")
          val number = link.count.map(count => span(cls := "count", Text.grouped(count)))
          li(a(href := link.path, isHere, link.text, " ", number))
      )
    )

private[reader] object PageLayout:
  final case class Link(path: String, text: String, count: Option[Long])

package weir.feeds.reader

import java.sql.Connection

import scalatags.Text.all.*
import scalatags.Text.tags2

import weir.feeds.store.{FeedQuery, ItemQuery, ListedItem, Stages, StoreReader}

/** From the path of a request to the page that it asks for. */
private[reader] final class ReaderPages(store: StoreReader, times: LocalTime, staleMillis: Long):
  import ReaderPages.*

  private val items = ItemParts(times)
  private val feeds = FeedParts(times, staleMillis)

  /** Returns the answer; `parameter` returns the parameters of the query. */
  def reply(path: String, parameter: String => Option[String]): Reply =
    path match
      case "/" => fromPlace(parameter)(newest)
      case "/feeds" => feedList(parameter)
      case feedPath(id) => fromPlace(parameter)(feed(id.toLong, _))
      case itemPath(id) => item(id.toLong)
      case "/stages" => stages
      case "/live" => Reply(200, "text/plain; charset=utf-8", store.read(FeedQuery.stamp))
      case _ => Assets.reply(path).getOrElse(Reply.problem(404, s"There is no page $path."))

  private def newest(last: Option[ItemQuery.Place]): Reply =
    page("Newest items", Some("/")): connection =>
      val found = ItemQuery().page(connection, last, pageSize + 1)
      val checks = FeedQuery(FeedQuery.Show.Latest).page(connection, 0, checksShown)
      Seq(
        h1("Newest items"),
        div(
          cls := "columns",
          tags2.section(
            attr("aria-label") := "Items",
            items.list(found.take(pageSize), showsFeed = true),
            older("/", found)
          ),
          tags2.aside(h2("Latest checks"), feeds.checks(checks))
        )
      )

  private def feed(number: Long, last: Option[ItemQuery.Place]): Reply =
    store.read(FeedQuery.one(_, number)) match
      case None => Reply.problem(404, s"There is no feed $number.")
      case Some(feed) =>
        page(feeds.title(feed), None): connection =>
          val found = ItemQuery(Some(number)).page(connection, last, pageSize + 1)
          Seq(
            h1(dir := "auto", feeds.title(feed)),
            feeds.facts(FeedQuery.one(connection, number).getOrElse(feed)),
            tags2.section(
              h2("Items"),
              items.list(found.take(pageSize), showsFeed = false),
              older(s"/feeds/$number", found)
            )
          )

  private def feedList(parameter: String => Option[String]): Reply =
    val shown = parameter("show").fold(Some(FeedQuery.Show.All))(byName.get)
    val number =
      parameter("page").fold(Some(1))(_.toIntOption).filter(n => n >= 1 && n <= mostPages)
    (shown, number) match
      case (Some(show), Some(number)) =>
        page(titles(show), Some(pathOf(show))): connection =>
          val found = FeedQuery(show).page(connection, (number - 1) * pageSize, pageSize + 1)
          Seq(
            h1(titles(show)),
            feeds.list(found.take(pageSize)),
            beside(pathOf(show), number, hasMore = found.size > pageSize)
          )
      case _ => Reply.problem(400, "There is no such list of feeds.")

  private def item(number: Long): Reply =
    val found = store.read: connection =>
      ItemQuery
        .one(connection, number)
        .map(item => item -> ItemQuery.details(connection, Vector(number)).get(number))
    found match
      case None => Reply.problem(404, s"There is no item $number.")
      case Some((item, details)) =>
        page(items.title(item), None)(_ => Seq(items.whole(item, details.flatMap(_.text))))

  private def stages: Reply = page("Stages", Some("/stages")): connection =>
    Seq(h1("Stages"), feeds.stages(Stages.latest(connection)))

  private def page(title: String, path: Option[String])(
      body: Connection => Seq[Frag]
  ): Reply =
    // The stamp first: what changes after it makes the page look again.
    val (stamp, links, content) = store.read: connection =>
      val stamp = FeedQuery.stamp(connection)
      (stamp, navigation(connection), body(connection))
    Reply.html(PageLayout(title, store.name, links, path, stamp).page(content))

  private def navigation(connection: Connection): Seq[PageLayout.Link] =
    val counted = Seq(FeedQuery.Show.All, FeedQuery.Show.Failing, FeedQuery.Show.Unchecked).map:
      show => PageLayout.Link(pathOf(show), titles(show), Some(show.count(connection)))
    val latest = PageLayout.Link(pathOf(FeedQuery.Show.Latest), titles(FeedQuery.Show.Latest), None)
    val stages = Stages.latest(connection).map(_ => PageLayout.Link("/stages", "Stages", None))
    (PageLayout.Link("/", "Newest items", None) +: counted :+ latest) ++ stages

  /** Returns the page after the place that `before` names, if it names one. */
  private def fromPlace(parameter: String => Option[String])(
      page: Option[ItemQuery.Place] => Reply
  ): Reply =
    parameter("before") match
      case None => page(None)
      case Some(placeText(at, seen, id)) =>
        page(Some(ItemQuery.Place(at.toLong, seen.toLong, id.toLong)))
      case Some(_) => Reply.problem(400, "There is no such page of items.")

  private def older(path: String, found: Vector[ListedItem]): Frag =
    pager(Option.when(found.size > pageSize):
      val last = found(pageSize - 1).place
      a(href := s"$path?before=${last.at}-${last.firstSeenAt}-${last.id}", "Older items"))

  private def beside(path: String, number: Int, hasMore: Boolean): Frag =
    def link(to: Int, text: String) =
      a(href := s"$path${if path.contains('?') then "&" else "?"}page=$to", text)
    pager(
      Option.when(number > 1)(link(number - 1, "Previous page")),
      Option.when(hasMore)(link(number + 1, "Next page"))
    )

  /** Returns the links to other pages of a list, which the page's script keeps up to date. */
  private def pager(links: Frag*): Frag = p(id := "pager", cls := "pager", links)

private[reader] object ReaderPages:
  private val pageSize = 50
  private val checksShown = 12
  private val mostPages = 1_000_000

  private val feedPath = "/feeds/([0-9]{1,18})".r
  private val itemPath = "/items/([0-9]{1,18})".r
  private val placeText = "(-?[0-9]{1,18})-([0-9]{1,18})-([0-9]{1,18})".r

  private val titles = Map(
    FeedQuery.Show.All -> "All feeds",
    FeedQuery.Show.Failing -> "Failing",
    FeedQuery.Show.Unchecked -> "Never checked",
    FeedQuery.Show.Latest -> "Latest checks"
  )

  private val byName = FeedQuery.Show.values.map(show => show.toString.toLowerCase -> show).toMap

  private def pathOf(show: FeedQuery.Show): String =
    if show == FeedQuery.Show.All then "/feeds" else s"/feeds?show=${show.toString.toLowerCase}"

package weir.feeds.parse

import java.time.Instant
import scala.util.Try

import org.jsoup.nodes.Entities

import weir.feeds.store.{Enclosure, FeedAbout, Item, ItemName}

/** A feed in JSON Feed, versions 1 and 1.1 (jsonfeed.org). */
private[parse] final case class JsonFeed(head: FeedHead, items: Vector[Item])

private[parse] object JsonFeed:
  /** Returns true if `text` is JSON rather than XML. */
  def isJson(text: String): Boolean = text.stripLeading.startsWith("{")

  /** Parses the feed in `text`. Returns an error if it is not JSON or no feed. */
  def parse(text: String, base: String, now: Instant): Either[String, JsonFeed] =
    Try(ujson.read(withTextIds(text))).toEither.left
      .map(error => Option(error.getMessage).getOrElse("it is not JSON"))
      .flatMap: json =>
        val items = json.objOpt.flatMap(_.get("items")).flatMap(_.arrOpt)
        items.filter(_ => field(json, "version").exists(Node.lower(_).contains("jsonfeed"))) match
          case None => Left("it is JSON, but no JSON Feed: it has no version of it, or no items")
          case Some(items) =>
            val objects = items.toVector.flatMap(_.objOpt)
            val authors = authorsOf(json)
            Right(
              JsonFeed(head(json, base), objects.map(o => item(ujson.Obj(o), base, authors, now)))
            )

  private def head(json: ujson.Value, base: String): FeedHead =
    FeedHead(
      FeedAbout(
        title = field(json, "title"),
        home = address(json, "home_page_url", base),
        language = field(json, "language"),
        picture = address(json, "icon", base).orElse(address(json, "favicon", base))
      )
    )

  private def address(json: ujson.Value, name: String, base: String): Option[String] =
    field(json, name).flatMap(Link.resolve(base, _))

  private def list(json: ujson.Value, name: String): Vector[ujson.Value] =
    json.objOpt.flatMap(_.get(name)).flatMap(_.arrOpt).fold(Vector.empty)(_.toVector)

  /** Version 1 has one author, version 1.1 a list. */
  private def authorsOf(json: ujson.Value): Vector[String] =
    (list(json, "authors") ++ json.objOpt.flatMap(_.get("author")))
      .flatMap(author => field(author, "name").orElse(field(author, "url")))
      .distinct

  private def attachment(json: ujson.Value, base: String): Option[Enclosure] =
    def number(name: String) =
      json.objOpt.flatMap(_.get(name)).flatMap(_.numOpt).map(_.toLong).filter(_ > 0)
    address(json, "url", base).map:
      Enclosure(_, field(json, "mime_type"), number("size_in_bytes"), number("duration_in_seconds"))

  /** Numbers as ids are often longer than a double is exact. */
  private def withTextIds(text: String): String =
    numericId.replaceAllIn(text, found => found.group(1) + "\"" + found.group(2) + "\"")

  private val numericId = """("id"\s*:\s*)(\d{16,})(?=\s*[,}])""".r

  /** @param authors
    *   the authors of the feed, for items without authors of their own
    */
  private def item(
      json: ujson.Value,
      base: String,
      authors: Vector[String],
      now: Instant
  ): Item =
    val url = List("url", "external_url").flatMap(field(json, _)).flatMap(Link.resolve(base, _))
    val title = field(json, "title")
    val full = field(json, "content_html")
      .orElse(field(json, "content_text").map(Entities.escape))
    val summary = field(json, "summary").map(Entities.escape)
    Item(
      guid = ItemName.of(field(json, "id"), url.headOption, title, summary.orElse(full)),
      url = url.headOption,
      title = title,
      publishedAt = List("date_published", "date_modified")
        .flatMap(field(json, _))
        .flatMap(FeedDate.parse(_, now))
        .headOption
        .map(_.toEpochMilli),
      summary = summary,
      content = full,
      authors = Some(authorsOf(json)).filter(_.nonEmpty).getOrElse(authors),
      categories = list(json, "tags").flatMap(text).distinct,
      enclosures = list(json, "attachments").flatMap(attachment(_, base)).distinctBy(_.url)
    )

  /** A string, or a number as one: some feeds have numbers as ids. */
  private def field(json: ujson.Value, name: String): Option[String] =
    json.objOpt.flatMap(_.get(name)).flatMap(text)

  private def text(value: ujson.Value): Option[String] =
    val text = value match
      case ujson.Str(text) => Some(text)
      case ujson.Num(number) if !number.isInfinite =>
        Some(java.math.BigDecimal.valueOf(number).stripTrailingZeros.toPlainString)
      case _ => None
    text.map(Clean.text(_).trim).filter(_.nonEmpty)

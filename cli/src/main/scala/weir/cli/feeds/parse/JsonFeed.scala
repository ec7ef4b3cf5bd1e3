package weir.cli.feeds.parse

import java.time.Instant
import scala.util.Try

import org.jsoup.nodes.Entities

import weir.cli.feeds.store.{Item, ItemName}

/** A feed in JSON Feed, versions 1 and 1.1 (jsonfeed.org). */
private[parse] final case class JsonFeed(title: Option[String], items: Vector[Item])

private[parse] object JsonFeed:
  /** Whether `text` is JSON rather than XML. */
  def isJson(text: String): Boolean = text.stripLeading.startsWith("{")

  /** The feed in `text`; or what is wrong, if it is not JSON or no feed. */
  def parse(text: String, base: String, now: Instant): Either[String, JsonFeed] =
    Try(ujson.read(withTextIds(text))).toEither.left
      .map(error => Option(error.getMessage).getOrElse("it is not JSON"))
      .flatMap: json =>
        val items = json.objOpt.flatMap(_.get("items")).flatMap(_.arrOpt)
        items.filter(_ => field(json, "version").exists(Node.lower(_).contains("jsonfeed"))) match
          case None => Left("it is JSON, but no JSON Feed: it has no version of it, or no items")
          case Some(items) =>
            val objects = items.toVector.flatMap(_.objOpt)
            Right(
              JsonFeed(
                field(json, "title"),
                objects.map(fields => item(ujson.Obj(fields), base, now))
              )
            )

  /** Numbers as ids are often longer than a double is exact. */
  private def withTextIds(text: String): String =
    numericId.replaceAllIn(text, found => found.group(1) + "\"" + found.group(2) + "\"")

  private val numericId = """("id"\s*:\s*)(\d{16,})(?=\s*[,}])""".r

  private def item(json: ujson.Value, base: String, now: Instant): Item =
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
      summary = summary.orElse(full),
      content = full.filter(text => summary.exists(_.length < text.length))
    )

  /** A string, or a number as one: some feeds have numbers as ids. */
  private def field(json: ujson.Value, name: String): Option[String] =
    json.objOpt
      .flatMap(_.get(name))
      .flatMap:
        case ujson.Str(text) => Some(text)
        case ujson.Num(number) if !number.isInfinite =>
          Some(java.math.BigDecimal.valueOf(number).stripTrailingZeros.toPlainString)
        case _ => None
      .map(text => Clean.text(text).trim)
      .filter(_.nonEmpty)

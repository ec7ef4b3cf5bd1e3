package weir.cli.feeds.parse

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.{HexFormat, Locale}
import scala.jdk.CollectionConverters.*

import com.rometools.rome.feed.synd.{SyndEntry, SyndFeed}
import com.rometools.rome.io.{FeedException, SyndFeedInput}
import org.jdom2.Document

import weir.cli.feeds.fetch.{Failure, Reason}
import weir.cli.feeds.store.Item

/** What the bytes of a feed say, RSS and Atom alike.
  *
  * @param reason
  *   that all was well, or what had to be put up with
  */
final case class ParsedFeed(title: Option[String], items: Vector[Item], reason: Reason)

object ParsedFeed:
  /** The feed in `bytes`; `charset` is what the server named. */
  def parse(bytes: Array[Byte], charset: Option[String]): Either[Failure, ParsedFeed] =
    for
      decoded <- FeedText.decode(bytes, charset)
      xml <- SafeXml.parse(decoded.text)
      feed <- understand(xml.document)
    yield ParsedFeed(
      title = clean(feed.getTitle, longestTitle),
      items = feed.getEntries.asScala.map(item).distinctBy(_.guid).toVector,
      reason =
        if xml.hasLeftOut then Reason.EntityLeftOut
        else if decoded.wasWronglyNamed then Reason.EncodingRecovered
        else Reason.Fetched
    )

  private val longestTitle = 1_000
  private val longestSummary = 100_000

  private def understand(document: Document): Either[Failure, SyndFeed] =
    try Right(SyndFeedInput(false, Locale.ROOT).build(document))
    catch
      case error: (FeedException | IllegalArgumentException) =>
        val root = s"the root element is <${document.getRootElement.getName}>"
        Left(Failure(Reason.NotAFeed, Option(error.getMessage).fold(root)(m => s"$root: $m")))

  private def item(entry: SyndEntry): Item =
    val title = clean(entry.getTitle, longestTitle)
    val url = clean(entry.getLink, longestTitle)
    val content = Option(entry.getDescription).orElse(entry.getContents.asScala.headOption)
    val published = Option(entry.getPublishedDate).orElse(Option(entry.getUpdatedDate))
    Item(
      guid = clean(entry.getUri, longestTitle)
        .orElse(url)
        .getOrElse(fingerprint(s"${title.getOrElse("")} ${published.fold(0L)(_.getTime)}")),
      url = url,
      title = title,
      publishedAt = published.map(_.getTime),
      summary = content.flatMap(text => clean(text.getValue, longestSummary))
    )

  /** Stands for a guid where a feed gives its entries neither a guid nor a link. */
  private def fingerprint(text: String): String =
    HexFormat.of.formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8)))

  /** The text without what Postgres cannot store, or none if nothing is left. */
  private def clean(text: String, limit: Int): Option[String] =
    Option(text).map(_.replace("\u0000", "").trim.take(limit)).filter(_.nonEmpty)

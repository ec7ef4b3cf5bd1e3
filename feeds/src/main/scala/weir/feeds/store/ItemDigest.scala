package weir.feeds.store

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.HexFormat

/** Stands for all that an item says: two items have the same if they differ in white space alone.
  *
  * It is stored with the item, so that a check compares an entry with its row without reading the
  * row's texts, which may be megabytes.
  */
private[store] object ItemDigest:
  def of(item: Item): String =
    val enclosures = item.enclosures.flatMap: file =>
      Vector(Some(file.url), file.kind, file.length.map(_.toString), file.seconds.map(_.toString))
    of(
      Vector(item.title, item.url, item.publishedAt.map(_.toString), item.summary, item.content) ++
        (item.authors :+ "\n").map(Some(_)) ++ (item.categories :+ "\n").map(Some(_)) ++ enclosures
    )

  /** Returns the digest of the values that version 3 of the tables had of an item, in their form
    * there: with a text beside the summary only if it is longer.
    */
  def asVersion3(item: Item): String =
    val (summary, content) = (item.summary, item.content) match
      case (Some(short), Some(full)) if full.length > short.length => (Some(short), Some(full))
      case (short, full) => (short.orElse(full), None)
    of(Vector(item.title, item.url, item.publishedAt.map(_.toString), summary, content))

  private def of(parts: Vector[Option[String]]): String =
    val digest = MessageDigest.getInstance("SHA-256")
    for part <- parts do
      digest.update(part.getOrElse("").filterNot(isSpace).getBytes(UTF_8))
      digest.update(separator)
    HexFormat.of.formatHex(digest.digest())

  private def isSpace(char: Char): Boolean =
    Character.isWhitespace(char) || Character.isSpaceChar(char)

  /** In no text, since white space is left out. */
  private val separator = '\n'.toByte

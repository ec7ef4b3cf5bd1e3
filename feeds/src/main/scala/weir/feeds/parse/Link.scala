package weir.feeds.parse

import org.jsoup.nodes.Element

/** Makes links absolute. */
object Link:
  /** Returns the address that `text`, found in a document at `base`, leads to; none if it is empty
    * or cannot be resolved. An absolute one comes back as it was written, but for the white space
    * around it and line breaks in it, which browsers ignore as well.
    */
  def resolve(base: String, text: String): Option[String] =
    val link = text.filterNot(char => char == '\n' || char == '\r' || char == '\t').trim
    if link.isEmpty then None
    else if absolute.matches(link) then Some(link)
    else
      val anchor = Element("a").attr("href", link)
      anchor.setBaseUri(base)
      Some(anchor.absUrl("href")).filter(_.nonEmpty)

  /** Returns the address that relative links are resolved against from here on, where the document
    * names `text` as it. A long one would be repeated in every link, and is ignored.
    */
  def base(outer: String, text: String): String =
    resolve(outer, text).filter(_.length <= longestBase).getOrElse(outer)

  private val longestBase = 1_000

  private val absolute = "(?s)[A-Za-z][A-Za-z0-9+.-]*:.*".r

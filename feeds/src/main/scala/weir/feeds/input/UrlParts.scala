package weir.feeds.input

import scala.annotation.tailrec

/** The parts of an address or of a reference to one, as they were written; the fragment is dropped.
  *
  * Splits by the expression of RFC 3986, appendix B, after the clean-up that the WHATWG URL
  * standard prescribes: spaces and controls around it, and line breaks and tabs within it, are left
  * out; a backslash before the query is a slash.
  */
private[input] final case class UrlParts(
    scheme: Option[String],
    authority: Option[String],
    path: String,
    query: Option[String]
):
  /** Resolves `reference` against this address, after RFC 3986, section 5.2.2. */
  def resolve(reference: UrlParts): UrlParts =
    if reference.scheme.nonEmpty then reference
    else if reference.authority.nonEmpty then reference.copy(scheme = scheme)
    else if reference.path.startsWith("/") then copy(path = reference.path, query = reference.query)
    else if reference.path.nonEmpty then
      val folder = path.take(path.lastIndexOf('/') + 1)
      copy(
        path = (if folder.isEmpty then "/" else folder) + reference.path,
        query = reference.query
      )
    else copy(query = reference.query.orElse(query))

  /** Returns the path without `.` and `..`, and never empty. */
  def plainPath: String =
    val segments = path.stripPrefix("/").split("/", -1).toList
    "/" + UrlParts.plain(segments, Nil).mkString("/")

private[input] object UrlParts:
  private val form =
    "(?s)(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\\?([^#]*))?(?:#.*)?".r

  /** Every text has parts; whether they make an address is for [[FeedUrl]] to see. */
  def of(text: String): UrlParts =
    val cleaned = text.dropWhile(_ <= ' ').reverse.dropWhile(_ <= ' ').reverse
    val (place, rest) = cleaned.filterNot("\t\r\n".contains(_)).span(char => !"?#".contains(char))
    (place.replace('\\', '/') + rest) match
      case form(scheme, authority, path, query) =>
        UrlParts(Option(scheme).map(_.toLowerCase), Option(authority), path, Option(query))

  @tailrec
  private def plain(segments: List[String], done: List[String]): List[String] =
    segments match
      case Nil => done.reverse
      case segment :: rest =>
        val isLast = rest.isEmpty
        segment.toLowerCase.replace("%2e", ".") match
          case "." => plain(rest, if isLast then "" :: done else done)
          case ".." => plain(rest, if isLast then "" :: done.drop(1) else done.drop(1))
          case _ => plain(rest, segment :: done)

package weir.feeds.manage

import weir.feeds.reader.PlainText
import weir.feeds.store.ListedFeed

/** Feeds as OPML 2.0, which feed readers exchange.
  *
  * Everything beyond ASCII is a character reference, so the text is the same in every encoding of
  * the terminal or the file.
  */
private[manage] object OpmlText:
  /** Returns the document, line by line. */
  def of(feeds: Iterable[ListedFeed]): Iterator[String] =
    Iterator(head) ++ feeds.iterator.map(outline) ++ Iterator(foot)

  private val head =
    """<?xml version="1.0" encoding="UTF-8"?>
      |<opml version="2.0">
      |  <head><title>weir feeds</title></head>
      |  <body>
      |""".stripMargin

  private val foot = "  </body>\n</opml>\n"

  private def outline(feed: ListedFeed): String =
    val title = feed.title.map(PlainText.line).filter(_.nonEmpty).getOrElse(feed.url)
    val home = feed.home.fold("")(home => s""" htmlUrl="${escaped(home)}"""")
    s"""    <outline type="rss" text="${escaped(title)}" title="${escaped(title)}"""" +
      s""" xmlUrl="${escaped(feed.url)}"$home/>\n"""

  private def escaped(text: String): String =
    val result = StringBuilder()
    text.codePoints
      .filter(isAllowed)
      .forEach: code =>
        if code < ' ' || code > '~' || "<>&\"'".indexOf(code) >= 0 then result.append(s"&#$code;")
        else result.append(code.toChar)
    result.toString

  /** The characters of XML 1.0; no reference may stand for another. */
  private def isAllowed(code: Int): Boolean =
    code == '\t' || code == '\n' || code == '\r' || code >= ' ' && code <= 0xd7ff ||
      code >= 0xe000 && code <= 0xfffd || code >= 0x10000

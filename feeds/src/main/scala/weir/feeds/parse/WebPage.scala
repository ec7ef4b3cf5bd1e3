package weir.feeds.parse

import scala.jdk.CollectionConverters.*

import org.jsoup.Jsoup

import weir.feeds.input.FeedUrl

/** A page of HTML, which may say where the feeds of its site are. */
private[parse] object WebPage:
  private val start =
    """(?is)\A(?:\s*+(?:<\?.*?\?>|<!--.*?-->))*+\s*+(?:<!doctype\s+html|<html|<head|<body)\b""".r

  /** Returns true if the beginning of `text` is that of a page. */
  def isPage(text: String): Boolean = start.findFirstIn(text.take(longestStart)).nonEmpty

  /** Comments before the first element are seldom longer. */
  private val longestStart = 20_000

  private val types = Set(
    "application/rss+xml",
    "application/atom+xml",
    "application/feed+json",
    "application/json",
    "application/rdf+xml",
    "application/xml",
    "text/xml"
  )

  /** Returns the first feed that the page at `base` names as `alternate` to itself. */
  def feed(text: String, base: String): Option[FeedUrl] =
    Jsoup
      .parse(text, base)
      .select("link[href][rel][type]")
      .iterator
      .asScala
      .filter(link => Node.lower(link.attr("rel")).split("\\s+").contains("alternate"))
      .filter(link => types(Node.lower(link.attr("type")).takeWhile(_ != ';').trim))
      .flatMap(link => FeedUrl.parse(link.absUrl("href")).toOption)
      .nextOption()

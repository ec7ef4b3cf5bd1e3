package weir.feeds.parse

import java.nio.charset.StandardCharsets.UTF_8

import munit.FunSuite

import weir.feeds.fetch.Reason
import weir.feeds.input.FeedUrl

class WebPageSuite extends FunSuite:
  private val here = FeedUrl.parse("http://a.example/blog/").toOption.get

  private def parse(html: String) = ParsedFeed.parse(html.getBytes(UTF_8), None, here)

  private val links =
    """<link rel="stylesheet" type="text/css" href="x.css">
      |<LINK REL="Alternate" TYPE="application/rss+xml" TITLE="Posts" HREF="feed.xml">
      |<link rel="alternate home" type="application/atom+xml; charset=utf-8"
       | href="//b.example/atom">
      |<link rel="alternate" hreflang="de" type="text/html" href="/de/">
      |<link rel="alternate" type="application/feed+json" href="javascript:alert(1)">""".stripMargin

  private val found = "http://a.example/blog/feed.xml"

  for (name, html) <- List(
      "HTML" -> s"<!DOCTYPE html><html><head>$links</head><body><p>Hi<br>there</html>",
      "XHTML" ->
        s"""<?xml version="1.0"?><!-- c --><html xmlns="http://www.w3.org/1999/xhtml"><head>${links
            .replace("\">", "\"/>")}</head><body/></html>""",
      "a page that begins with its head" -> s"<head>$links</head>",
      "a page about feeds" ->
        s"<html><head>$links</head><body><rss><channel><item>x</item></channel></rss></html>"
    )
  do
    test(s"$name: the first feed that it names is found"):
      parse(html) match
        case Right(ParsedFeed.Page(feed)) => assertEquals(feed.text, found)
        case other => fail(other.toString)

  test("the base of a page counts"):
    val html = """<html><head><base href="http://c.example/x/"><link rel="alternate"
      | type="application/rss+xml" href="feed"></head></html>""".stripMargin
    assertEquals(
      parse(html).toOption.collect { case ParsedFeed.Page(feed) => feed.text },
      Some("http://c.example/x/feed")
    )

  test("a page without feeds is not a feed"):
    val failure = parse("<!doctype html><title>Parked</title>").left.toOption
    assertEquals(failure.map(_.reason), Some(Reason.NotAFeed))

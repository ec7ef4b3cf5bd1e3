package weir.feeds.fetch

import java.net.http.HttpHeaders
import java.time.Instant
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

import munit.FunSuite

import RawServer.text

class FreshnessSuite extends FunSuite with FetchFixture:
  private val now = Instant.parse("2026-01-01T12:00:00Z")

  private def fresh(headers: (String, String)*) =
    val map = headers.groupMap(_._1)(_._2).map((name, values) => name -> values.asJava).asJava
    Freshness.of(HttpHeaders.of(map, (_, _) => true), now)

  test("max-age counts, less the age that the answer has already"):
    assertEquals(fresh("Cache-Control" -> "public, Max-Age=600"), Some(10.minutes))
    assertEquals(
      fresh("Cache-Control" -> "public", "Cache-Control" -> "max-age=\"60\""),
      Some(1.minute)
    )
    assertEquals(fresh("Cache-Control" -> "max-age=600", "Age" -> "100"), Some(500.seconds))
    assertEquals(fresh("Cache-Control" -> "max-age=600", "Age" -> "600"), None)
    assertEquals(fresh("Cache-Control" -> "max-age=600, must-revalidate"), Some(10.minutes))

  test("what a shared cache may do does not count"):
    assertEquals(fresh("Cache-Control" -> "s-maxage=600"), None)
    assertEquals(fresh("Cache-Control" -> "s-maxage=600, max-age=60"), Some(1.minute))

  test("an answer that is not to be relied on is not"):
    for word <- List("no-cache", "no-store", "No-Cache=\"x\"") do
      assertEquals(fresh("Cache-Control" -> s"max-age=600, $word"), None, word)

  test("Expires counts if there is no max-age, by the clock of the server"):
    val expires = "Expires" -> "Thu, 01 Jan 2026 13:00:00 GMT"
    assertEquals(fresh(expires), Some(1.hour))
    assertEquals(fresh(expires, "Date" -> "Thu, 01 Jan 2026 12:50:00 GMT"), Some(10.minutes))
    assertEquals(fresh(expires, "Age" -> "60"), Some(59.minutes))
    assertEquals(fresh(expires, "Cache-Control" -> "max-age=60"), Some(1.minute))
    assertEquals(fresh(expires, "Cache-Control" -> "max-age=0"), None)
    assertEquals(fresh("Expires" -> "Thu, 01 Jan 2026 11:00:00 GMT"), None)

  test("no time at all, and what is no number or date, say nothing"):
    for value <- List("max-age=0", "max-age=-1", "max-age=soon", "max-age=", "max-age") do
      assertEquals(fresh("Cache-Control" -> value), None, value)
    for value <- List("0", "-1", "", "soon") do assertEquals(fresh("Expires" -> value), None, value)
    assertEquals(fresh(), None)

  test("it is a day at most"):
    assertEquals(fresh("Cache-Control" -> "max-age=31536000"), Some(1.day))
    assertEquals(fresh("Cache-Control" -> "max-age=999999999999999999"), Some(1.day))

  test("documents and answers without one have it"):
    val (found, _) =
      fetch("http://a.example/")(_ => text(200, "Cache-Control: max-age=7")("<rss/>"))
    assertEquals(document(found).freshFor, Some(7.seconds))
    val (known, _) =
      fetch("http://a.example/", etag = Some("e"))(_ => text(304, "Cache-Control: max-age=8")(""))
    assertEquals(known, Answer.NotModified(Some(8.seconds)))

  test("that nothing is new is a failure where it was not asked for"):
    val (answer, _) = fetch("http://a.example/")(_ => text(304)(""))
    assertEquals(failure(answer).reason, Reason.OtherAnswer)
    assertEquals(failure(answer).detail, "status 304 (not modified), which was not asked for")

  test("Retry-After has seconds, or a date in one of three forms"):
    val now = Instant.parse("1994-11-06T08:49:30Z")
    for text <- List(
        "7",
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994"
      )
    do assertEquals(RetryAfter.parse(text, now), Some(7.seconds), text)
    for text <- List("soon", "Sun Nov 6 1994", "-7", "") do
      assertEquals(RetryAfter.parse(text, now), None, text)
    val old =
      HttpDate.parse("Sunday, 06-Nov-94 08:49:37 GMT", Instant.parse("2026-11-26T00:00:00Z"))
    assertEquals(old, Some(now.plusSeconds(7)))

  test("an answer of nothing new may bring new validators"):
    val validators = Seq("ETag: \"e2\"", "Last-Modified: Thu, 26 Nov 2026 15:00:00 GMT")
    val (known, _) =
      fetch("http://a.example/", etag = Some("\"e1\""))(_ => text(304, validators*)(""))
    val modified = Some("Thu, 26 Nov 2026 15:00:00 GMT")
    assertEquals(known, Answer.NotModified(None, Some("\"e2\""), modified))

package weir.feeds.fetch

import scala.concurrent.duration.*
import scala.util.Using

import munit.FunSuite

import weir.feeds.input.Login

import RawServer.{Asked, redirect, text}

class FetchedLoginSuite extends FunSuite with FetchFixture:
  private val login = Login("me", "päss:word")

  private def asked(url: String)(answer: PartialFunction[Asked, Array[Byte]]) =
    Using.resource(RawServer(answer.applyOrElse(_, _ => text(200)("<rss/>")))): server =>
      val fetcher = Fetcher(1.minute, 1000, server.address, allowsPrivate = true)
      try
        fetcher.fetch(feed(url).copy(login = Some(login))).runSync(): Unit
        server.asked.map(_.headers.get("authorization"))
      finally fetcher.close()

  private val sent = Some("Basic bWU6cMOkc3M6d29yZA==")

  test("a login is sent with the first request, and with redirects at its host"):
    val all = asked("http://a.example/"):
      case Asked("/", _) => redirect(302, "/b")
      case Asked("/b", _) => redirect(302, "https://a.example/c")
    assertEquals(all, Vector(sent, sent, sent))

  test("a login is not sent to another host or port, nor from https over http"):
    for (from, to) <- List(
        "http://a.example/" -> "http://b.example/",
        "http://a.example/" -> "http://a.example:81/",
        "http://a.example/" -> "http://sub.a.example/",
        "https://a.example/" -> "http://a.example/"
      )
    do
      val all = asked(from):
        case Asked(_, headers) if headers.contains("authorization") => redirect(302, s"${to}x")
      assertEquals(all, Vector(sent, None), to)

  test("a feed at the address that a page names has the login only at its host"):
    val known = feed("http://a.example/").copy(login = Some(login))
    assertEquals(known.at(feed("http://a.example/x").url).login, Some(login))
    assertEquals(known.at(feed("http://b.example/x").url).login, None)

  test("a login is not printed"):
    assert(!feed("http://a.example/").copy(login = Some(login)).toString.contains("word"))

package weir.feeds.fetch

import java.net.{InetAddress, UnknownHostException}
import scala.concurrent.duration.*
import scala.util.Using

import munit.FunSuite

import weir.feeds.input.FeedUrl
import weir.feeds.store.DueFeed

/** Fetches from a [[RawServer]] that plays every host, and no name can be resolved. */
trait FetchFixture:
  self: FunSuite =>

  def feed(url: String): DueFeed =
    DueFeed(1, FeedUrl.parse(url).fold(fail(_), identity), None, None, 0, 0, 0)

  def fetch(
      url: String,
      isGiven: Boolean = true,
      etag: Option[String] = None,
      limitBytes: Int = 1_000_000,
      allowsPrivate: Boolean = false,
      resolve: String => Array[InetAddress] = name => throw UnknownHostException(name)
  )(answer: PartialFunction[RawServer.Asked, Array[Byte]]): (Answer, Vector[RawServer.Asked]) =
    Using.resource(
      RawServer(answer.applyOrElse(_, _ => RawServer.text(404, "Content-Length: 0")("")))
    ): server =>
      val fetcher = Fetcher(1.minute, limitBytes, server.address, allowsPrivate, resolve)
      try (fetcher.fetch(feed(url).copy(isGiven = isGiven, etag = etag)).runSync(), server.asked)
      finally fetcher.close()

  def document(answer: Answer): Answer.Document =
    answer match
      case document: Answer.Document => document
      case other => fail(other.toString)

  def failure(answer: Answer): Failure =
    answer match
      case Answer.Failed(failure) => failure
      case other => fail(other.toString)

  def utf8(document: Answer.Document): String = String(document.content.bytes, "UTF-8")

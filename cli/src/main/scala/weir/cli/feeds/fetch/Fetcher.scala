package weir.cli.feeds.fetch

import java.io.InputStream
import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.net.http.HttpClient.Version
import java.time.Instant
import java.util.concurrent.Executors
import scala.concurrent.duration.*
import scala.util.control.NonFatal

import weir.Task
import weir.cli.feeds.store.DueFeed

/** Fetches one feed over HTTP, with plain blocking calls inside a task.
  *
  * The client's own timeouts end when the headers are there, so a body that trickles would go on for
  * ever. The deadline here is the task's: it interrupts the blocked read, which closes the connection.
  *
  * @param address
  *   where to find a logical address: the local site lives behind a name that no DNS knows
  * @param timeout
  *   for the whole exchange: connecting, redirects and the body
  */
final class Fetcher(
    timeout: FiniteDuration,
    maxBodyBytes: Int,
    address: URI => URI
) extends AutoCloseable:
  private val executor = Executors.newVirtualThreadPerTaskExecutor()
  private val client = HttpClient
    .newBuilder()
    .executor(executor)
    .followRedirects(HttpClient.Redirect.NEVER)
    .connectTimeout(
      java.time.Duration.ofMillis((timeout * 4 / 5).min(Fetcher.connectTimeout).toMillis)
    )
    .build()

  /** What the exchange came to: a failure of the network or the server is an [[Answer]], not an error.
    *
    * '''Waits''' at most `timeout`. '''Cancelled''': the connection is closed.
    */
  def fetch(feed: DueFeed): Task[Answer] =
    Task
      .delay(exchange(feed))
      .timeout(timeout)
      .handleError:
        case NonFatal(error) => Answer.Failed(Failure.of(error))
        case fatal => throw fatal

  def close(): Unit =
    client.shutdownNow()
    val _ = executor.shutdownNow()

  private def exchange(feed: DueFeed): Answer =
    var way = Redirects.from(feed.url)
    var answer: Option[Answer] = None
    while answer.isEmpty do
      val body = OpenBody()
      try
        val response = client.send(request(feed, way), body)
        if Redirects.isRedirect(response.statusCode) then
          way = way.follow(response.statusCode, header(response, "Location"))
          Body.discard(response)
        else answer = Some(understand(response, way))
      finally body.close()
    answer.get

  private def request(feed: DueFeed, way: Redirects): HttpRequest =
    val target = address(way.current.uri)
    val request = HttpRequest
      .newBuilder(target)
      .version(if target.getScheme == "https" then Version.HTTP_2 else Version.HTTP_1_1)
      .header("User-Agent", Fetcher.userAgent)
      .header("Accept", "application/rss+xml, application/atom+xml, application/xml, */*;q=0.5")
      .header("Accept-Encoding", "gzip")
    feed.etag.foreach(request.header("If-None-Match", _))
    feed.lastModified.foreach(request.header("If-Modified-Since", _))
    request.build()

  private def understand(response: HttpResponse[InputStream], way: Redirects): Answer =
    val status = response.statusCode
    if status == 200 then
      Answer.Document(
        bytes = Body.read(response, maxBodyBytes),
        charset = header(response, "Content-Type").flatMap(Fetcher.charsetOf),
        etag = header(response, "ETag"),
        lastModified = header(response, "Last-Modified"),
        movedTo = way.movedTo
      )
    else
      Body.discard(response)
      if status == 304 then Answer.NotModified
      else
        val asked = header(response, "Retry-After").flatMap(RetryAfter.parse(_, Instant.now()))
        Answer.Failed(Failure(Fetcher.reasonOf(status), s"status $status", asked))

  private def header(response: HttpResponse[?], name: String): Option[String] =
    val value = response.headers.firstValue(name)
    Option.when(value.isPresent)(value.get).filter(_.nonEmpty)

object Fetcher:
  private val connectTimeout = 10.seconds

  /** Says who asks. */
  private val userAgent = "weir-feeds/0.1"

  private val charsetParameter = "(?i).*;\\s*charset\\s*=\\s*\"?([A-Za-z0-9._:+-]+)\"?.*".r

  private[fetch] def charsetOf(contentType: String): Option[String] =
    contentType match
      case charsetParameter(name) => Some(name)
      case _ => None

  private def reasonOf(status: Int): Reason =
    status match
      case 404 => Reason.NotFound
      case 410 => Reason.Gone
      case 401 | 403 => Reason.Denied
      case 429 => Reason.TooManyRequests
      case client if client >= 400 && client < 500 => Reason.ClientError
      case server if server >= 500 => Reason.ServerError
      case _ => Reason.OtherAnswer

package crawler

import java.io.IOException
import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.time.Duration as JavaDuration
import java.util.concurrent.ConcurrentHashMap
import scala.concurrent.duration.*
import weir.*
import weir.std.{Cache, KeyedSemaphore, RateLimiter}

/** The result of a page. */
enum Fetched:
  case Page(links: List[URI])
  case Refused(status: Int)
  case Failed(error: Throwable)

/** Fetches all pages that can be reached from the first ones, many at a time, but each host
  * politely: few requests of one host at a time, and not too many a second.
  */
final class Crawl private (
    client: HttpClient,
    limits: Crawl.Limits,
    hosts: KeyedSemaphore[String],
    rates: Cache[String, RateLimiter]
):
  private val seen = ConcurrentHashMap.newKeySet[URI]()
  private val results = ConcurrentHashMap[URI, Fetched]()

  /** Returns the result of each page. A round fetches the pages that the one before has found. */
  def from(first: List[URI]): Task[Map[URI, Fetched]] = Task.direct {
    var round = first.filter(seen.add)
    while round.nonEmpty do
      val found = Task.parTraverseN(limits.pages)(round)(visit).await
      round = found.flatten.filter(seen.add)
    scala.jdk.CollectionConverters.ConcurrentMapHasAsScala(results).asScala.toMap
  }

  /** Returns the links of a page. A page that cannot be fetched has none, and stops no other. */
  private def visit(page: URI): Task[List[URI]] =
    fetch(page).handleError(Fetched.Failed(_)).map { fetched =>
      results.put(page, fetched)
      fetched match
        case Fetched.Page(links) => links
        case _ => Nil
    }

  /** Each attempt has its own time limit and takes its own permits; the waits between attempts hold
    * none.
    */
  private def fetch(page: URI): Task[Fetched] =
    val host = page.getAuthority
    val attempt =
      for
        rate <- rates.get(host)(RateLimiter(limits.perSecond, 1.second))
        _ <- rate.acquire
        fetched <- hosts.withPermit(host)(get(page).timeout(limits.time))
      yield fetched
    attempt.retry(Schedule.exponential(50.millis).fullJitter.times(limits.retries))

  private def get(page: URI): Task[Fetched] = Task {
    val request = HttpRequest.newBuilder(page).timeout(JavaDuration.ofMinutes(1)).build()
    val response = client.send(request, HttpResponse.BodyHandlers.ofString())
    response.statusCode match
      case 200 => Fetched.Page(Crawl.links(page, response.body))
      case busy @ (429 | 502 | 503 | 504) => throw IOException(s"$page answered $busy")
      case status => Fetched.Refused(status)
  }

object Crawl:
  /** The limits: of pages at a time, for all hosts and for one; of the time of an attempt; and of
    * the attempts after the first.
    */
  final case class Limits(
      pages: Int,
      perHost: Int,
      perSecond: Int,
      time: FiniteDuration,
      retries: Int
  )

  def apply(client: HttpClient, limits: Limits): Task[Crawl] =
    for
      hosts <- KeyedSemaphore[String](limits.perHost)
      rates <- Cache[String, RateLimiter](expireAfter = 1.hour, maxSize = 10_000)
    yield new Crawl(client, limits, hosts, rates)

  private val link = """href="([^"]+)"""".r

  private def links(page: URI, body: String): List[URI] =
    link.findAllMatchIn(body).map(found => page.resolve(found.group(1))).toList

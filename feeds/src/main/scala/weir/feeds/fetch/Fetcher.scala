package weir.feeds.fetch

import java.io.InputStream
import java.net.{InetAddress, ProxySelector, URI, UnknownHostException}
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.net.http.HttpClient.Version
import java.sql.SQLException
import java.time.Instant
import java.util.concurrent.Executors
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.control.NonFatal

import weir.Task
import weir.feeds.store.DueFeed
import weir.program.DurationText

/** Fetches one feed over HTTP, with plain blocking calls inside a task.
  *
  * The client's own timeouts end when the headers are there, so a body that trickles would go on
  * for ever. The deadline here is the task's ([[Patience]]): it interrupts the blocked read, which
  * closes the connection.
  *
  * @param address
  *   where to find a logical address: the local site lives behind a name that no DNS knows
  * @param timeout
  *   the longest time that servers may take for the whole exchange: connecting, redirects and the
  *   body
  * @param allowsPrivate
  *   true if a server may name private addresses
  * @param resolve
  *   the addresses of a host name, as DNS has them now
  * @param pace
  *   the pauses between requests of a host
  * @param heldFor
  *   the time for which a host is to be left alone; then it gets no request, even if a redirect
  *   leads to it
  */
final class Fetcher(
    timeout: FiniteDuration,
    maxBodyBytes: Int,
    address: URI => URI,
    allowsPrivate: Boolean = false,
    resolve: String => Array[InetAddress] = PinnedNames.resolve,
    userAgent: String = Fetcher.userAgent,
    proxies: Proxies = Proxies.none,
    val pace: HostPace = HostPace.none,
    heldFor: String => Option[FiniteDuration] = _ => None
) extends AutoCloseable:
  ClientProperties.set()
  private val hosts = HostAddresses(resolve)
  private val executor = Executors.newVirtualThreadPerTaskExecutor()
  // The connections of one are never used by another.
  private val forGiven = newClient(HttpClient.Builder.NO_PROXY)
  private val forNamed = newClient(HttpClient.Builder.NO_PROXY)
  private val throughProxy = newClient(proxies)

  private def newClient(selector: ProxySelector): HttpClient =
    HttpClient
      .newBuilder()
      .executor(executor)
      .proxy(selector)
      .followRedirects(HttpClient.Redirect.NEVER)
      .connectTimeout(
        java.time.Duration.ofMillis((timeout * 4 / 5).min(Fetcher.connectTimeout).toMillis)
      )
      .build()

  /** Fetches the feed. A failure of the network or the server is an [[Answer]], not an error. The
    * caller must have begun the first request with `pace`.
    *
    * **Waits** at most `timeout` for servers, and for pauses on the way. **Cancelled**: the
    * connection is closed.
    */
  def fetch(feed: DueFeed): Task[Answer] =
    answered: guard =>
      Task
        .delay(Redirects.from(guard, guard.first(feed.url, feed.isGiven)))
        .flatMap(follow(feed, _, Patience(timeout)))

  /** Fetches, as `fetch` does, a feed that the document `from` names. Makes no request if the
    * document may not lead there, or if the host is held. **Waits** also for the pause of the host.
    */
  def fetchNamed(from: Answer.Document, feed: DueFeed): Task[Answer] =
    answered: guard =>
      Task
        .delay((Redirects.from(guard, guard.next(from.hop, feed.url)), held(feed.url.host)))
        .flatMap:
          case (_, Some(refused)) => Task.pure(Answer.Failed(refused))
          case (way, None) =>
            pace.begin(feed.url.host).flatMap(_ => follow(feed, way, Patience(timeout)))

  /** Runs `body`, and turns its failure into an answer. The guard holds its names until then. */
  private def answered(body: AddressGuard => Task[Answer]): Task[Answer] =
    Task
      .defer:
        val names = hosts.holds()
        body(AddressGuard(allowsPrivate, names)).guarantee(Task.delay(names.close()))
      .handleError:
        case ours: SQLException => throw ours
        case NonFatal(error) => Answer.Failed(Failure.of(error))
        case fatal => throw fatal

  def close(): Unit =
    Vector(forGiven, forNamed, throughProxy).foreach(_.shutdownNow())
    hosts.close()
    val _ = executor.shutdownNow()

  /** Follows the way from redirect to redirect. */
  private def follow(feed: DueFeed, way: Redirects, patience: Patience): Task[Answer] =
    patience
      .during(Task.delay(exchange(feed, way)))
      .flatMap:
        case Right(answer) => Task.pure(answer)
        case Left(next) =>
          val host = next.current.host
          Task
            .delay(if host == feed.url.host then None else held(host))
            .flatMap:
              case Some(held) => Task.pure(Answer.Failed(held))
              case None => pace.begin(host).flatMap(_ => follow(feed, next, patience))

  private def held(host: String): Option[Failure] =
    heldFor(host).map: left =>
      Failure(Reason.HostHeld, s"$host wants a pause of ${DurationText.show(left)}", Some(left))

  /** Returns the answer; or the way with one more hop. */
  private def exchange(feed: DueFeed, way: Redirects): Either[Redirects, Answer] =
    val body = OpenBody()
    try
      val response = send(feed, way, body)
      val location = header(response, "Location")
      if Redirects.isRedirect(response.statusCode, location) then
        val next = way.follow(response.statusCode, location, cookies(response, way))
        Body.discard(response)
        Left(next)
      else Right(understand(response, feed, way))
    finally body.close()

  private def cookies(response: HttpResponse[?], way: Redirects): ChainCookies =
    val lines = response.headers.allValues("Set-Cookie").asScala
    way.cookies.set(way.current, lines, Instant.now())

  private def send(
      feed: DueFeed,
      way: Redirects,
      body: OpenBody
  ): HttpResponse[InputStream] =
    val names = way.guard.names
    val logical = way.current.uri
    val place = address(logical)
    // The local site is in this process.
    val proxy = if place == logical then proxies.of(place) else None
    val isDirect = place == logical && proxy.isEmpty
    if isDirect && names.addresses(way.current.hostName).isEmpty then
      throw UnknownHostException(way.current.hostName)
    val request = newRequest(feed, way, Target.of(place, names.addresses))
    proxy.flatMap(_.login).foreach(login => request.header("Proxy-Authorization", login.basic))
    val client =
      if proxy.nonEmpty then throughProxy else if way.hop.mayBePrivate then forGiven else forNamed
    client.send(request.build(), body)

  private def newRequest(feed: DueFeed, way: Redirects, target: Target): HttpRequest.Builder =
    val version = if target.uri.getScheme == "https" then Version.HTTP_2 else Version.HTTP_1_1
    val request = HttpRequest
      .newBuilder(target.uri)
      .version(version)
      .header("User-Agent", userAgent)
      .header("Accept", "application/rss+xml, application/atom+xml, application/xml, */*;q=0.5")
      .header("Accept-Encoding", Unpacked.accepted)
    target.hostHeader.foreach(request.header("Host", _))
    way.cookie.foreach(request.header("Cookie", _))
    feed.login
      .filter(_ => feed.url.sharesLoginWith(way.current))
      .foreach(login => request.header("Authorization", login.basic))
    feed.etag.foreach(request.header("If-None-Match", _))
    feed.lastModified.foreach(request.header("If-Modified-Since", _))
    request

  private def understand(
      response: HttpResponse[InputStream],
      feed: DueFeed,
      way: Redirects
  ): Answer =
    val status = response.statusCode
    val now = Instant.now()
    if status == 407 then // it has no body if the proxy refuses a tunnel
      Answer.Failed(Failure(Reason.NoConnection, FailureWords.noTunnel("407")))
    else if Fetcher.hasWholeBody(status) then
      Answer.Document(
        content = Body.read(response, maxBodyBytes),
        url = way.current,
        charset = header(response, "Content-Type").flatMap(Fetcher.charsetOf),
        etag = header(response, "ETag"),
        lastModified = header(response, "Last-Modified"),
        freshFor = Freshness.of(response.headers, now),
        movedTo = way.movedTo,
        trusted = way.trusted
      )
    else
      Body.discard(response)
      if status == 304 && (feed.etag.nonEmpty || feed.lastModified.nonEmpty) then
        Answer.NotModified(
          Freshness.of(response.headers, now),
          header(response, "ETag"),
          header(response, "Last-Modified")
        )
      else
        val asked = header(response, "Retry-After").flatMap(RetryAfter.parse(_, now))
        val busy = Option.when(Fetcher.isBusy(status))(way.current.host)
        val why = if status == 304 then s" (not modified), which was not asked for" else ""
        Answer.Failed(Failure(Fetcher.reasonOf(status, way), s"status $status$why", asked, busy))

  private def header(response: HttpResponse[?], name: String): Option[String] =
    val value = response.headers.firstValue(name)
    Option.when(value.isPresent)(value.get).filter(_.nonEmpty)

object Fetcher:
  private val connectTimeout = 10.seconds

  /** The page where operators of servers can read about the program. */
  val homepage = "https://github.com/weir-scala/weir"

  /** The name that the program sends, unless the user gives another one. */
  val userAgent: String =
    val version = Option(classOf[Fetcher].getPackage.getImplementationVersion)
    s"weir-feeds/${version.getOrElse("0")} (+$homepage)"

  private val charsetParameter = "(?i).*;\\s*charset\\s*=\\s*[\"']?\\s*([A-Za-z0-9._:+-]+).*".r

  /** Returns true if what comes with `status` may be the feed: 204 and 205 have no body, 206 has a
    * part of it. For the others that mean success, such as 203 of a proxy, the parser decides.
    */
  private def hasWholeBody(status: Int): Boolean =
    status >= 200 && status < 300 && !Set(204, 205, 206)(status)

  private[fetch] def charsetOf(contentType: String): Option[String] =
    contentType match
      case charsetParameter(name) => Some(name)
      case _ => None

  /** Returns true if the whole host is asked too much, and not a single address wrong. */
  private def isBusy(status: Int): Boolean = status == 429 || status == 503

  /** That a feed is gone is believed of its own server, and of one to which that has moved it for
    * good.
    */
  private def reasonOf(status: Int, way: Redirects): Reason =
    status match
      case 404 => Reason.NotFound
      case 410 => if way.isPermanent then Reason.Gone else Reason.NotFound
      case 401 | 403 => Reason.Denied
      case 429 => Reason.TooManyRequests
      case client if client >= 400 && client < 500 => Reason.ClientError
      case server if server >= 500 => Reason.ServerError
      case _ => Reason.OtherAnswer

package weir.feeds.site

import java.io.IOException
import java.net.StandardSocketOptions
import java.nio.ByteBuffer
import java.nio.channels.SocketChannel
import java.util.concurrent.atomic.{AtomicInteger, AtomicIntegerArray, AtomicLongArray}

import org.eclipse.jetty.http.HttpHeader
import org.eclipse.jetty.io.Content
import org.eclipse.jetty.server.{Handler, Request, Response}
import org.eclipse.jetty.util.Callback

/** Answers the requests of the local site as its plan says, with blocking code on virtual threads.
  */
private[site] final class SiteHandler(plan: SitePlan) extends Handler.Abstract:
  // shared: by the feed's number
  private val requests = AtomicIntegerArray(plan.feeds.size + 1)
  private val planned = AtomicLongArray(plan.feeds.size + 1)

  /** The number of requests for the target of an external entity. */
  val secretsOpened = AtomicInteger()

  /** The number of endless bodies that are being sent now. */
  val openBodies = Gauge()

  /** Returns the planned time of all answers that feed `id` has given so far. */
  def plannedMillis(id: Int): Long = planned.get(id)

  override def handle(request: Request, response: Response, callback: Callback): Boolean =
    val path = Request.getPathInContext(request)
    path match
      case SiteHandler.feedPath(hop, id) if id.toInt >= 1 && id.toInt <= plan.feeds.size =>
        val feed = plan.feeds(id.toInt - 1)
        planned.addAndGet(feed.id, feed.hopMillis)
        Thread.sleep(feed.hopMillis)
        try answer(feed, hop, request, response, callback)
        catch case error: IOException => callback.failed(error)
      case _ =>
        if path.startsWith("/secret") then
          val _ = secretsOpened.incrementAndGet()
        empty(404, response, callback)
    true

  private def answer(
      feed: PlannedFeed,
      hop: String,
      request: Request,
      response: Response,
      callback: Callback
  ): Unit =
    def refusedSoFar = requests.getAndIncrement(feed.id)
    feed.kind match
      case Kind.NotFound => empty(404, response, callback)
      case Kind.Gone => empty(410, response, callback)
      case Kind.ServerError => empty(500, response, callback)
      case Kind.RecoversFromServerError if refusedSoFar < feed.errors =>
        empty(500, response, callback)
      case Kind.Busy if refusedSoFar < 1 =>
        val seconds = PlannedFeed.retryAfter.toSeconds
        response.getHeaders.put(HttpHeader.RETRY_AFTER, seconds)
        empty(429, response, callback)
      case Kind.Reset => reset(request, callback)
      case Kind.RecoversFromReset if refusedSoFar < 1 => reset(request, callback)
      case Kind.MovedForNow if hop == "feeds" => redirect(302, "moved", feed, response, callback)
      case Kind.MovedForGood if hop == "feeds" => redirect(301, "moved", feed, response, callback)
      case Kind.RedirectLoop =>
        val next = if hop == "loop-a" then "loop-b" else "loop-a"
        redirect(302, next, feed, response, callback)
      case Kind.Trickle => trickle(response, callback)
      case Kind.Endless => flood(Long.MaxValue, response, callback)
      case Kind.HugeSilent => flood(SiteHandler.hugeBytes, response, callback)
      case Kind.HugeAnnounced =>
        response.getHeaders.put(HttpHeader.CONTENT_LENGTH, SiteHandler.hugeBytes)
        flood(SiteHandler.hugeBytes, response, callback)
      case _ => document(feed, request, response, callback)

  private def document(
      feed: PlannedFeed,
      request: Request,
      response: Response,
      callback: Callback
  ): Unit =
    val etag = s"\"${plan.seed}-${feed.id}\""
    val modified = SiteXml.httpDate(SiteXml.newest)
    val headers = response.getHeaders
    if feed.hasValidators then
      headers.put(HttpHeader.ETAG, etag)
      val _ = headers.put(HttpHeader.LAST_MODIFIED, modified)
    if feed.hasValidators && request.getHeaders.get(HttpHeader.IF_NONE_MATCH) == etag then
      empty(304, response, callback)
    else
      val body = SiteXml.body(feed, s"http://127.0.0.1:${Request.getServerPort(request)}/secret")
      val isGzipped =
        (feed.isGzipped && feed.kind != Kind.Large) || feed.kind == Kind.GzipBomb
      val bytes = if isGzipped then SiteXml.gzip(body) else body
      if isGzipped then
        val _ = headers.put(HttpHeader.CONTENT_ENCODING, "gzip")
      headers.put(HttpHeader.CONTENT_TYPE, SiteHandler.contentType(feed))
      headers.put(HttpHeader.CONTENT_LENGTH, bytes.length.toLong)
      response.setStatus(200)
      Content.copy(Content.Source.from(SiteHandler.parts(bytes)*), response, callback)

  private def empty(status: Int, response: Response, callback: Callback): Unit =
    response.setStatus(status)
    response.write(true, ByteBuffer.allocate(0), callback)

  private def redirect(
      status: Int,
      hop: String,
      feed: PlannedFeed,
      response: Response,
      callback: Callback
  ): Unit =
    response.getHeaders.put(HttpHeader.LOCATION, s"/$hop/${feed.id}.xml")
    empty(status, response, callback)

  /** Breaks the connection with an RST, as a crashed server does. */
  private def reset(request: Request, callback: Callback): Unit =
    request.getConnectionMetaData.getConnection.getEndPoint.getTransport match
      case channel: SocketChannel =>
        channel.setOption(StandardSocketOptions.SO_LINGER, Integer.valueOf(0))
        channel.close()
      case other => throw IllegalStateException(s"SiteHandler: no socket but ${other.getClass}")
    callback.failed(IOException("reset by plan"))

  /** Sends a few bytes now and then, until the other side gives up. */
  private def trickle(response: Response, callback: Callback): Unit =
    send(response, callback): out =>
      out.write(SiteXml.opening)
      while true do
        out.write(' ')
        out.flush()
        Thread.sleep(SiteHandler.trickleMillis)

  /** Sends `bytes` of XML as fast as the other side takes it. */
  private def flood(bytes: Long, response: Response, callback: Callback): Unit =
    send(response, callback): out =>
      var left = bytes
      while left > 0 do
        val count = left.min(SiteXml.filler.length.toLong).toInt
        out.write(SiteXml.filler, 0, count)
        left -= count

  private def send(response: Response, callback: Callback)(
      body: java.io.OutputStream => Unit
  ): Unit =
    response.setStatus(200)
    response.getHeaders.put(HttpHeader.CONTENT_TYPE, "application/rss+xml")
    openBodies.add(1)
    try
      body(Content.Sink.asOutputStream(response))
      callback.succeeded()
    finally openBodies.add(-1)

private object SiteHandler:
  val feedPath = "/(feeds|moved|loop-a|loop-b)/([0-9]{1,8})\\.xml".r

  /** 50 MB of XML. */
  val hugeBytes = 50_000_000L

  private val partBytes = 32 * 1024

  /** Views of `bytes`. The JDK copies a buffer that it writes into memory outside of the heap, and
    * each carrier keeps the largest of these copies.
    */
  def parts(bytes: Array[Byte]): Seq[ByteBuffer] =
    (0 until bytes.length by partBytes).map(at =>
      ByteBuffer.wrap(bytes, at, partBytes.min(bytes.length - at)).slice()
    )

  /** Often enough that no time-out between two reads ever strikes. */
  val trickleMillis = 100L

  def contentType(feed: PlannedFeed): String =
    feed.kind match
      case Kind.UnknownEncoding => "application/xml"
      case _ if feed.isAtom => "application/atom+xml; charset=utf-8"
      case _ => "application/rss+xml; charset=utf-8"

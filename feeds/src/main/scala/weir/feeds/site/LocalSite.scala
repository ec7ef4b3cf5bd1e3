package weir.feeds.site

import java.net.URI
import java.util.concurrent.Executors
import scala.concurrent.duration.*

import org.eclipse.jetty.server.{Server, ServerConnector}
import org.eclipse.jetty.util.thread.QueuedThreadPool

import weir.feeds.input.{FeedUrl, NewFeed}
import weir.feeds.store.FeedOrigin

/** A small web site of feeds in this process, so that the first run needs no network.
  *
  * Its feeds are stored under a name that no DNS knows, and [[address]] leads there; so the
  * database holds good when the site is started again on another port, and two runs at once each
  * have theirs.
  */
final class LocalSite private (
    val plan: SitePlan,
    server: Server,
    handler: SiteHandler,
    port: Int
) extends AutoCloseable:
  /** Returns the real address of `logical`: this process for the site's name, and the same address
    * for all others.
    */
  def address(logical: URI): URI =
    if logical.getAuthority != LocalSite.host then logical
    else
      val query = Option(logical.getRawQuery).fold("")("?" + _)
      URI.create(s"http://127.0.0.1:$port${logical.getRawPath}$query")

  /** Returns the planned time of all answers that the feed at `url` has given so far. */
  def plannedMillis(url: FeedUrl): Long =
    url.text match
      case LocalSite.numbered(id) => handler.plannedMillis(id.toInt)
      case _ => 0

  /** Returns how often the target of an external entity was requested. */
  def secretsOpened: Int = handler.secretsOpened.get

  /** Returns the number of endless bodies that are being sent now. */
  def openBodies: Gauge = handler.openBodies

  def close(): Unit = server.stop()

object LocalSite:
  val host: String = FeedOrigin.demoHost

  private val numbered = s"http://${host.replace(".", "\\.")}/[a-z-]+/([0-9]{1,8})\\.xml".r

  /** Its requests mostly sleep, so they run on virtual threads; these few serve the selector. */
  private val platformThreads = 8

  private val backlog = 512

  /** Returns the feeds of `plan` to add to the database, with their expected times. */
  def newFeeds(
      plan: SitePlan,
      timeout: FiniteDuration,
      retries: Int,
      base: FiniteDuration
  ): Vector[NewFeed] =
    plan.feeds.map: feed =>
      val url = FeedUrl.parse(s"http://$host${feed.path}").fold(sys.error, identity)
      NewFeed(url, title = None, feed.expected(timeout, retries, base))

  /** Returns the site of `plan`, running on a free port of the loop-back interface. */
  def start(plan: SitePlan): LocalSite =
    val threads = QueuedThreadPool(platformThreads, 4)
    threads.setName("local-site")
    threads.setDaemon(true)
    threads.setReservedThreads(0)
    threads.setVirtualThreadsExecutor(Executors.newVirtualThreadPerTaskExecutor())
    val server = Server(threads)
    val connector = ServerConnector(server, 1, 1)
    connector.setHost("127.0.0.1")
    connector.setPort(0)
    connector.setAcceptQueueSize(backlog)
    server.addConnector(connector)
    val handler = SiteHandler(plan)
    server.setHandler(handler)
    server.setStopTimeout(0)
    server.start()
    LocalSite(plan, server, handler, connector.getLocalPort)

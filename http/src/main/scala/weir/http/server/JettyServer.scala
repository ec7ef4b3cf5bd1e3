package weir.http.server

import java.io.IOException
import java.net.{InetAddress, InetSocketAddress, NetworkInterface}
import java.nio.channels.{SelectionKey, SocketChannel}
import org.eclipse.jetty.http.UriCompliance
import org.eclipse.jetty.http.UriCompliance.Violation
import org.eclipse.jetty.io.{ManagedSelector, SocketChannelEndPoint}
import org.eclipse.jetty.server.{
  ConnectionFactory,
  HttpConfiguration,
  HttpConnectionFactory,
  Server,
  ServerConnector
}
import scala.concurrent.duration.{DurationInt, FiniteDuration}
import scala.jdk.CollectionConverters.*
import weir.http.{Request, Response, ServerSettings}
import weir.metrics.Metrics
import weir.{Resource, Task, WeirRuntime}

/** Jetty, from its start to its end. */
private[http] final class JettyServer private (
    server: Server,
    connector: ServerConnector,
    requests: Requests
):
  val port: Int = connector.getLocalPort

  def requestsInFlight: Int = requests.inFlight

  private val settings = requests.settings
  requests.figures.port = port
  private val registration = Metrics.register(requests.figures)

  /** Closes connections whose header fields are late, and cancels handlers that are, again and
    * again.
    */
  private val sweep: Task[Nothing] =
    val shortest = settings.headerTimeout.min(settings.handlerTimeout)
    val every = (shortest / 4).max(1.milli).min(1.second)
    JettyServer.sweep(every, requests.log) { now =>
      connections.foreach { endPoint =>
        endPoint.closeIfLate(now)
        val exchange = endPoint.inFlight
        if exchange != null then exchange.stopIfLate(now)
      }
    }

  private val drain: Task[Unit] =
    for
      _ <- Task.delay { requests.isDraining = true }
      _ <- Task.sleep(settings.drainDelay)
      _ <- Task.delay(connector.shutdown())
      _ <- requests.drain(settings.drainTimeout, connections)
    yield ()

  private object connections extends Requests.Connections:
    def foreach(look: WatchedEndPoint => Unit): Unit =
      connector.getConnectedEndPoints.forEach {
        case endPoint: WatchedEndPoint => look(endPoint)
        case _ => ()
      }

    def areOpen: Boolean = !connector.getConnectedEndPoints.isEmpty

    def readAll: Task[Unit] = Task.traverse(selectors)(round).void

    /** Waits for a round of `selector`: it first runs what was submitted, then asks for what has
      * come, and then calls whoever waits for it. So the second update comes after that.
      */
    private def round(selector: ManagedSelector): Task[Unit] =
      Task.async(done => selector.submit(_ => selector.submit(_ => done(Right(())))))

    private def selectors: List[ManagedSelector] =
      connector.getSelectorManager.getBeans(classOf[ManagedSelector]).asScala.toList

    def stopAll(): Unit = foreach { endPoint =>
      val exchange = endPoint.inFlight
      if exchange != null then exchange.stop(Exchange.Reason.Drained)
    }

  private val stop: Task[Unit] = Task.delay {
    registration.close()
    server.stop()
  }

private[http] object JettyServer:
  /** The threads that read connections and parse requests. */
  private def selectors: Int = (Runtime.getRuntime.availableProcessors / 2).max(1)

  /** Those of the acceptor and of callbacks. */
  private val otherThreads = 7

  private val backlog = 1024

  def running(
      port: Int,
      settings: ServerSettings,
      handler: Request => Task[Response],
      runtime: WeirRuntime,
      times: => HandlerTimes = HandlerTimes()
  ): Resource[JettyServer] =
    for
      server <- Resource.make(
        Task.delay(start(port, Requests(settings, handler, runtime, times)))
      )(_.stop)
      // Limits of time hold during the drain as well: it is released before the sweep.
      _ <- server.sweep.background
      _ <- Resource.make(Task.unit)(_ => server.drain)
    yield server

  /** Calls `look` with the time, after each `every`, again and again. Logs what it throws. */
  private[server] def sweep(every: FiniteDuration, log: ServerLog)(
      look: Long => Unit
  ): Task[Nothing] =
    Task
      .delay(look(System.nanoTime()))
      .handleErrorWith(error => Task.delay(log.sweepFailed(error)))
      .delayBy(every)
      .forever

  private def start(port: Int, requests: Requests): JettyServer =
    val settings = requests.settings
    val server = Server(ReaderThreads(selectors, otherThreads, requests.times))
    val http = HttpConnectionFactory(configuration(settings))
    val protocol = settings.tls match
      case Some(tls) =>
        tls.engine(): Unit // so that wrong parameters fail here
        TlsConnections(tls, http)
      case None => http
    val connector = WatchedConnector(server, protocol, settings.headerTimeout)
    connector.setHost(settings.host)
    connector.setPort(port)
    connector.setAcceptQueueSize(backlog)
    connector.setIdleTimeout(settings.idleTimeout.toMillis)
    // Requests in flight have their time during the drain as well.
    connector.setShutdownIdleTimeout(settings.idleTimeout.toMillis)
    server.addConnector(connector)
    server.setHandler(RequestHandler(requests))
    server.setErrorHandler(RefusalHandler(requests))
    server.setStopTimeout(0)
    try
      connector.open()
      server.start()
    catch
      case error: IOException =>
        server.stop()
        throw cannotListen(port, settings.host, error)
    new JettyServer(server, connector, requests)

  private def cannotListen(port: Int, host: String, error: IOException): IOException =
    val address = InetSocketAddress(host, port).getAddress
    // Jetty's own message has no more than the address.
    val reason = Option(error.getCause).flatMap(cause => Option(cause.getMessage))
    val message =
      if address == null then s"the host $host cannot be resolved. $otherHost"
      else if isElsewhere(address) then s"$host is not an address of this machine. $otherHost"
      else
        s"port $port of $host cannot be used: ${reason.getOrElse(error.getMessage)}. " +
          "Choose another port; 0 takes a free one."
    IOException(s"HttpServer.serve: $message", error)

  private def isElsewhere(address: InetAddress): Boolean =
    !address.isAnyLocalAddress && !address.isLoopbackAddress &&
      NetworkInterface.getByInetAddress(address) == null

  private val otherHost =
    "Set ServerSettings.host to a name or an address of this machine; 0.0.0.0 stands for all."

  /** Also allows the paths of RFC 3986 that mean another thing to a server of files. */
  private val uris = UriCompliance.DEFAULT.`with`(
    "weir",
    Violation.AMBIGUOUS_EMPTY_SEGMENT,
    Violation.AMBIGUOUS_PATH_SEPARATOR,
    Violation.AMBIGUOUS_PATH_ENCODING,
    Violation.SUSPICIOUS_PATH_CHARACTERS
  )

  private def configuration(settings: ServerSettings): HttpConfiguration =
    val configuration = HttpConfiguration()
    configuration.setSendServerVersion(false)
    configuration.setRequestHeaderSize(settings.headerLimitBytes)
    configuration.setUriCompliance(uris)
    configuration

  /** Makes end points that notice when their clients go. */
  private final class WatchedConnector(
      server: Server,
      protocol: ConnectionFactory,
      headerTimeout: FiniteDuration
  ) extends ServerConnector(server, 1, selectors, protocol):

    override protected def newEndPoint(
        channel: SocketChannel,
        selector: ManagedSelector,
        key: SelectionKey
    ): SocketChannelEndPoint =
      val endPoint =
        WatchedEndPoint(channel, selector, key, getScheduler, getExecutor, headerTimeout.toNanos)
      endPoint.setIdleTimeout(getIdleTimeout)
      endPoint

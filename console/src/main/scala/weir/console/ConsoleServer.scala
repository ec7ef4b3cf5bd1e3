package weir.console

import com.sun.net.httpserver.{HttpExchange, HttpServer}
import java.io.IOException
import java.net.{InetAddress, InetSocketAddress, URLDecoder}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.{Executors, SynchronousQueue, ThreadPoolExecutor, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger
import scala.util.control.NonFatal
import weir.WeirRuntime

/** The web server of a console, on the JDK's own one.
  *
  * Its threads are platform threads, and daemons. A console on virtual threads would need the
  * carriers, and could not show that these are all busy.
  */
private[console] final class ConsoleServer(
    settings: ConsoleSettings,
    address: InetAddress,
    runtime: WeirRuntime,
    lints: Lints
):
  import ConsoleServer.*

  private val http = listen(address, settings)
  private val threads = ThreadPoolExecutor(
    0,
    mostThreads,
    30,
    TimeUnit.SECONDS,
    SynchronousQueue(),
    daemon("weir-console")
  )
  private val clock = Executors.newScheduledThreadPool(2, daemon("weir-console-clock"))
  private val sampler = Sampler(lints)
  private val fiberPages = FiberPages(runtime)
  private val pages = Pages(runtime, sampler, fiberPages, settings.mayChange)
  private val access = Access(settings.token, s"weir-console-$port")
  private val listeners = AtomicInteger()

  def port: Int = http.getAddress.getPort

  def url: String =
    val host = if address.isLoopbackAddress then "localhost" else address.getHostAddress
    s"http://$host:$port/"

  private def begin(): this.type =
    tick()
    clock.scheduleWithFixedDelay(() => tick(), 1, 1, TimeUnit.SECONDS): Unit
    clock.scheduleWithFixedDelay(() => guarded(fiberPages.refresh()), 1, 1, TimeUnit.SECONDS): Unit
    http.setExecutor(threads)
    http.createContext("/", handle(_)): Unit
    // The server's thread is a daemon if the one that starts it is.
    val starts = Thread.ofPlatform().daemon().name("weir-console-start").start(() => http.start())
    starts.join()
    this

  def stop(): Unit =
    clock.shutdownNow(): Unit
    http.stop(0)
    threads.shutdownNow(): Unit

  private def tick(): Unit = guarded {
    val (now, process) = (System.currentTimeMillis(), Series.readProcess())
    sampler.tick(now, runtime.metrics, process, fiberPages.known)
  }

  /** A clock whose task has thrown stops. */
  private def guarded(task: => Unit): Unit =
    try task
    catch case NonFatal(error) => System.err.println(s"weir: the console has no figures: $error")

  private def handle(exchange: HttpExchange): Unit =
    try
      val request = requestOf(exchange)
      access.refusal(request).orElse(access.login(request)) match
        case Some(reply) => send(exchange, reply)
        case None if request.path == "/events" => events(exchange)
        case None => send(exchange, pages(request))
    catch
      case _: IOException => () // the browser has gone
      case NonFatal(error) => send(exchange, Reply.text(500, s"The console failed: $error"))
    finally exchange.close()

  private def send(exchange: HttpExchange, reply: Reply): Unit =
    val headers = exchange.getResponseHeaders
    (always ++ reply.headers).foreach(headers.set(_, _))
    headers.set("Content-Type", reply.contentType)
    val hasBody = exchange.getRequestMethod != "HEAD" && reply.body.nonEmpty
    exchange.sendResponseHeaders(reply.status, if hasBody then reply.body.length else -1)
    if hasBody then exchange.getResponseBody.write(reply.body)

  /** Sends each moment, as server-sent events, until the browser leaves. */
  private def events(exchange: HttpExchange): Unit =
    if listeners.incrementAndGet() > mostListeners then
      listeners.decrementAndGet(): Unit
      send(exchange, Reply.text(503, s"$mostListeners pages are open already. Close one."))
    else
      try
        always.foreach(exchange.getResponseHeaders.set(_, _))
        exchange.getResponseHeaders.set("Content-Type", "text/event-stream")
        exchange.sendResponseHeaders(200, 0)
        val out = exchange.getResponseBody
        var number = 0L
        while true do
          val sample = sampler.after(number)
          number = sample.number
          fiberPages.touch()
          out.write(s"data: ${sample.json.text}\n\n".getBytes(UTF_8))
          out.flush()
      catch case _: InterruptedException => () // the console stops
      finally listeners.decrementAndGet(): Unit

private[console] object ConsoleServer:
  /** The largest number of requests at a time; each open page has one. */
  private inline val mostThreads = 64
  private inline val mostListeners = 32

  private val always = Vector(
    "Cache-Control" -> "no-store",
    "X-Content-Type-Options" -> "nosniff",
    "Referrer-Policy" -> "no-referrer",
    "X-Frame-Options" -> "DENY"
  )

  def start(
      settings: ConsoleSettings,
      runtime: WeirRuntime,
      lints: Lints = Lints()
  ): ConsoleServer =
    new ConsoleServer(settings, settings.checked(), runtime, lints).begin()

  private def daemon(name: String): java.util.concurrent.ThreadFactory =
    Thread.ofPlatform().daemon().name(name).factory()

  private def listen(address: InetAddress, settings: ConsoleSettings): HttpServer =
    try HttpServer.create(InetSocketAddress(address, settings.port), 0)
    catch
      case error: IOException =>
        throw IOException(
          s"Console.serve: port ${settings.port} of ${settings.host} cannot be used: " +
            s"${error.getMessage}. Choose another port; 0 takes a free one.",
          error
        )

  private def requestOf(exchange: HttpExchange): Request =
    val uri = exchange.getRequestURI
    val query = Option(uri.getRawQuery).toList
      .flatMap(_.split('&'))
      .collect { case s"$name=$value" => decoded(name) -> decoded(value) }
      .toMap
    Request(
      exchange.getRequestMethod,
      Option(uri.getPath).getOrElse("/"),
      query,
      exchange.getRequestHeaders.getFirst(_)
    )

  private def decoded(text: String): String =
    try URLDecoder.decode(text, UTF_8)
    catch case _: IllegalArgumentException => text // not well-formed

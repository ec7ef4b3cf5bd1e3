package weir.program

import java.io.{BufferedReader, InputStreamReader}
import java.net.URI
import java.net.http.{HttpClient, HttpRequest, WebSocket}
import java.net.http.HttpResponse.BodyHandlers
import java.nio.file.{Files, Path}
import java.util.Comparator
import java.util.concurrent.{CompletableFuture, CompletionStage, ConcurrentHashMap}
import java.util.concurrent.{ConcurrentLinkedQueue, TimeUnit}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import scala.jdk.CollectionConverters.*

/** A real Chromium without a window, driven over its DevTools protocol. */
final class Browser private (process: Process, port: Int, client: HttpClient):
  private val tabs = ConcurrentLinkedQueue[Browser.Tab]()

  /** A new tab that shows the file on a screen of that size. */
  def open(file: Path, width: Int, height: Int, isDark: Boolean = false): Browser.Tab =
    visit(file.toUri, width, height, isDark)

  /** A new tab that shows the page at `address` on a screen of that size. */
  def visit(address: URI, width: Int, height: Int, isDark: Boolean = false): Browser.Tab =
    val request = HttpRequest
      .newBuilder(URI.create(s"http://127.0.0.1:$port/json/new?about:blank"))
      .PUT(HttpRequest.BodyPublishers.noBody())
      .build()
    val target = ujson.read(client.send(request, BodyHandlers.ofString()).body)
    val tab = Browser.Tab(client, URI.create(target("webSocketDebuggerUrl").str))
    tabs.add(tab)
    for domain <- List("Page", "Network", "Runtime", "Log") do tab.call(s"$domain.enable"): Unit
    val screen =
      ujson.Obj(
        "width" -> width,
        "height" -> height,
        "deviceScaleFactor" -> 1,
        "mobile" -> (width < 600)
      )
    tab.call("Emulation.setDeviceMetricsOverride", screen): Unit
    val scheme =
      ujson.Obj("name" -> "prefers-color-scheme", "value" -> (if isDark then "dark" else "light"))
    tab.call("Emulation.setEmulatedMedia", ujson.Obj("features" -> ujson.Arr(scheme))): Unit
    tab.go(address)
    tab

  /** Closes what is left of a test. */
  def closeTabs(): Unit = Iterator.continually(tabs.poll()).takeWhile(_ != null).foreach(_.close())

  private def close(): Unit =
    process.descendants.forEach(child => child.destroyForcibly(): Unit)
    val _ = process.destroyForcibly().waitFor(10, TimeUnit.SECONDS)

object Browser:
  private val names =
    List("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

  /** The browser of this machine, if it has one. */
  def find(): Option[Path] =
    val folders = sys.env.getOrElse("PATH", "").split(java.io.File.pathSeparator).map(Path.of(_))
    val onMac = Path.of("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
    (names.flatMap(name => folders.map(_.resolve(name))) :+ onMac).find(Files.isExecutable)

  /** One for all suites of this JVM, since its start takes seconds; it ends with the JVM. */
  lazy val shared: Browser =
    val profile = Files.createTempDirectory("weir-browser")
    val browser = start(find().get, profile)
    sys.addShutdownHook {
      browser.close()
      Files.walk(profile).sorted(Comparator.reverseOrder).forEach(Files.deleteIfExists(_): Unit)
    }: Unit
    browser

  private def start(binary: Path, profile: Path): Browser =
    val flags = Seq(
      "--headless=new",
      "--no-sandbox", // which it refuses to have as root, as in containers
      "--disable-gpu",
      "--no-first-run",
      "--disable-extensions",
      "--disable-component-update",
      "--disable-background-networking",
      "--hide-scrollbars",
      "--remote-debugging-port=0",
      s"--user-data-dir=$profile",
      "about:blank"
    )
    val process = ProcessBuilder((binary.toString +: flags)*).redirectErrorStream(true).start()
    val output = BufferedReader(InputStreamReader(process.getInputStream))
    val listening = "DevTools listening on ws://127.0.0.1:(\\d+)/.*".r
    val port = Iterator
      .continually(output.readLine())
      .takeWhile(_ != null)
      .collectFirst { case listening(port) => port.toInt }
    val _ = Thread.ofPlatform().daemon().start(() => output.lines().forEach(_ => ()))
    Browser(
      process,
      port.getOrElse(sys.error(s"$binary did not start")),
      HttpClient.newHttpClient()
    )

  final class Tab(client: HttpClient, address: URI):
    private val answers = ConcurrentHashMap[Int, CompletableFuture[ujson.Value]]()
    private val events = ConcurrentLinkedQueue[ujson.Value]()
    @volatile private var loaded = CompletableFuture[Unit]()
    private val ids = AtomicInteger()

    private object Listener extends WebSocket.Listener:
      private val text = StringBuilder()
      override def onText(
          socket: WebSocket,
          part: CharSequence,
          isLast: Boolean
      ): CompletionStage[?] | Null =
        text.append(part)
        if isLast then
          receive(ujson.read(text.toString))
          text.clear()
        socket.request(1)
        null

    private val socket = client.newWebSocketBuilder().buildAsync(address, Listener).join()

    private def receive(message: ujson.Value): Unit =
      message.obj.get("id") match
        case Some(id) => answers.remove(id.num.toInt).complete(message): Unit
        case None =>
          events.add(message)
          if message("method").str == "Page.loadEventFired" then loaded.complete(()): Unit

    def call(method: String, params: ujson.Obj = ujson.Obj()): ujson.Value =
      val id = ids.incrementAndGet()
      val answer = CompletableFuture[ujson.Value]()
      answers.put(id, answer)
      val message = ujson.Obj("id" -> id, "method" -> method, "params" -> params)
      socket.sendText(ujson.write(message), true).join()
      answer.get(30, TimeUnit.SECONDS)

    /** Shows the page at `address`, and waits until it has been loaded. */
    def go(address: URI): Unit =
      loaded = CompletableFuture[Unit]()
      call("Page.navigate", ujson.Obj("url" -> address.toString)): Unit
      loaded.get(30, TimeUnit.SECONDS)

    def evaluate(script: String): ujson.Value =
      val params =
        ujson.Obj("expression" -> script, "returnByValue" -> true, "awaitPromise" -> true)
      call("Runtime.evaluate", params)("result")("result")("value")

    /** The requests of the page: files, the network, anything. */
    def requests: Vector[String] = all("Network.requestWillBeSent").map(_("request")("url").str)

    /** Errors, and what the console shows. */
    def problems: Vector[String] =
      List("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded").toVector
        .flatMap(all)
        .map(ujson.write(_))

    /** The whole page as a PNG. */
    def screenshot(): Array[Byte] =
      val params = ujson.Obj("format" -> "png", "captureBeyondViewport" -> true)
      val data = call("Page.captureScreenshot", params)("result")("data").str
      java.util.Base64.getDecoder.decode(data)

    private val isClosed = AtomicBoolean()

    def close(): Unit = if isClosed.compareAndSet(false, true) then call("Page.close"): Unit

    private def all(method: String): Vector[ujson.Value] =
      events.asScala.toVector.filter(_("method").str == method).map(_("params"))

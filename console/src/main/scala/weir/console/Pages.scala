package weir.console

import java.nio.charset.StandardCharsets.UTF_8
import java.security.SecureRandom
import java.util.HexFormat
import weir.WeirRuntime
import weir.console.Json.json

/** Answers the requests that are served. */
private[console] final class Pages(
    runtime: WeirRuntime,
    sampler: Sampler,
    fiberPages: FiberPages,
    mayChange: Boolean
):
  import Pages.*

  def apply(request: Request): Reply = (request.method, request.path) match
    case ("POST", path) => post(path, request)
    case ("GET" | "HEAD", path) => get(path, request)
    case _ => Reply.text(405, "The console answers GET, and POST for changes.")

  private def post(path: String, request: Request): Reply = path match
    case _ if !mayChange =>
      Reply.text(403, "The console may not change anything. Start it with mayChange = true.")
    case "/api/cancel" => cancel(request("fiber"))
    case "/api/dead/revive" => DeadPages.revive(request("queue"), request("id"))
    case "/api/dead/delete" => DeadPages.delete(request("queue"), request("id"))
    case _ => noPage

  private def get(path: String, request: Request): Reply = path match
    case "/" => page()
    case "/metrics" =>
      Reply(200, PrometheusText.contentType, PrometheusText(runtime.metrics).getBytes(UTF_8))
    case "/top" => Reply.text(200, Top(sampler.now, fiberPages.fibers()))
    case "/api/runtime" =>
      Reply.json(Json.fields("mayChange" -> mayChange.json, "history" -> sampler.series))
    case "/api/now" =>
      fiberPages.touch()
      Reply.json(sampler.now.json)
    case "/api/fibers" => Reply.json(fiberPages.page(request("search"), request("sort")))
    case "/api/group" =>
      found(fiberPages.group(request("id"), request("search")), "The group has no fibers any more.")
    case "/api/fiber" => found(fiberPages.one(request("fiber")), "The fiber has ended.")
    case "/api/tree" => Reply.json(fiberPages.tree(request("parent")))
    case "/api/queues" => Reply.json(DeadPages.queues)
    case "/api/dead" => DeadPages.list(request("queue"))
    case _ => noPage

  private def noPage: Reply =
    Reply.text(404, "There is no such page. The pages are /, /metrics and /top.")

  private def found(json: Option[Json], otherwise: String): Reply =
    json.fold(Reply.text(404, otherwise))(Reply.json)

  private def cancel(fiber: String): Reply =
    if runtime.cancelFiber(fiber) then Reply.text(200, "The cancel is requested.")
    else Reply.text(404, "The fiber has ended, or its name is not unique.")

private[console] object Pages:
  private val random = SecureRandom()

  private lazy val List(html, style, script) =
    List("console.html", "console.css", "console.js").map { name =>
      val in = getClass.getResourceAsStream(s"/weir/console/$name")
      try String(in.readAllBytes(), UTF_8)
      finally in.close()
    }: @unchecked

  /** Returns the page, with its style and script in it. The browser runs no other script: these
    * have a number that is new in each answer.
    */
  private def page(): Reply =
    val bytes = new Array[Byte](16)
    random.nextBytes(bytes)
    val nonce = HexFormat.of().formatHex(bytes)
    val text = html
      .replace("{nonce}", nonce)
      .replace("/*style*/", style)
      .replace("/*script*/", script)
    Reply(
      200,
      "text/html; charset=utf-8",
      text.getBytes(UTF_8),
      Vector(
        "Content-Security-Policy" ->
          (s"default-src 'none'; script-src 'nonce-$nonce'; style-src 'nonce-$nonce'; " +
            "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
      )
    )

package weir.interop.sttp

import java.net.URLDecoder
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64
import scala.concurrent.duration.*
import weir.http.{Body, Headers, HttpError, Request, Response}
import weir.io.Bytes
import weir.{Stream, Task}

/** Answers what the suites of sttp ask: they expect a server at a port of their own. The server of
  * sttp is not published.
  */
private object SttpTestServer:
  val binary: Array[Byte] = Array.tabulate(10_000)(i => (i * 31).toByte)
  val text: Array[Byte] = "a text\nof two lines\n".getBytes
  val gzipped: Array[Byte] = all(Stream(text).through(Bytes.gzip()))

  private def all(blocks: Stream[Array[Byte]]): Array[Byte] =
    blocks.toList.map(_.toArray.flatten).runSync()

  def handle(request: Request): Task[Response] = request.segments match
    case "echo" :: rest => echo(request, rest)
    case "streaming" :: rest => streaming(request, rest)
    case "redirect" :: rest => redirect(request, rest)
    case "multipart" :: rest => MultipartEcho(request, rest)
    case "cookies" :: List(name) => cookies(request, name)
    case "download" :: List(name) => bytes(if name == "binary" then binary else text)
    case List(name) => other(request, name)
    case "sse" :: _ =>
      request.body.text().map(data => Response(200, body = Body.text(events(data))))
    case _ => Task.fail(HttpError(404, "not found"))

  private def answer(text: String, headers: (String, String)*): Task[Response] =
    Task.pure(
      Response(
        200,
        Headers(("Content-Type" -> "text/plain; charset=UTF-8") +: headers*),
        Body.text(text)
      )
    )

  private def bytes(bytes: Array[Byte]): Task[Response] =
    Task.pure(Response(200, body = Body(bytes)))

  private def words(parts: String*): String = parts.filter(_.nonEmpty).mkString(" ")

  private def pairs(values: Seq[(String, String)]): String =
    values.sortBy(_._1).map((name, value) => s"$name=$value").mkString(" ")

  private def decoded(form: String): Seq[(String, String)] =
    form.split('&').toSeq.map { case s"$name=$value" =>
      URLDecoder.decode(name, UTF_8) -> URLDecoder.decode(value, UTF_8)
    }

  private def echo(request: Request, rest: List[String]): Task[Response] = rest match
    case Nil =>
      request.body
        .text()
        .flatMap(text => answer(words(request.method, "/echo", pairs(request.query), text)))
    case List("exact") => request.body.bytes().flatMap(bytes)
    case List("headers") =>
      answer(request.headers.toVector.map((name, value) => s"$name->$value").mkString(","))
    case List("custom_status", status) =>
      request.body.text().map { text =>
        Response.text(words("POST", s"/echo/custom_status/$status", text), status.toInt)
      }
    case List("form_params", "as_string") =>
      request.body.text().flatMap(form => answer(pairs(decoded(form))))
    case _ => request.body.text().flatMap(answer(_))

  private def streaming(request: Request, rest: List[String]): Task[Response] = rest match
    case List("is_chunked") =>
      request.body.bytes().flatMap(_ => answer(s"${request.body.length.isEmpty}"))
    case List("slow") =>
      val letters = Stream.fixedRate(100.millis).take(20).map(_ => "a".getBytes)
      Task.pure(Response.stream(letters, "text/plain"))
    case _ => request.body.bytes().flatMap(bytes)

  private def events(data: String): String =
    val lines = data.linesIterator.map(line => s"data: $line\n").mkString
    (1 to 3).map(id => s"${lines}event: test-event\nid: $id\nretry: 42000\n\n").mkString

  private def redirect(request: Request, rest: List[String]): Task[Response] =
    def to(status: Int, location: String) =
      request.body.bytes().as(Response(status, Headers("Location" -> location)))
    rest match
      case List("r1") => to(307, "/redirect/r2")
      case List("r2") => to(308, "/redirect/r3")
      case List("r3") => to(302, "/redirect/r4")
      case List("r4") => answer("819")
      case List("loop") => to(302, "/redirect/loop")
      case List("relative") => to(308, "r4")
      case List("get_after_post", "result") =>
        request.body.text().flatMap(text => answer(request.method + text))
      case List("get_after_post", s"r$status") =>
        to(status.toInt, "/redirect/get_after_post/result")
      case List("strip_sensitive_headers", "r1") =>
        to(308, "/redirect/strip_sensitive_headers/result")
      case _ => answer(request.headers.toString)

  private def cookies(request: Request, name: String): Task[Response] =
    def set(values: String*) = answer("ok", values.map("Set-Cookie" -> _)*)
    name match
      case "set_with_expires" => set("c=v; Expires=Mon, 08 Dec 1997 12:49:12 GMT")
      case "get_cookie2" => answer(request.headers.get("Cookie").getOrElse("no cookie"))
      case _ =>
        set(
          "cookie1=value1; Max-Age=123; Secure; HttpOnly",
          "cookie2=value2",
          "cookie3=; Domain=xyz; Path=a/b/c"
        )

  private def other(request: Request, name: String): Task[Response] =
    def encoded(encoding: String, status: Int) =
      val headers = Headers("Content-Encoding" -> encoding)
      Task.pure(Response(status, headers, Body.stream(Stream.empty)))
    name match
      case "set_headers" if request.method != "GET" => Task.fail(HttpError(405, "GET alone"))
      case "set_headers" =>
        answer(
          "ok",
          "Server" -> "akka-http of another name",
          "Cache-Control" -> "max-age=1000",
          "Cache-Control" -> "no-cache"
        )
      case "set_content_type_header_with_encoding_in_quotes" =>
        request.body.text().map { text =>
          val headers = Headers("Content-Type" -> "text/plain; charset=\"utf-8\"")
          Response(200, headers, Body.text(text))
        }
      case "secure_basic" =>
        val right = "Basic " + Base64.getEncoder.encodeToString("adam:1234".getBytes)
        if request.headers.get("Authorization").contains(right) then answer("Hello, adam!")
        else unauthorized("Basic realm=\"test realm\",charset=UTF-8")
      case "secure_digest" =>
        if request.headers.get("Authorization").exists(_.contains("adam")) then answer("ok")
        else
          unauthorized(
            "Digest realm=\"my-custom-realm\", qop=\"auth\", nonce=\"a2FzcGVya2FzcGVyCg==\""
          )
      case "compress" => compressed(request)
      case "compress-unsupported" =>
        answer("I'm compressed!", "Content-Encoding" -> "secret-encoding")
      case "compress-empty-gzip" => encoded("gzip", 204)
      case "compress-empty-deflate" => encoded("deflate", 204)
      case "compress-empty-gzip-accepted-no-content" => encoded("gzip", 202)
      case "raw-gzip-file" =>
        answer("", "Content-Encoding" -> "gzip").map(_.copy(body = Body(gzipped)))
      case "error" =>
        val broken = Stream.emit("a".getBytes) ++ Stream.fail(RuntimeException("expected"))
        Task.pure(Response.stream(broken, "application/octet-stream"))
      case "timeout" => answer("Done").delayBy(500.millis)
      case "empty_unauthorized_response" => Task.pure(Response(401))
      case "empty_content_encoding" => answer("OK", "Content-Encoding" -> "")
      case "respond_with_iso_8859_2" =>
        val headers = Headers("Content-Type" -> "text/plain; charset=ISO-8859-2")
        Task.pure(Response(200, headers, Body("Żółć!".getBytes("ISO-8859-2"))))
      case _ => Task.fail(HttpError(404, "not found"))

  private def unauthorized(challenge: String): Task[Response] =
    Task.pure(Response(401, Headers("WWW-Authenticate" -> challenge)))

  private def compressed(request: Request): Task[Response] =
    val accepted = request.headers.get("Accept-Encoding").getOrElse("")
    val plain = "I'm compressed!"
    def by(encoding: String, pipe: Stream[Array[Byte]] => Stream[Array[Byte]]) =
      answer("", "Content-Encoding" -> encoding)
        .map(_.copy(body = Body(all(Stream(plain.getBytes).through(pipe)))))
    if accepted.contains("gzip") then by("gzip", Bytes.gzip())
    else if accepted.contains("deflate") then by("deflate", Bytes.deflate())
    else answer(plain)

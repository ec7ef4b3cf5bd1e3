package weir.http

import java.io.EOFException
import java.net.SocketException
import weir.Task

/** Requests as they come from any client, by the rules of RFC 9112. */
class HttpServerMessagesSuite extends HttpSuite:
  private val shown = (request: Request) =>
    if request.path == "/unread" then Task.pure(Response.text("unread"))
    else request.body.text().map(body => Response.text(s"${request.method} ${request.uri} [$body]"))

  /** Sends requests and one more at once. Returns the answers, each as its status and body. The
    * last one is "reset" if the connection is cut off.
    */
  private def answers(port: Int, requests: String): List[String] = connected(port) { connection =>
    connection.send(s"${requests}GET /end HTTP/1.1\nHost: h\nConnection: close\n\n")
    def answer(): Option[String] =
      try
        val response = connection.response()
        Some(s"${response.status} ${response.body}".trim)
      catch
        case _: EOFException => None
        case _: SocketException => Some("reset")
    val all = List.newBuilder[String]
    var next = answer()
    while next.nonEmpty do
      all ++= next
      next = if next.contains("reset") then None else answer()
    all.result()
  }

  private val end = "200 GET http://h/end []"
  private val bad = List("400 Bad Request")
  private val badBody = List("400 The body is not well formed.")

  private def fields(lines: String*): String =
    s"POST /x HTTP/1.1\nHost: h\n${lines.map(_ + "\n").mkString}\n"

  private def chunked(body: String): String =
    s"${fields("Transfer-Encoding: chunked")}${body.replace("|", "\n")}"

  private def get(start: String, lines: String*): String =
    s"$start\nHost: h\n${lines.map(_ + "\n").mkString}\n"

  /** Tests what is answered to each of the requests. After the last answer of a row the connection
    * is closed.
    */
  private def rows(name: String)(all: (String, List[String])*): Unit =
    test(name):
      serving(shown) { port =>
        for (requests, expected) <- all do
          assertEquals(answers(port, requests), expected, requests.take(200))
      }

  rows("addresses: of a host, absolute, of the server as a whole")(
    get("GET /x?y HTTP/1.1") -> List("200 GET http://h/x?y []", end),
    get("GET http://h/x?y HTTP/1.1") -> List("200 GET http://h/x?y []", end),
    get("GET http://h HTTP/1.1") -> List("200 GET http://h/ []", end),
    get("OPTIONS * HTTP/1.1") -> List("200 OPTIONS http://h []", end),
    "GET /x HTTP/1.1\nHost: my_service:8080\n\n" ->
      List("200 GET http://my_service:8080/x []", end),
    get(s"GET /${"x" * 6000} HTTP/1.1") -> List(s"200 GET http://h/${"x" * 6000} []", end)
  )

  rows("addresses that are refused")(
    get("GET /%zz HTTP/1.1") -> bad,
    get("GET /% HTTP/1.1") -> bad,
    get("GET /%ff HTTP/1.1") -> bad,
    get("GET /%u0041 HTTP/1.1") -> bad,
    get("GET /a?b=%zz HTTP/1.1") -> List("400 The address is not well formed.", end),
    get("GET /a?b=c|d HTTP/1.1") -> List("400 The address is not well formed.", end),
    get("GET x HTTP/1.1") -> bad,
    get("GET * HTTP/1.1") -> bad,
    get("GET /x#y HTTP/1.1") -> bad,
    get("GET http://other/x HTTP/1.1") -> bad,
    get("GET http://u:p@h/x HTTP/1.1") -> bad,
    get("GET https://h/x HTTP/1.1") ->
      List("421 This connection does not lead to that address.", end),
    get("GET ftp://h/x HTTP/1.1") ->
      List("421 This connection does not lead to that address.", end),
    get(s"GET /${"x" * 20_000} HTTP/1.1") -> List("414 URI Too Long")
  )

  rows("hosts: one of each request")(
    "GET /x HTTP/1.1\n\n" -> bad,
    "GET /x HTTP/1.1\nHost: a\nHost: b\n\n" -> bad,
    "GET /x HTTP/1.1\nHost: a/b\n\n" -> bad,
    "GET /x HTTP/1.1\nHost: u@a\n\n" -> bad,
    "GET /x HTTP/1.1\nHost: a:99999\n\n" -> bad
  )

  rows("header fields that are refused")(
    get("GET /x HTTP/1.1", "X: a", " b") -> bad,
    get("GET /x HTTP/1.1", "X : a") -> bad,
    get("GET /x HTTP/1.1", "Xa") -> bad,
    get("GET /x HTTP/1.1", "X: a\u0000b") -> bad,
    get("GET /x HTTP/1.1", "X: a\rb") -> bad,
    get("G@T /x HTTP/1.1") -> bad,
    "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\n\n" -> bad // TLS
  )

  rows("versions: 1.0 with and without a connection that stays; others are refused")(
    "GET /x HTTP/1.0\nHost: q\n\n" -> List("200 GET http://q/x []"),
    "GET /x HTTP/1.0\nHost: q\nConnection: keep-alive\n\n" ->
      List("200 GET http://q/x []", end),
    get("GET /x HTTP/2.0") -> List("426 Upgrade Required"),
    get("GET /x HTTP/3.1") -> List("505 HTTP Version Not Supported"),
    "GET /x\n\n" -> List("505 HTTP Version Not Supported")
  )

  rows("bodies: lengths, chunks, trailers that nobody asked for")(
    fields("Content-Length: 3") + "abc" -> List("200 POST http://h/x [abc]", end),
    fields() -> List("200 POST http://h/x []", end),
    chunked("3;a=b|abc|0;c||") -> List("200 POST http://h/x [abc]", end),
    chunked("3|abc|0|Content-Length: 7|X-A: b||") -> List("200 POST http://h/x [abc]", end),
    s"\n\n${chunked("0||")}" -> List("200 POST http://h/x []", end),
    fields("Content-Length: 3", "Expect: 100-continue") + "abc" ->
      List("200 POST http://h/x [abc]", end),
    "POST /unread HTTP/1.1\nHost: h\nContent-Length: 3\n\nabc" -> List("200 unread", end)
  )

  rows("bodies whose end is not clear are refused")(
    fields("Content-Length: 3", "Transfer-Encoding: chunked") + "3\nabc\n0\n\n" -> bad,
    fields("Content-Length: 3", "Content-Length: 4") + "abc" -> bad,
    fields("Content-Length: +3") + "abc" -> bad,
    fields("Content-Length: -3") + "abc" -> bad,
    fields("Content-Length: 99999999999999999999") + "abc" -> bad,
    fields("Transfer-Encoding: gzip") + "abc" -> bad,
    fields("Transfer-Encoding: chunked, gzip") + "3\nabc\n0\n\n" -> bad,
    fields("Transfer-Encoding: xchunked") + "3\nabc\n0\n\n" -> bad
  )

  rows("transfer codings that the server does not have are refused, and any of HTTP/1.0")(
    fields("Transfer-Encoding: gzip, chunked") + "3\nabc\n0\n\n" ->
      List("501 The server has no such transfer coding."),
    "POST /x HTTP/1.0\nConnection: keep-alive\nTransfer-Encoding: chunked\n\n3\nabc\n0\n\n" ->
      List("501 The server has no such transfer coding.")
  )

  private val old =
    "HTTP/1.0\nHost: h\nConnection: keep-alive\nTransfer-Encoding: chunked\n\n0\n\n"

  rows("HTTP/1.0 in chunks ends its connection, whoever answers")(
    s"GET /health $old" -> List("200 OK"),
    s"GET /ready $old" -> List("200 OK"),
    s"TRACE /x $old" -> List("501 The server has no such method."),
    s"POST https://h/x $old" -> List("421 This connection does not lead to that address.")
  )

  rows("malformed chunks are refused, and the connection ends")(
    chunked("zz|abc|0||") -> badBody,
    chunked("-3|abc|0||") -> badBody,
    chunked("fffffffffffffffff|abc|0||") -> badBody,
    chunked("2|abc|0||") -> badBody,
    s"POST /unread HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\nzz\n" -> List("200 unread")
  )

  rows("what is refused keeps or ends the connection, as it says; requests before it are answered")(
    get("GET /x HTTP/1.1") + get("GET /a|b HTTP/1.1") ->
      List("200 GET http://h/x []", "400 Bad Request"),
    get("GET /x HTTP/1.1") + get("GET /a?b|c HTTP/1.1") ->
      List("200 GET http://h/x []", "400 The address is not well formed.", end),
    fields("Content-Length: 2") + "ab" + chunked("1|c|0||") ->
      List("200 POST http://h/x [ab]", "200 POST http://h/x [c]", end)
  )

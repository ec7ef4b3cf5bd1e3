package weir.console

import weir.WeirSuite

class AccessSuite extends WeirSuite:

  private def request(headers: (String, String)*): Request =
    Request("GET", "/metrics", Map.empty, headers.toMap.getOrElse(_, null))

  private def status(access: Access, headers: (String, String)*): Int =
    access.refusal(request(headers*)).fold(200)(_.status)

  private val open = Access(None, "c")
  private val closed = Access(Some("secret"), "c")

  test("without a token, only names of this machine are served, whatever the port"):
    List("localhost", "localhost:80", "LOCALHOST:8090", "127.0.0.1:1", "[::1]:8090", "[::1]")
      .foreach(host => assertEquals(status(open, "Host" -> host), 200, host))
    List("evil.example", "evil.example:8090", "localhost.evil.example", "", "127.0.0.1.nip.io:80")
      .foreach(host => assertEquals(status(open, "Host" -> host), 403, host))
    assertEquals(status(open), 403)

  test("a page of another origin is refused, with a token and without"):
    val here = "Host" -> "localhost:8090"
    List("http://evil.example", "null", "http://localhost:81", "http://localhost").foreach {
      other =>
        assertEquals(status(open, here, "Origin" -> other), 403, other)
        val bearer = "Authorization" -> "Bearer secret"
        assertEquals(status(closed, here, "Origin" -> other, bearer), 403, other)
    }
    assertEquals(status(open, here, "Origin" -> "http://localhost:8090"), 200)

  test("with a token, each request must have it, and the host may be any"):
    val host = "Host" -> "prod.example"
    assertEquals(status(closed, host), 401)
    assertEquals(status(closed, host, "Authorization" -> "Bearer wrong"), 401)
    assertEquals(status(closed, host, "Authorization" -> "secret"), 401)
    assertEquals(status(closed, host, "Authorization" -> "Bearer secret"), 200)
    assertEquals(status(closed, host, "Cookie" -> "a=b; c=secret"), 200)
    assertEquals(status(closed, host, "Cookie" -> "d=secret"), 401)

  test("the token in the address is for the first page alone, which sets a cookie"):
    def at(path: String, token: String) =
      Request("GET", path, Map("token" -> token), Map("Host" -> "prod.example").getOrElse(_, null))
    assertEquals(closed.refusal(at("/", "secret")), None)
    assertEquals(closed.refusal(at("/", "wrong")).map(_.status), Some(401))
    assertEquals(closed.refusal(at("/metrics", "secret")).map(_.status), Some(401))
    val reply = closed.login(at("/", "secret")).get
    assertEquals(reply.status, 303)
    val cookie = reply.headers.toMap.apply("Set-Cookie")
    assertEquals(cookie, "c=secret; Path=/; HttpOnly; SameSite=Strict")

  test("settings that do not fit together fail with one clear line"):
    def failure(settings: ConsoleSettings): String =
      intercept[IllegalArgumentException](settings.checked()).getMessage
    val good = ConsoleSettings(0, None, mayChange = false, "localhost")
    assert(good.checked().isLoopbackAddress)
    assert(failure(good.copy(host = "0.0.0.0")).contains("there is no token"))
    assert(!good.copy(host = "0.0.0.0", token = Some("s")).checked().isLoopbackAddress)
    assert(failure(good.copy(port = 70000)).contains("port was 70000"))
    assert(failure(good.copy(token = Some(""))).contains("the token was empty"))
    assert(failure(good.copy(token = Some("a;b"))).contains("a cookie cannot have"))

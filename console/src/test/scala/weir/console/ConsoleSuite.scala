package weir.console

import java.io.{BufferedReader, InputStreamReader}
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.net.{Socket, URI}
import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant
import scala.jdk.CollectionConverters.*
import weir.*
import weir.metrics.DeadJobs
import weir.std.StreamMonitor

class ConsoleSuite extends WeirSuite:
  private val client = HttpClient.newHttpClient()

  private def request(console: Console, path: String): HttpRequest.Builder =
    HttpRequest.newBuilder(URI(s"http://localhost:${console.port}$path"))

  private def send(request: HttpRequest.Builder): HttpResponse[String] =
    client.send(request.build(), HttpResponse.BodyHandlers.ofString())

  private def get(console: Console, path: String): HttpResponse[String] =
    send(request(console, path))

  private def serving(console: Resource[Console])(body: Console => Unit): Unit =
    console.use(console => Task(body(console))).runSync()

  test("/metrics has the figures of the runtime"):
    serving(Console.serve(0)) { console =>
      val reply = get(console, "/metrics")
      assertEquals(reply.statusCode, 200)
      val kind = reply.headers.firstValue("Content-Type").get
      assertEquals(kind, "text/plain; version=0.0.4; charset=utf-8")
      assert(reply.body.contains("\nweir_fibers{state=\"running\"} "), reply.body)
    }

  test("the page loads nothing from elsewhere, and runs only its own script"):
    serving(Console.serve(0)) { console =>
      val reply = get(console, "/")
      val policy = reply.headers.firstValue("Content-Security-Policy").get
      assert(policy.startsWith("default-src 'none'; script-src 'nonce-"), policy)
      val nonce = policy.replaceFirst(".*script-src 'nonce-([0-9a-f]+)'.*", "$1")
      assertEquals(nonce.length, 32)
      assert(reply.body.contains(s"<script nonce=\"$nonce\">"))
      assert(reply.body.contains("new EventSource(\"/events\")"))
      assert(reply.body.contains("prefers-color-scheme: dark"))
      assertEquals("(src|href)=\"[^/]".r.findAllIn(reply.body).toList, Nil)
      assertEquals("https?://".r.findAllIn(reply.body).size, 1, "the name space of SVG alone")
      assertNotEquals(get(console, "/").body, reply.body)
    }

  test("with a token, a request without it is refused, and the page gets it as a cookie"):
    serving(Console.serve(0, token = Some("open-sesame"))) { console =>
      for path <- List("/", "/metrics", "/events", "/top", "/api/fibers", "/api/now") do
        assertEquals(get(console, path).statusCode, 401, path)
      val bearer = request(console, "/metrics").header("Authorization", "Bearer open-sesame")
      assertEquals(send(bearer).statusCode, 200)
      val first = get(console, "/?token=open-sesame")
      assertEquals(first.statusCode, 303)
      val cookie = first.headers.firstValue("Set-Cookie").get.takeWhile(_ != ';')
      assertEquals(send(request(console, "/api/now").header("Cookie", cookie)).statusCode, 200)
    }

  test("a request for another host is refused, as by a page whose name was rebound"):
    serving(Console.serve(0)) { console =>
      def status(host: String): String =
        val socket = Socket("localhost", console.port)
        try
          val text = s"GET /metrics HTTP/1.1\r\nHost: $host\r\nConnection: close\r\n\r\n"
          socket.getOutputStream.write(text.getBytes(UTF_8))
          BufferedReader(InputStreamReader(socket.getInputStream)).readLine()
        finally socket.close()
      assertEquals(status(s"localhost:${console.port}"), "HTTP/1.1 200 OK")
      assertEquals(status(s"evil.example:${console.port}"), "HTTP/1.1 403 Forbidden")
    }

  test("events come each second, with what runs"):
    val monitor = StreamMonitor().map(_.named("planted stream")).runSync()
    val stream = Stream.emits(List(1, 2)).named("emit \"two\"").observed(monitor)
    stream.drain.runSync()
    serving(Console.serve(0)) { console =>
      val lines = client
        .send(request(console, "/events").build(), HttpResponse.BodyHandlers.ofLines())
        .body
      try
        val events = lines.filter(_.startsWith("data: {")).limit(2).toList
        assertEquals(events.size, 2)
        assert(events.get(0).contains("\"name\":\"planted stream\""), events.get(0))
        assert(
          events.get(0).contains("\"name\":\"emit \\\"two\\\"\",\"elements\":2"),
          events.get(0)
        )
      finally lines.close()
    }
    java.lang.ref.Reference.reachabilityFence(monitor)

  test("fibers are found by their line, their name and what they wait for"):
    serving(Console.serve(0)) { console =>
      val box = Deferred.unsafe[Unit]
      val waiter = box.get.map(_ => "planted").start.runSync()
      def fibers(search: String) = get(console, s"/api/fibers?search=$search&sort=age").body
      def found = fibers("deferred")
      eventually("it waits")(found.contains("\"awaits\":\"Deferred, which is not set\""))
      assert(found.contains("\"found\":1,"), found)
      val groups = found.drop(found.indexOf("\"groups\":"))
      assert(groups.contains("ConsoleSuite.scala"), groups)
      assert(groups.contains("\"states\":{\"waiting\":1}"), groups)
      val id = found.replaceFirst(".*\"groups\":\\[\\{\"id\":\"([0-9a-f]+)\".*", "$1")
      val group = get(console, s"/api/group?id=$id&search=").body
      val name = group.replaceFirst(".*\"fiber\":\"([0-9a-f]+)\".*", "$1")
      assert(fibers(name).contains("\"found\":1,"), fibers(name))
      assert(get(console, s"/api/fiber?fiber=$name").body.contains(s"\"fiber\":\"$name\""))
      assertEquals(get(console, "/api/fiber?fiber=none").statusCode, 404)
      assert(get(console, "/top").body.contains("Deferred, which is not set"))
      assertEquals(post(console, name).statusCode, 403, "it may not cancel")
      waiter.cancel.runSync()
    }

  private def post(console: Console, fiber: String, headers: String*): HttpResponse[String] =
    val post = request(console, s"/api/cancel?fiber=$fiber")
      .POST(HttpRequest.BodyPublishers.noBody())
    send(if headers.isEmpty then post else post.headers(headers*))

  test("a fiber is cancelled by a console that may, but not for a page of another origin"):
    serving(Console.serve(0, mayChange = true)) { console =>
      val waiter = Deferred.unsafe[Unit].get.start.runSync()
      val dump = () => WeirRuntime.default.fiberDump().fibers
      eventually("it waits")(dump().exists(_.awaits.startsWith("Deferred")))
      val name = dump().find(_.awaits.startsWith("Deferred")).get.fiber
      assertEquals(post(console, name, "Origin", "http://evil.example").statusCode, 403)
      assertEquals(waiter.poll.runSync(), None)
      assertEquals(get(console, s"/api/cancel?fiber=$name").statusCode, 404)
      assertEquals(
        post(console, name, "Origin", s"http://localhost:${console.port}").statusCode,
        200
      )
      assertEquals(waiter.join.runSync(), Outcome.Canceled)
      assertEquals(post(console, name).statusCode, 404)
    }

  test("fibers are shown below the one that waits for them"):
    serving(Console.serve(0)) { console =>
      val end = Deferred.unsafe[Unit]
      val parent = Task.parTraverse(1 to 3)(_ => end.get.map(_ => "child")).start.runSync()
      def tree(parent: String) = get(console, s"/api/tree?parent=$parent").body
      val parents = "\"under\":3,\"fiber\":\"([0-9a-f]+)\"".r
      eventually("the parent waits for three")(parents.findFirstIn(tree("")).nonEmpty)
      val name = parents.findFirstMatchIn(tree("")).get.group(1)
      val below = tree(name)
      assert(below.contains("\"count\":3,"), below)
      assertEquals("\"awaits\":\"Deferred, which is not set\"".r.findAllIn(below).size, 3, below)
      assert(tree("none").contains("\"count\":0,"))
      parent.cancel.runSync()
    }

  test("the fibers of a scope are shown below the one that runs the scope"):
    serving(Console.serve(0)) { console =>
      val end = Deferred.unsafe[Unit]
      val parent = Scope
        .run(scope => scope.fork(end.get.map(_ => 1)) >> end.get.map(_ => 2))
        .start
        .runSync()
      def tree(parent: String) = get(console, s"/api/tree?parent=$parent").body
      val parents = "\"under\":2,\"fiber\":\"([0-9a-f]+)\"".r
      eventually("the parent waits for two")(parents.findFirstIn(tree("")).nonEmpty)
      val below = tree(parents.findFirstMatchIn(tree("")).get.group(1))
      assertEquals("\"awaits\":\"Deferred, which is not set\"".r.findAllIn(below).size, 2, below)
      parent.cancel.runSync()
    }

  private final class PlantedJobs extends DeadJobs:
    val left = new java.util.concurrent.ConcurrentSkipListSet[Long](java.util.List.of(7L, 8L))
    def name = "planted & dead"
    def list(limit: Int): Vector[DeadJobs.Job] =
      left.descendingSet.asScala.toVector
        .map(DeadJobs.Job(_, 3, Instant.ofEpochSecond(60), Some("k"), "no \"answer\""))
        .take(limit)
    def revive(ids: Vector[Long]): Int = ids.count(left.remove(_))
    def delete(ids: Vector[Long]): Int = throw IllegalStateException("no connection")

  test("dead jobs are shown, put back and deleted, by a console that may"):
    val jobs = PlantedJobs()
    val registration = DeadJobs.register(jobs)
    val query = "queue=planted+%26+dead"
    def change(console: Console, path: String) =
      val reply =
        send(request(console, path).POST(HttpRequest.BodyPublishers.noBody()))
      (reply.statusCode, reply.body.trim)
    serving(Console.serve(0)) { console =>
      assertEquals(change(console, s"/api/dead/revive?$query&id=7")._1, 403)
      assertEquals(jobs.left.size, 2)
    }
    serving(Console.serve(0, mayChange = true)) { console =>
      assertEquals(get(console, "/api/queues").body, "[\"planted & dead\"]")
      val list = get(console, s"/api/dead?$query").body
      val last = "{\"id\":\"8\",\"attempts\":3,\"died\":\"1970-01-01T00:01:00Z\",\"key\":\"k\"," +
        "\"error\":\"no \\\"answer\\\"\"}"
      assert(list.contains(s"\"jobs\":[$last,"), list)
      val revive = s"/api/dead/revive?$query&id=7"
      assertEquals(change(console, revive), (200, "Job 7 is put back."))
      assertEquals(change(console, revive)._1, 409)
      assertEquals(change(console, s"/api/dead/revive?$query&id=x")._1, 400)
      assertEquals(
        change(console, s"/api/dead/delete?$query&id=8"),
        (502, "The queue's database failed: java.lang.IllegalStateException: no connection")
      )
      assertEquals(get(console, "/api/dead?queue=other").statusCode, 404)
      assertEquals(get(console, s"/api/dead/delete?$query&id=8").statusCode, 404)
      registration.close()
      assertEquals(get(console, "/api/queues").body, "[]")
    }

  test("the end of the scope closes the port and the open pages"):
    val (console, close) = Console.serve(0).allocated.runSync()
    val lines = client
      .send(request(console, "/events").build(), HttpResponse.BodyHandlers.ofLines())
      .body
    close.runSync()
    try lines.forEach(_ => ()) // ends
    catch case _: java.io.UncheckedIOException => ()
    intercept[java.net.ConnectException](get(console, "/")): Unit

  test("a port that is taken is one clear error"):
    serving(Console.serve(0)) { console =>
      val error = intercept[java.io.IOException](serving(Console.serve(console.port))(_ => ()))
      assert(
        error.getMessage.startsWith(
          s"Console.serve: port ${console.port} of localhost cannot be used"
        ),
        error.getMessage
      )
    }

  test("run again and beside another run, each has a port of its own"):
    val console = Console.serve(0).map(_.port)
    val (one, other) = console.both(console).use(Task.pure(_)).runSync()
    assertNotEquals(one, other)

package weir.feeds.reader

import java.net.{ServerSocket, Socket, URI}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import munit.FunSuite
import org.jsoup.Jsoup
import org.jsoup.nodes.Document
import scala.jdk.CollectionConverters.*

import weir.feeds.store.Sql
import weir.program.{BadInput, ChildJvm, TempFolder, Tier}

/** The pages and what guards them, without a browser. */
class ReaderServerSuite extends FunSuite with TempFolder:
  import ReaderFixture.{get, serving}

  private def page(address: URI, path: String): Document =
    val answer = get(address, path)
    assertEquals(answer.statusCode, 200, s"$path: ${answer.body}")
    Jsoup.parse(answer.body, address.toString)

  private def texts(page: Document, query: String) = page.select(query).eachText.asScala.toList

  /** The first line of the answer to a raw request, and what follows. */
  private def raw(address: URI, lines: String*): (String, String) =
    val socket = Socket("127.0.0.1", address.getPort)
    try
      val request = (lines ++ Seq("Connection: close", "", "")).mkString("\r\n")
      socket.getOutputStream.write(request.getBytes(UTF_8))
      val answer = String(socket.getInputStream.readAllBytes(), UTF_8)
      (answer.takeWhile(_ != '\r'), answer)
    finally socket.close()

  private def filled(folder: Path): ReaderFixture =
    val fixture = ReaderFixture.in(folder)
    fixture.added("http://new.example/")
    fixture.fetched("http://a.example/feed", "A blog", "a1" -> "<p>one</p>", "a2" -> "two")
    fixture.failed("http://b.example/feed", "timed out", "no answer in 15 s", failures = 3)
    fixture.failed("http://c.example/feed", "410 gone", "410", failures = 1, isGone = true)
    fixture

  folder.test("the newest items link to themselves, to their feed and to the web"): folder =>
    serving(filled(folder).database): address =>
      val front = page(address, "/")
      assertEquals(texts(front, ".items .title"), List("a1", "a2"))
      assertEquals(texts(front, ".checks .title").size, 3)
      val links = front.select(".items li:first-child a").eachAttr("href").asScala.toList
      assertEquals(
        links.map(_.replaceAll("[0-9]+", "N")),
        List("/items/N", "/feeds/N", "https://a.example/aN-N")
      )

  folder.test("feeds are listed with what failed, why, and when they are next"): folder =>
    serving(filled(folder).database): address =>
      val all = page(address, "/feeds")
      assertEquals(texts(all, ".feeds .title").size, 4)
      val failing = page(address, "/feeds?show=failing")
      assertEquals(
        texts(failing, ".feeds .title"),
        List("http://b.example/feed", "http://c.example/feed")
      )
      val first = failing.selectFirst(".feeds li").text
      for word <- List("timed out", "3 times in a row", "no answer in 15 s", "0 items") do
        assert(first.contains(word), first)
      // Checked at 12:02 UTC, shown at +05:30, held off for two hours.
      assert(first.contains("checked: 2026-03-01 17:32"), first)
      assert(first.contains("next check: 2026-03-01 19:32"), first)
      assert(
        failing.select(".feeds li").get(1).text.contains("next check: 2026-03-01 19:33"),
        failing.text
      )
      assertEquals(texts(page(address, "/feeds?show=unchecked"), ".feeds .title").size, 1)
      assertEquals(
        texts(page(address, "/feeds?show=latest"), ".feeds .title"),
        List("http://c.example/feed", "http://b.example/feed", "A blog")
      )
      assertEquals(texts(all, "nav .count"), List("4", "2", "1"))

  folder.test("the stages of a weir feeds --stages, which the live stamp follows"): folder =>
    val fixture = filled(folder)
    serving(fixture.database): address =>
      val none = page(address, "/stages")
      assertEquals(texts(none, "nav a").count(_.startsWith("Stages")), 0)
      assert(none.select("main").text.contains("No weir feeds --stages"), none.text)
      val before = get(address, "/live").body
      fixture.toldStages("stretch   busy\nfetch *   97 %\n<b>       1 %")
      assertNotEquals(get(address, "/live").body, before)
      val told = page(address, "/stages")
      assertEquals(texts(told, "nav a").count(_.startsWith("Stages")), 1)
      assertEquals(
        told.selectFirst("#stages-table").wholeText,
        "stretch   busy\nfetch *   97 %\n<b>       1 %"
      )

  folder.test("a feed has its facts and its items"): folder =>
    serving(filled(folder).database): address =>
      val path = page(address, "/feeds?show=latest").select(".feeds .title").attr("href")
      val facts = page(address, path).selectFirst(".facts").text
      for word <- List("410 gone", "http://c.example/feed", "failures in a row 1", "items 0") do
        assert(facts.contains(word), facts)
      val blog = page(address, "/").select(".items .about a").attr("href")
      assertEquals(texts(page(address, blog), ".items .title"), List("a1", "a2"))
      assertEquals(page(address, blog).selectFirst("h1").text, "A blog")

  folder.test("an item has its cleaned text, or plain text with its lines"): folder =>
    serving(filled(folder).database): address =>
      val links = page(address, "/").select(".items .title").eachAttr("href").asScala.toList
      assertEquals(page(address, links.head).selectFirst(".content").html, "<p>one</p>")
      assert(page(address, links(1)).selectFirst(".content").hasClass("plain"))

  folder.test("the content of an item is shown, and its summary only where there is none"):
    folder =>
      val fixture = ReaderFixture.in(folder)
      val item = ReaderFixture.item("g", None, "t", "short")
      fixture.stored("http://a.example/", "A", item)
      val connection = fixture.database.connect()
      assertEquals(Sql.update(connection, "UPDATE item SET content = ?")("<p>all of it</p>"), 1)
      connection.close()
      serving(fixture.database): address =>
        val path = page(address, "/").select(".items .title").attr("href")
        assertEquals(page(address, path).selectFirst(".content").text, "all of it")

  folder.test("long lists have pages, which leave nothing out and show nothing twice"): folder =>
    val fixture = ReaderFixture.in(folder)
    fixture.fetched("http://a.example/", "A", (1 to 70).map(n => s"a$n" -> "x")*)
    fixture.fetched("http://b.example/", "B", (1 to 70).map(n => s"b$n" -> "x")*)
    fixture.added((1 to 120).map(n => s"http://many.example/$n")*)
    serving(fixture.database): address =>
      def walk(path: String, query: String, link: String): List[String] =
        val shown = page(address, path)
        val next = shown.select(link).asScala.lastOption.map(_.attr("href"))
        texts(shown, query) ++ next.toList.flatMap(walk(_, query, link))
      val all = walk("/", ".items .title", ".pager a")
      assertEquals(all, (1 to 70).map(n => s"b$n").toList ++ (1 to 70).map(n => s"a$n"))
      val feed = page(address, "/").select(".items .about a").attr("href")
      assertEquals(walk(feed, ".items .title", ".pager a"), (1 to 70).map(n => s"b$n").toList)
      val feeds = walk("/feeds", ".feeds .title", ".pager a:contains(Next)")
      assertEquals((feeds.size, feeds.distinct.size), (122, 122))

  folder.test("what a stranger wrote is text in every page, and runs nowhere"): folder =>
    val fixture = ReaderFixture.in(folder)
    val bad = "\"'><script>hit()</script><img src=x onerror=hit()>&lt;i&gt;"
    fixture.stored(
      "http://a.example/?%22%3E%3Cscript%3E",
      bad,
      ReaderFixture.item("g1", Some("javascript://a.example/%0Ahit()"), bad, bad),
      ReaderFixture.item(
        "g2",
        Some("https://x.example/\"onclick=\"hit()"),
        "Vector<xss>" + bad,
        bad
      )
    )
    fixture.failed("http://b.example/", bad, bad, 2)
    serving(fixture.database): address =>
      val feeds = page(address, "/feeds").select(".feeds .title").eachAttr("href").asScala
      val items = page(address, "/").select(".items .title").eachAttr("href").asScala
      assertEquals((feeds.size, items.size), (2, 2))
      for path <- Seq("/", "/feeds", "/feeds?show=failing") ++ feeds ++ items do
        val shown = page(address, path)
        val scripts = shown.select("script").asScala.map(_.outerHtml)
        assertEquals(
          scripts.map(_.replace("=\"defer\"", "")).toList,
          List("<script src=\"/reader.js\" defer></script>"),
          path
        )
        assertEquals(shown.select("img, i, xss, [onclick], [onerror], [style]").size, 0, path)
        for href <- shown.select("[href]").eachAttr("href").asScala do
          assert(href.matches("(/|#|https?://).*"), s"$path: $href")

  folder.test("every answer has the headers that keep strangers out"): folder =>
    serving(filled(folder).database): address =>
      for path <- Seq("/", "/feeds", "/live", "/reader.js", "/reader.css", "/icon.svg", "/none") do
        val headers = get(address, path).headers
        val policy = headers.firstValue("Content-Security-Policy").get
        for rule <- Seq(
            "default-src 'none'",
            "script-src 'self'",
            "form-action 'none'",
            "frame-ancestors 'none'"
          )
        do assert(policy.contains(rule), s"$path: $policy")
        assert(!policy.contains("unsafe"), policy)
        assertEquals(headers.firstValue("X-Content-Type-Options").get, "nosniff")
        assertEquals(headers.firstValue("Referrer-Policy").get, "no-referrer")
        assertEquals(headers.firstValue("Cross-Origin-Resource-Policy").get, "same-origin")
        assertEquals(headers.firstValue("Access-Control-Allow-Origin").isPresent, false)
        assertEquals(headers.firstValue("Set-Cookie").isPresent, false)
        val isScript = headers.firstValue("Content-Type").get.contains("script")
        assertEquals(isScript, path == "/reader.js", path)

  folder.test("only a Host that is this machine at this port is answered"): folder =>
    serving(filled(folder).database): address =>
      val port = address.getPort
      def status(lines: String*) = raw(address, "GET / HTTP/1.1" +: lines*)
      for host <- Seq(s"127.0.0.1:$port", s"localhost:$port", s"LOCALHOST:$port", s"[::1]:$port") do
        assertEquals(status(s"Host: $host")._1, "HTTP/1.1 200 OK", host)
      val strangers = Seq(
        s"evil.example:$port",
        "evil.example",
        "127.0.0.1",
        s"127.0.0.1:${port + 1}",
        s"127.0.0.1.evil.example:$port",
        s"localhost.evil.example:$port",
        s"evil.localhost:$port",
        s"0.0.0.0:$port",
        ""
      )
      for host <- strangers do
        val (line, answer) = status(s"Host: $host")
        assert(line.matches("HTTP/1.1 4\\d\\d .*"), s"$host: $line")
        assert(!answer.contains("a1"), host)
      assert(status(s"Host: localhost:$port", s"Host: evil.example")._1.contains(" 400 "))
      assert(
        status(s"Host: evil.example", s"X-Forwarded-Host: localhost:$port")._1.contains(" 421 ")
      )
      assert(
        raw(address, s"GET http://evil.example/ HTTP/1.1", s"Host: localhost:$port")._1
          .contains(" 4")
      )

  folder.test("only GET and HEAD are answered"): folder =>
    serving(filled(folder).database): address =>
      for method <- Seq("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "FOO") do
        val answer = get(address, "/", method)
        assertEquals(answer.statusCode, 405, method)
        assertEquals(answer.headers.firstValue("Allow").get, "GET, HEAD", method)
      val head = get(address, "/", "HEAD")
      assertEquals((head.statusCode, head.body), (200, ""))

  folder.test("addresses that lead nowhere are a line that says so"): folder =>
    serving(filled(folder).database): address =>
      for (path, status) <- Seq(
          "/none" -> 404,
          "/feeds/999" -> 404,
          "/items/999" -> 404,
          "/items/99999999999999999999" -> 404,
          "/feeds?show=none" -> 400,
          "/feeds?page=0" -> 400,
          "/feeds?page=x" -> 400,
          "/?before=x" -> 400,
          "/feeds/1?before=-1" -> 400,
          "/feeds?show=%ff%zz" -> 400,
          "/reader.js/../../build.sbt" -> 400,
          "/..%2f..%2fbuild.sbt" -> 400,
          "/weir/program/Main.class" -> 404
        )
      do
        val (line, answer) =
          raw(address, s"GET $path HTTP/1.1", s"Host: 127.0.0.1:${address.getPort}")
        assert(line.contains(s" $status "), s"$path: $line")
        assert(answer.linesIterator.toVector.last.length < 400, answer)

  folder.test("the stamp differs after each check, with and without new items"): folder =>
    val fixture = filled(folder)
    serving(fixture.database): address =>
      def stamp() = get(address, "/live").body
      val before = stamp()
      assertEquals(stamp(), before)
      fixture.failed("http://b.example/feed", "timed out", "no answer", failures = 4)
      val checked = stamp()
      assertNotEquals(checked, before)
      fixture.fetched("http://a.example/feed", "A", "a3" -> "x")
      assertNotEquals(stamp(), checked)
      assertEquals(page(address, "/").select("#live").attr("data-stamp"), stamp())

  folder.test("a port that is taken is bad input"): folder =>
    val fixture = filled(folder)
    val taken = ServerSocket(0, 1, java.net.InetAddress.getByName("127.0.0.1"))
    try
      val bad = intercept[BadInput]:
        ReaderFixture.read(fixture.database)(
          ReaderServer.start(_, taken.getLocalPort, LocalTime(ReaderFixture.zone), 0)
        )
      assert(
        bad.getMessage.startsWith(s"--port: ${taken.getLocalPort} cannot be used"),
        bad.getMessage
      )
    finally taken.close()

  folder.test("Ctrl-C ends the command within a second, with exit code 130"): folder =>
    val fixture = filled(folder)
    val child = ChildJvm.weir(
      folder.resolve("log.txt"),
      "feeds",
      "serve",
      "--db",
      fixture.database.name,
      "--port",
      "0"
    )
    val address = child.readLine().get.takeWhile(_ != ' ')
    assertEquals(get(URI.create(address), "/").statusCode, 200)
    child.readLine(): Unit
    val start = System.nanoTime()
    child.interrupt()
    assertEquals(child.exitCode(), 130)
    val took = (System.nanoTime() - start) / 1_000_000
    assert(took < Tier(15000, 1500), s"$took ms")
    val log = Files.readString(folder.resolve("log.txt"))
    assertEquals(log.linesIterator.filterNot(_.startsWith("WARNING: ")).mkString, "")

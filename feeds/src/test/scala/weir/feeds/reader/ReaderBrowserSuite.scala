package weir.feeds.reader

import java.net.URI
import java.nio.file.Files

import weir.program.{Browser, BrowserTests, Eventually}

/** The pages in a real browser: how they look, what they load, and that no feed does a thing there.
  */
class ReaderBrowserSuite extends BrowserTests with Eventually:
  private def fixture(name: String): ReaderFixture =
    ReaderFixture.in(Files.createDirectory(files.resolve(name)))

  private val isLive = "document.getElementById('live').className === 'on'"

  /** A tab whose page has been followed once. */
  private def visit(address: URI, path: String, width: Int = 1280, isDark: Boolean = false) =
    val tab = browser.visit(address.resolve(path), width, 900, isDark)
    eventually(s"$path is live")(tab.evaluate(isLive).bool)
    tab

  /** Has a page ask at once what is new, as it does when it is shown again. */
  private def look(tab: Browser.Tab): Unit =
    tab.evaluate("document.dispatchEvent(new Event('visibilitychange')); 0"): Unit

  private def texts(tab: Browser.Tab, query: String): Vector[String] =
    tab
      .evaluate(s"[...document.querySelectorAll('$query')].map(e => e.textContent)")
      .arr
      .map(_.str)
      .toVector

  private def href(tab: Browser.Tab, query: String): String =
    tab.evaluate(s"document.querySelector('$query').getAttribute('href')").str

  /** The requests of a page that do not go to the reader. */
  private def foreign(tab: Browser.Tab, address: URI): Vector[String] =
    tab.requests.filterNot(_.startsWith(address.toString))

  private val sample: ReaderFixture => Unit = fixture =>
    val text =
      "<p>It has been two years. <a href='/more'>More</a> about <code>streams</code>:</p>" +
        "<ul><li>one</li><li>two</li></ul><pre>val x = 1 // " + "long " * 60 + "</pre>" +
        "<blockquote>Simple beats clever.</blockquote><p><img src='/cat.png' alt='A cat'></p>" +
        "<table><tr>" + "<td>a wide cell</td>" * 20 + "</tr></table><p>" + "unbroken" * 60 + "</p>"
    fixture.added("https://new.example/feed.xml")
    fixture.failed(
      "https://gone.example/feed",
      "410 gone, asked again in a month",
      "410",
      1,
      isGone = true
    )
    fixture.failed(
      "https://slow.example/a/very/long/path/to/a/feed/" + "x" * 80 + ".xml",
      "timed out",
      "no whole answer in 15 s, though a server could be reached at once: " + "y" * 90,
      7
    )
    fixture.fetched("https://long.example/", "A Title without end " * 20, "t" * 300 -> "x")
    fixture.fetched("https://he.example/", "בלוג בעברית", "שלום, world (2)" -> "<p>טקסט</p>")
    fixture.fetched(
      "https://scala.example/feed.xml",
      "Notes on Scala",
      "Tasks that block & wait" -> text,
      "漢字とかな 🚀" -> "x",
      "Only a line" -> "one\ntwo"
    )

  for (screen, width, isDark) <- Seq(
      ("desktop", 1280, false),
      ("phone", 390, false),
      ("small", 340, true)
    )
  do
    test(s"every page: no overflow, no problem in the console, no foreign request: $screen"):
      needsBrowser()
      val data = fixture(screen)
      sample(data)
      ReaderFixture.serving(data.database): address =>
        val tab = browser.visit(address, width, 900, isDark)
        def show(name: String, path: String, link: String = "a"): String =
          tab.go(address.resolve(path))
          eventually(s"$path is live")(tab.evaluate(isLive).bool)
          keep(s"reader-$name-$screen", tab)
          assertEquals(tab.problems, Vector.empty, name)
          assertEquals(foreign(tab, address), Vector.empty, name)
          assertEquals(tab.evaluate("document.documentElement.scrollWidth").num.toInt, width, name)
          assertEquals(tab.evaluate("document.querySelectorAll('h1').length").num.toInt, 1, name)
          href(tab, link)
        val item = show("newest", "/", ".items .title")
        val broken = show("failing", "/feeds?show=failing", ".feeds .title")
        val feed = show("item", item, ".about a")
        val pages =
          Seq(
            "feed" -> feed,
            "broken" -> broken,
            "feeds" -> "/feeds",
            "checks" -> "/feeds?show=latest"
          )
        for (name, path) <- pages do show(name, path): Unit

  test("no attack does anything: nothing runs, nothing is loaded, nothing is covered"):
    needsBrowser()
    val data = fixture("attacks")
    val items = Attacks.all.zipWithIndex.map: (attack, index) =>
      ReaderFixture.item(s"$index", Some(s"https://a.example/$index"), s"$attack", attack)
    data.stored("https://evil.example/feed", Attacks.all.mkString, items*)
    ReaderFixture.serving(data.database): address =>
      val lists = Seq("/", "/feeds", "/feeds?show=latest")
      val tab = visit(address, "/")
      val first = href(tab, ".items .title").split('/').last.toLong
      val attacks = Attacks.all.zipWithIndex.map((attack, n) => s"/items/${first + n}" -> attack)
      for (path, attack) <- lists.map(_ -> "all in a list") ++ attacks do
        val name = s"$path: $attack"
        tab.go(address.resolve(path))
        // Each event that a handler could wait for, on all that an item brought.
        val state = tab.evaluate(s"(() => { $armed; return $poked.then(() => ($attacked)) })()")
        assertEquals(state("hits").num.toInt, 0, name)
        assertEquals(state("path").str, path, name)
        assertEquals(tab.problems, Vector.empty, name)
        assertEquals(foreign(tab, address), Vector.empty, name)
        assertEquals(state("foreign").arr.map(_.str).toVector, Vector.empty, name)
        assertEquals(state("display").str, "block", name)
        assert(state("stamp").num > 0, name)

  test("the policy of the pages alone stops what the cleaning would have let through"):
    needsBrowser()
    val data = fixture("policy")
    sample(data)
    ReaderFixture.serving(data.database): address =>
      val tab = visit(address, "/")
      tab.evaluate(armed): Unit
      tab.evaluate(
        "document.querySelector('main').innerHTML = '<img src=\"https://evil.example/a.png\" " +
          "onerror=\"hit()\"><p onclick=\"hit()\" style=\"color:red\">x</p>" +
          "<iframe srcdoc=\"<script>parent.hit()</script>\"></iframe>'"
      ): Unit
      tab.evaluate("document.querySelector('main p').click(); 0"): Unit
      assertEquals(tab.evaluate("window.hits").num.toInt, 0)
      eventually("the policy is named in the console"):
        tab.problems.count(_.contains("Content Security Policy")) >= 2
      assertEquals(
        tab.evaluate("getComputedStyle(document.querySelector('main p')).color").str,
        tab.evaluate("getComputedStyle(document.body).color").str
      )

  test("an open page shows new items and checks as they come, and keeps the reader's place"):
    needsBrowser()
    val data = fixture("live")
    data.fetched("https://a.example/", "A", (1 to 40).map(n => s"old $n" -> "x")*)
    ReaderFixture.serving(data.database): address =>
      val front = visit(address, "/")
      front.evaluate("document.querySelectorAll('.items .title')[20].focus(); 0"): Unit
      front.evaluate("window.kept = document.activeElement; 0"): Unit
      data.fetched("https://b.example/", "B", "fresh <1>" -> "x", "fresh 2" -> "x")
      eventually("the new items are there")(texts(front, ".items .title").size == 42)
      assertEquals(texts(front, ".items .title").take(3), Vector("fresh <1>", "fresh 2", "old 1"))
      assertEquals(texts(front, ".checks .title"), Vector("B", "A"))
      assert(texts(front, "#news").head.startsWith("2 new items, 1 new check at "))
      assert(
        front.evaluate("document.activeElement === window.kept && window.kept.isConnected").bool
      )

      // A hidden page does not poll; this one hides the other.
      val failing = visit(address, "/feeds?show=failing")
      assertEquals(texts(failing, ".none").size, 1)
      data.failed("https://a.example/", "timed out", "no answer", failures = 2)
      look(failing)
      eventually("the failure is there")(texts(failing, ".feeds .title") == Vector("A"))
      assertEquals(texts(failing, ".none"), Vector.empty)
      assertEquals(texts(failing, "nav .count"), Vector("2", "1", "0"))
      front.call("Page.bringToFront"): Unit
      eventually("the check is there")(texts(front, ".checks .title") == Vector("A", "B"))
      assertEquals(texts(front, ".checks .outcome").head, "timed out")
      keep("reader-live", front)

      assertEquals(texts(front, ".pager a"), Vector.empty)
      data.fetched("https://c.example/", "C", (1 to 20).map(n => s"more $n" -> "x")*)
      look(front)
      eventually("more are there than a page has")(texts(front, ".items .title").head == "more 1")
      assertEquals(texts(front, ".items .title").size, 50)
      assertEquals(texts(front, ".items .title").last, "old 28")
      val older = visit(address, href(front, ".pager a"))
      assertEquals(texts(older, ".items .title"), (29 to 40).map(n => s"old $n").toVector)
      assertEquals(front.problems ++ failing.problems, Vector.empty)

  test("a page says when the reader has gone, and goes on when it is back"):
    needsBrowser()
    val data = fixture("gone")
    sample(data)
    ReaderFixture.read(data.database): reader =>
      def start(port: Int) = ReaderServer.start(reader, port, LocalTime(ReaderFixture.zone), 0)
      val first = start(0)
      val tab = visit(first.address, "/")
      first.close()
      eventually("it says so")(texts(tab, "#live.off").exists(_.contains("does not answer")))
      val second = start(first.address.getPort)
      try eventually("it goes on")(tab.evaluate(isLive).bool)
      finally second.close()

  test("without JavaScript the pages say all but what is new"):
    needsBrowser()
    val data = fixture("noscript")
    sample(data)
    ReaderFixture.serving(data.database): address =>
      val tab = browser.visit(URI("about:blank"), 1280, 900)
      tab.call("Emulation.setScriptExecutionDisabled", ujson.Obj("value" -> true)): Unit
      tab.call("Page.navigate", ujson.Obj("url" -> address.toString)): Unit
      eventually("the page says so"):
        texts(tab, ".live noscript").exists(_.contains("Reload"))
      assertEquals(texts(tab, ".items .title").head, "Tasks that block & wait")

  test("all links and nothing else can be reached by the keyboard, each seen when it is"):
    needsBrowser()
    val data = fixture("keyboard")
    sample(data)
    ReaderFixture.serving(data.database): address =>
      val tab = visit(address, "/")
      def tabKey() =
        for kind <- Seq("keyDown", "keyUp") do
          tab.call(
            "Input.dispatchKeyEvent",
            ujson.Obj("type" -> kind, "key" -> "Tab", "code" -> "Tab", "windowsVirtualKeyCode" -> 9)
          ): Unit
      val links = tab.evaluate("document.querySelectorAll('a').length").num.toInt
      val reached = (1 to links).map: _ =>
        tabKey()
        assert(tab.evaluate("getComputedStyle(document.activeElement).outlineStyle").str != "none")
        tab.evaluate("document.activeElement.getAttribute('href')").str
      assertEquals(reached.head, "#content")
      assertEquals(
        reached.toVector,
        tab
          .evaluate("[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))")
          .arr
          .map(_.str)
          .toVector
      )

  private val armed = "window.hits = window.hits || 0; window.hit = () => { window.hits += 1 }; 0"

  private val poked =
    """new Promise(done => {
      |  for (const element of document.querySelectorAll('main *')) {
      |    for (const kind of ['click', 'mouseover', 'mouseenter', 'focus', 'error', 'load',
      |      'toggle', 'animationstart', 'pointerrawupdate', 'begin', 'submit'])
      |      if (kind !== 'click' || element.tagName !== 'A')
      |        element.dispatchEvent(new Event(kind, { bubbles: true, cancelable: true }));
      |  }
      |  requestAnimationFrame(() => requestAnimationFrame(() => done(0)));
      |})""".stripMargin

  /** The elements that no page of the reader has. */
  private val foreignElements =
    """[...document.querySelectorAll('*')].filter(element =>
      |  element.closest('script:not([src="/reader.js"]), style, iframe, object, embed, form, ' +
      |    'input, svg, math, template, base, img, video, audio, [style], [onerror], [onload], ' +
      |    '[onclick], main [id=live]') ||
      |  (element.hasAttribute('href') && !/^(https?:\/\/|\/|#)/.test(element.getAttribute('href')))
      |).map(element => element.outerHTML)""".stripMargin

  /** The values that an attack could have changed. They are read together, since each query takes
    * time.
    */
  private val attacked =
    s"""{
       |  hits: window.hits,
       |  path: location.pathname + location.search,
       |  foreign: $foreignElements,
       |  display: getComputedStyle(document.body).display,
       |  stamp: document.getElementById('live').dataset.stamp.length
       |}""".stripMargin

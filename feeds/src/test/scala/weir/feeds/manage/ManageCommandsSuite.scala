package weir.feeds.manage

import java.nio.file.{Files, Path}

import munit.FunSuite

import weir.feeds.{FeedsProgram, Session}
import weir.feeds.FeedsProgram.Result
import weir.feeds.reader.ReaderFixture
import weir.program.TempFolder

/** `weir feeds add`, `remove`, `list`, `enable` and `disable` as a user runs them. */
class ManageCommandsSuite extends FunSuite with TempFolder:
  private def db(folder: Path) = folder.resolve("feeds.db").toString

  private def weir(folder: Path, command: String, args: String*): Result =
    FeedsProgram.run(Seq(command, "--db", db(folder)) ++ args*)

  private def listed(folder: Path, args: String*): Vector[ujson.Value] =
    weir(folder, "list", Seq("--json") ++ args*).lines.map(ujson.read(_))

  private def urls(folder: Path, args: String*): Vector[String] =
    listed(folder, args*).map(_("url").str)

  /** One feed that is fine, two that fail, one that is gone, one that is new. */
  private def filled(folder: Path): Unit =
    val fixture = ReaderFixture.in(folder)
    fixture.fetched("http://a.example/feed", "Zebra", "a1" -> "x", "a2" -> "x")
    fixture.failed("http://b.example/feed", "timed out", "no answer", failures = 1)
    fixture.failed("http://c.example/feed", "server error", "500", failures = 7)
    fixture.failed("http://d.example/feed", "410 gone", "410", failures = 1, isGone = true)
    fixture.added("http://e.example/feed")

  folder.test("feeds are added in any form, each once, and the database is made"): folder =>
    val added =
      weir(folder, "add", "A.example/feed", "feed://b.example/x", "https://a.example/feed")
    assertEquals(added, Result(0, s"2 feeds added to ${db(folder)}\n", ""))
    assertEquals(urls(folder), Vector("http://b.example/x", "https://a.example/feed"))
    val again = weir(folder, "add", "http://b.example/x", "http://c.example/")
    assertEquals(again.out, s"1 feed added to ${db(folder)}, 1 known already\n")

  folder.test("a feed is removed with its items, and its address counts in any form"): folder =>
    filled(folder)
    val removed = weir(folder, "remove", "HTTP://A.example:80/feed#x", "http://a.example/feed")
    assertEquals(removed, Result(0, "1 feed removed\n", ""))
    assertEquals(urls(folder).size, 4)
    assertEquals(weir(folder, "items").out, "")

  folder.test("a feed is disabled and enabled; what was so already is counted"): folder =>
    filled(folder)
    def state = listed(folder).find(_("url").str == "http://a.example/feed").get("state").str
    assertEquals(weir(folder, "disable", "http://a.example/feed").out, "1 feed disabled\n")
    assertEquals(state, "disabled")
    assertEquals(
      weir(folder, "disable", "http://a.example/feed", "http://b.example/feed").out,
      "1 feed disabled, 1 disabled already\n"
    )
    assertEquals(weir(folder, "enable", "http://a.example/feed").out, "1 feed enabled\n")
    assertEquals(state, "new")

  folder.test("adding a feed that is gone, or disabled, makes it due again"): folder =>
    filled(folder)
    weir(folder, "disable", "http://a.example/feed"): Unit
    val added =
      weir(folder, "add", "http://a.example/feed", "http://d.example/feed", "http://f.example/")
    assertEquals(added.out, s"1 feed added to ${db(folder)}, 2 enabled again\n")
    assert(listed(folder).forall(feed => feed("state").str != "gone"))

  folder.test("a list shows how it goes with each feed"): folder =>
    filled(folder)
    val states = listed(folder).map(feed => feed("url").str.slice(7, 8) -> feed("state").str).toMap
    assertEquals(
      states,
      Map("a" -> "ok", "b" -> "failing", "c" -> "failing", "d" -> "gone", "e" -> "new")
    )
    val fine = listed(folder).find(_("title") == ujson.Str("Zebra")).get
    assertEquals((fine("items").num, fine("failures").num), (2.0, 0.0))
    val (checked, next) = (time(fine("checked").str), time(fine("next").str))
    // The fixture holds off for two hours, which is more than --stale.
    assertEquals(next.toEpochSecond - checked.toEpochSecond, 7_200L)
    assertEquals(listed(folder, "--stale", "3h").map(_("next")).count(_.isNull), 1)
    val gone = listed(folder).find(_("state").str == "gone").get
    assertEquals((gone("outcome").str, gone("detail").str), ("410 gone", "410"))
    val text = weir(folder, "list")
    assertEquals(text.lines.map(_.split('\t').length).distinct, Vector(7))
    val tabs = text.lines.find(_.contains("Zebra")).get.split('\t').toVector
    assertEquals(tabs(0) +: tabs.drop(3), Vector("ok", "0", "2", "http://a.example/feed", "Zebra"))

  private def time(text: String) = java.time.OffsetDateTime.parse(text)

  folder.test("a list is sorted as asked"): folder =>
    filled(folder)
    def order(args: String*) = urls(folder, args*).map(_.slice(7, 8)).mkString
    assertEquals(order(), "bcdea")
    assertEquals(order("--sort", "url"), "abcde")
    assertEquals(order("--sort", "failures").head, 'c')
    assertEquals(order("--sort", "items").head, 'a')
    assertEquals(order("--sort", "checked"), "dcbae")
    assertEquals(order("--sort", "next"), "eabcd")
    assertEquals(order("--failing"), "cbd")
    assertEquals(order("--failing", "--sort", "url"), "bcd")

  folder.test("no character of a feed reaches the terminal as a command"): folder =>
    val fixture = ReaderFixture.in(folder)
    fixture.fetched("http://a.example/feed", "a\u001b[31m\nb\tc", "a1" -> "x")
    val feed = weir(folder, "list").out
    assertEquals(feed.count(_ < ' '), 7)
    assert(weir(folder, "list", "--json").out.forall(char => char == '\n' || char >= ' '))

  folder.test("bad input is one line that names the place, exit code 2, and nothing is changed"):
    folder =>
      filled(folder)
      val none = folder.resolve("none.db").toString
      for (args, said) <- List(
          Seq("add", "--db", none, "http://a.example/", "htp:/x") -> "weir feeds add: 'htp:/x'",
          Seq("add", "--db", none) -> "weir feeds add: Missing required parameter: 'URL'",
          Seq("remove", "--db", none, "http://a.example/") -> s"$none: there is no database",
          Seq("list", "--db", none) -> s"$none: there is no database",
          Seq("export", "--db", none) -> s"$none: there is no database",
          Seq("remove", "--db", db(folder), "http://a.example/feed", "http://b.example/fed") ->
            "weir feeds remove: there is no feed http://b.example/fed",
          Seq(
            "enable",
            "--db",
            db(folder),
            "http://x.example/"
          ) -> "weir feeds enable: there is no",
          Seq("disable", "--db", db(folder), "nonsense") -> "weir feeds disable: 'nonsense'",
          Seq("list", "--db", db(folder), "--sort", "colour") -> "--sort: 'colour' is unknown.",
          Seq("list", "--db", db(folder), "--stale", "x") -> "--stale:",
          Seq("--watch", "add", "--db", db(folder), "a.example") -> "--watch: weir feeds add has no"
        )
      do
        val before = Files.list(folder).toList -> urls(folder)
        val result = FeedsProgram.run(args*)
        assertEquals((result.code, result.out), (2, ""), s"$args ${result.err}")
        assertEquals(result.err.linesIterator.size, 1, s"$args: ${result.err}")
        assert(result.err.startsWith(said), s"$args: ${result.err}")
        assertEquals(Files.list(folder).toList -> urls(folder), before, s"$args")
      val near = weir(folder, "remove", "http://b.example/fed").err
      assert(near.contains("Similar: http://b.example/feed, "), near)

  folder.test("feeds are added from standard input, by lines and as OPML"): folder =>
    val args = Seq("--db", db(folder), "--timeout", "1s", "--retries", "0")
    val lines = FeedsProgram.reading("# mine\nhttp://127.0.0.1:1/a\n\nhtp:/b\n")(
      args ++ Seq("--urls", "-")*
    )
    assertEquals(lines.code, Session.mostFailed, lines.err)
    assert(lines.err.startsWith("-:4: 'htp:/b' is not an http"), lines.err)
    val opml = "<opml><body><outline xmlUrl='http://127.0.0.1:1/b'/></body></opml>"
    val outlines = FeedsProgram.reading(opml)(args ++ Seq("--opml", "-")*)
    assertEquals(outlines.code, Session.mostFailed, outlines.err)
    assertEquals(urls(folder), Vector("http://127.0.0.1:1/a", "http://127.0.0.1:1/b"))
    val empty = FeedsProgram.reading("")(args ++ Seq("--urls", "-")*)
    assertEquals((empty.code, empty.out), (2, ""))
    assert(empty.err.startsWith("-: there is no URL in it."), empty.err)

  folder.test("the helps name every option and the exit codes, in 80 columns"): _ =>
    val all = FeedsProgram.run("--help").out
    for (command, words) <- Seq(
        "add" -> Seq("URL"),
        "remove" -> Seq("URL"),
        "list" -> Seq("--sort", "--failing", "--stale", "--json"),
        "enable" -> Seq("URL"),
        "disable" -> Seq("URL"),
        "export" -> Seq("OPML")
      )
    do
      val help = FeedsProgram.run(command, "--help")
      assertEquals(help.code, 0)
      for word <- words ++ Seq("--db", "Exit code") do
        assert(help.out.contains(word), s"$command: $word")
      assert(help.out.linesIterator.forall(_.length <= 80), help.out)
      assert(all.contains(s"  $command "), command)

package weir.feeds

import java.io.{PrintWriter, StringWriter}
import java.nio.file.{Files, Path}
import java.sql.DriverManager
import java.util.Comparator
import scala.concurrent.duration.*

import munit.FunSuite

import weir.feeds.store.Sql
import weir.program.{Main, TempFolder}

/** The command as a user runs it: its exit code, what it prints, what is in the database after. */
class FeedsCommandSuite extends FunSuite with TempFolder:
  override def munitTimeout: Duration = 2.minutes

  private case class Result(code: Int, out: String, err: String)

  private def weir(args: String*): Result =
    val (out, err) = (StringWriter(), StringWriter())
    val code = Main.run("feeds" +: args, PrintWriter(out, true), PrintWriter(err, true))
    Result(code, out.toString, err.toString)

  private def site(folder: Path, args: String*): Result =
    val fast = Seq("--site-feeds", "60", "--speed", "20")
    weir(Seq("--db", db(folder).toString) ++ fast ++ args*)

  /** A first run with all that it can write: some feeds take the whole timeout, so it is the same
    * one for all tests of what it leaves behind.
    */
  private final case class Run(folder: Path):
    val json: Path = folder.resolve("out.json")
    val page: Path = folder.resolve("out.html")
    val result: Result =
      val files = Seq("--json", json.toString, "--report", page.toString)
      site(folder, Seq("--timeout", "15s", "--seed", "5") ++ files*)

  private lazy val firstRun = Run(Files.createTempDirectory("weir"))
  private var hasRun = false

  private def first(): Run =
    hasRun = true
    firstRun

  override def afterAll(): Unit =
    if hasRun then Files.walk(firstRun.folder).sorted(Comparator.reverseOrder).forEach(Files.delete)

  private def db(folder: Path) = folder.resolve("feeds.db")

  private def number(folder: Path, query: String): Long =
    val connection = DriverManager.getConnection(s"jdbc:sqlite:${db(folder)}")
    try Sql.query(connection, query)()(_.getLong(1)).head
    finally connection.close()

  /** The feeds in the row of the table that begins with `outcome`. */
  private def row(result: Result, outcome: String): Option[Int] =
    result.out.linesIterator
      .find(_.startsWith(s"$outcome  "))
      .map(_.stripPrefix(outcome).trim.takeWhile(_.isDigit).toInt)

  test("the local site is fetched whole, each bad kind in its own row"):
    val (folder, result) = (first().folder, first().result)
    assertEquals(result.code, 0, result.err)
    for outcome <- List(
        "fetched",
        "fetched, wrong encoding recovered",
        "fetched, external entity left out",
        "fetched, malformed XML recovered",
        "fetched, truncated",
        "404 not found",
        "410 gone, asked again in a month",
        "server error after 3 tries",
        "connection reset after 3 tries",
        "timed out",
        "too large",
        "wrong encoding, refused",
        "malformed XML",
        "entity expansion refused",
        "redirect loop"
      )
    do assert(row(result, outcome).exists(_ > 0), s"no row for $outcome in\n${result.out}")
    assertEquals(row(result, "total"), Some(60))
    assert(result.out.contains("taken / bound"))
    assertEquals(number(folder, "SELECT count(*) FROM feed WHERE checked_at IS NULL"), 0L)
    val items = number(folder, "SELECT count(*) FROM item")
    assertEquals(number(folder, "SELECT count(DISTINCT feed_id || ' ' || guid) FROM item"), items)
    assertEquals(number(folder, "SELECT count(*) FROM feed WHERE url LIKE '%/moved/%'"), 1L)

  folder.test("a second run fetches only what is due, and what is known is not modified"): folder =>
    Files.copy(db(first().folder), db(folder)): Unit
    val second = site(folder)
    assert(
      second.out.startsWith(s"0 of 60 feeds in ${db(folder)} are due; the next in"),
      second.out
    )
    val before = number(folder, "SELECT count(*) FROM item")
    val third = site(folder, "--stale", "0s", "--timeout", "8s")
    assertEquals(row(third, "total"), Some(59), third.out)
    assert(row(third, "not modified").exists(_ > 10), third.out)
    assertEquals(number(folder, "SELECT count(*) FROM item"), before)
    assert(third.out.contains(" 0 new"), third.out)

  folder.test("--stages says how busy each part was, and leaves it for the pages"): folder =>
    val fast = Seq("--site-feeds", "8", "--speed", "100", "--stages")
    val result = weir(Seq("--db", db(folder).toString) ++ fast*)
    assertEquals(result.code, 0, result.err)
    for stage <- List("query", "fetch") do
      assert(result.err.linesIterator.exists(_.startsWith(stage)), result.err)
    val told = "SELECT count(*) FROM meta WHERE name = 'stages' AND value LIKE '%fetch%'"
    assertEquals(number(folder, told), 1L)

  test("results are written as JSON, and as a page"):
    val run = first()
    assertEquals(run.result.code, 0)
    val json = ujson.read(Files.readString(run.json))
    assertEquals(json("command").str, "feeds")
    assertEquals(json("seed").str, "5")
    assert(json("cpus").num >= 1)
    val results = json("results").arr.map(result => result("case").str -> result("value").num).toMap
    assertEquals(results("outcome: 404 not found"), 2.0)
    assert(results("bound") > 0)
    assert(Files.readString(run.page).contains("404 not found"))

  folder.test("results are written also where nothing is due"): folder =>
    Files.copy(db(first().folder), db(folder)): Unit
    val (json, page) = (folder.resolve("none.json"), folder.resolve("none.html"))
    val none = site(folder, "--json", json.toString, "--report", page.toString)
    assert(none.out.startsWith("0 of 60 feeds"), none.out)
    val results = ujson.read(Files.readString(json))("results").arr
    val values = results.map(result => result("case").str -> result("value").num).toMap
    assertEquals((values("items found"), values("items new")), (0.0, 0.0))
    assert(Files.readString(page).contains("items new"))

  folder.test("feeds of a list are added once and fetched, and the local site stays away"):
    folder =>
      val urls = write(folder, "feeds.txt", "http://127.0.0.1:1/a\nhttp://127.0.0.1:1/b\n")
      val args = Seq("--db", db(folder).toString, "--urls", urls.toString)
      val first = weir(args*)
      assertEquals(first.code, Session.mostFailed)
      assert(first.out.startsWith("2 feeds added\n"), first.out)
      assertEquals(row(first, "no connection"), Some(2))
      val again = weir(args*)
      assert(again.out.startsWith("0 feeds added, 2 known already\n"), again.out)
      assertEquals(number(folder, "SELECT count(*) FROM feed"), 2L)

  folder.test("the demo's feeds and the user's are never in one database"): folder =>
    val urls = write(folder, "feeds.txt", "http://127.0.0.1:1/a\n")
    def bad(args: String*) =
      val result = weir(args*)
      assertEquals((result.code, result.out), (2, ""), result.err)
      assertEquals(result.err.linesIterator.size, 1, result.err)
      result.err
    val (own, demo) = (s"$folder/own.db", s"${db(first().folder)}")
    assert(bad("--db", own).startsWith(s"$own: there is no database of feeds here. Begin with"))
    assertEquals(weir("--db", own, "--urls", s"$urls", "--retries", "0").code, Session.mostFailed)
    assert(bad("--db", own, "--site-feeds", "2").contains("it has feeds of yours"))
    assert(bad("--db", demo, "--urls", s"$urls").contains("it has the feeds of the demo"))
    assert(bad("add", "--db", demo, "http://a.example/").contains("it has the feeds of the demo"))
    val again = weir("--db", own)
    assert(again.out.startsWith(s"0 of 1 feed in $own is due; the next in"), again.out)

  folder.test("bad lines and outlines are named, counted and left out"): folder =>
    val bad = (1 to 25).map(n => s"htp:/$n\n").mkString
    val urls = write(folder, "feeds.txt", s"http://127.0.0.1:1/a\n$bad")
    val opml = write(folder, "subs.opml", "<opml><body><outline xmlUrl='http://127.0.0.1:1/b'/>\n")
    val args = Seq("--db", db(folder).toString, "--urls", s"$urls", "--opml", s"$opml")
    val result = weir(args*)
    assertEquals(result.code, Session.mostFailed, result.err)
    assert(result.out.startsWith("2 feeds added, 26 problems in the input\n"), result.out)
    val lines = result.err.linesIterator.toVector
    assert(lines(0).startsWith(s"$opml:1: the file ends before"), result.err)
    assert(lines(1).startsWith(s"$urls:2: 'htp:/1' is not an http"), result.err)
    assertEquals(lines.filter(_.contains("htp:")).size, 19)
    assertEquals(lines(20), "… and 6 more")

  folder.test("input without a good feed, and with --strict any problem, adds nothing"): folder =>
    val none = write(folder, "none.txt", "htp:/a\nhtp:/b\n")
    val some = write(folder, "some.txt", "http://127.0.0.1:1/a\nhtp:/b\n")
    for args <- List(Seq("--urls", s"$none"), Seq("--urls", s"$some", "--strict")) do
      val result = weir(Seq("--db", db(folder).toString) ++ args*)
      assertEquals(result.code, 2, s"$args")
      assertEquals(result.out, "")
      assert(result.err.linesIterator.toVector.last.contains(":2: 'htp:/b'"), result.err)
      assert(!Files.exists(db(folder)))
    val good = write(folder, "good.txt", "http://127.0.0.1:1/a\n")
    assertEquals(
      weir("--db", db(folder).toString, "--urls", s"$good", "--strict").code,
      Session.mostFailed
    )

  folder.test("bad input is one line that names the place, exit code 2, and no change"): folder =>
    val urls = write(folder, "feeds.txt", "http://a.example/\n" * 6 + "htp:/b\n")
    val opml = write(folder, "subs.opml", "<opml>\n<body>\n</body></opml>")
    val text = write(folder, "notes.txt", "no database\n" * 20)
    val good = write(folder, "good.txt", "http://a.example/\n")
    for (args, place) <- List(
        Seq("--parallel", "0") -> "--parallel:",
        Seq("--parallel", "many") -> "--parallel:",
        Seq("--per-host", "-1") -> "--per-host:",
        Seq("--stale", "5parsecs") -> "--stale:",
        Seq("--timeout", "0s") -> "--timeout:",
        Seq("--retries", "x") -> "--retries:",
        Seq("--max-body", "10 elephants") -> "--max-body:",
        Seq("--seed", "x") -> "--seed:",
        Seq("--speed", "0") -> "--speed:",
        Seq("--json", s"$folder/none/out.json") -> s"--json $folder/none/out.json:",
        Seq("--report", s"$folder/none/out.html") -> s"--report $folder/none/out.html:",
        Seq("--json", s"$folder") -> s"--json $folder:",
        Seq("--urls", s"$urls", "--strict") -> s"$urls:7:",
        Seq("--urls", s"$good", "--urls", s"$urls") -> "weir feeds:",
        Seq("--urls", s"$good", "--opml", s"$opml") -> s"$opml:",
        Seq("--urls", s"$folder") -> s"$folder:",
        Seq("--urls", s"$folder/none") -> s"$folder/none:",
        Seq("--db", s"$text") -> s"$text:",
        Seq("--db", s"$folder") -> s"$folder:",
        Seq("--db", s"$folder/none/feeds.db") -> s"$folder/none/feeds.db:",
        Seq("--db", "jdbc:mysql://localhost/x") -> "--db:",
        Seq("--db", "jdbc:postgresql://127.0.0.1:1/x") -> "jdbc:postgresql://127.0.0.1:1/x:",
        Seq("--bogus") -> "weir feeds:",
        Seq("extra") -> "weir feeds:"
      )
    do
      val before = Files.list(folder).toList
      val withDb = if args.contains("--db") then args else Seq("--db", s"${db(folder)}") ++ args
      val result = weir(withDb*)
      assertEquals(result.code, 2, s"$args $result")
      assertEquals(result.out, "", s"$args")
      assertEquals(result.err.linesIterator.size, 1, s"$args: ${result.err}")
      assert(result.err.startsWith(place), s"$args: ${result.err}")
      assertEquals(Files.list(folder).toList, before, s"$args")

  folder.test("the help names every option and the exit codes"): _ =>
    val help = weir("--help")
    assertEquals(help.code, 0)
    for word <- List(
        "--db",
        "--opml",
        "--urls",
        "--parallel",
        "--per-host",
        "--stale",
        "--strict",
        "--allow-private",
        "--exec",
        "--new-items",
        "--keep",
        "--keep-items",
        "130"
      )
    do assert(help.out.contains(word), word)
    assert(help.out.linesIterator.forall(_.length <= 80), help.out)

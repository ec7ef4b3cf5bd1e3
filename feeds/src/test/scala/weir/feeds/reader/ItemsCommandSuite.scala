package weir.feeds.reader

import java.io.{PrintWriter, StringWriter, Writer}
import java.nio.file.{Files, Path}
import java.time.Instant

import munit.FunSuite

import weir.feeds.store.{Database, FeedStore}
import weir.program.{Main, TempFolder}

/** `weir feeds items` as a user runs it. */
class ItemsCommandSuite extends FunSuite with TempFolder:
  private case class Result(code: Int, out: String, err: String):
    def titles: Vector[String] = out.linesIterator.map(_.split('\t')(2)).toVector

  private def weir(args: String*): Result =
    val (out, err) = (StringWriter(), StringWriter())
    val code = Main.run("feeds" +: args, PrintWriter(out, true), PrintWriter(err, true))
    Result(code, out.toString, err.toString)

  private def items(folder: Path, args: String*): Result =
    weir(Seq("items", "--db", folder.resolve("feeds.db").toString) ++ args*)

  private def filled(folder: Path): ReaderFixture =
    val fixture = ReaderFixture.in(folder)
    fixture.fetched("http://a.example/feed", "A", "a1" -> "x", "a2" -> "x")
    fixture.fetched("http://b.example/feed", "B", "b1" -> "<p>text</p>", "b2" -> "x")
    fixture

  folder.test("items come newest first, those of one check as their feed has them"): folder =>
    filled(folder): Unit
    val result = items(folder)
    assertEquals((result.code, result.err), (0, ""))
    assertEquals(result.titles, Vector("b1", "b2", "a1", "a2"))

  folder.test("newest is by the items' dates, but none is newer than when it was first seen"):
    folder =>
      val fixture = ReaderFixture.in(folder)
      def item(title: String, date: String) =
        val millis = Option.when(date.nonEmpty)(Instant.parse(date).toEpochMilli)
        ReaderFixture.item(title, None, title, "x").copy(publishedAt = millis)
      fixture.stored("http://a.example/feed", "A", item("at once", ""))
      fixture.stored(
        "http://b.example/feed",
        "B",
        item("old", "2020-01-01T00:00:00Z"),
        item("future", "2036-01-01T00:00:00Z"),
        item("older", "2019-01-01T00:00:00Z")
      )
      fixture.stored("http://c.example/feed", "C", item("late", "2026-03-01T12:02:30Z"))
      val sorted = Vector("late", "future", "at once", "old", "older")
      assertEquals(items(folder).titles, sorted)
      assertEquals(
        items(folder, "--since", "2026-03-01T12:02:00Z").titles,
        sorted.filter(_ != "at once")
      )
      assertEquals(items(folder, "--limit", "3").titles, sorted.take(3))

  folder.test("--since is about when an item was first seen"): folder =>
    filled(folder): Unit
    assertEquals(items(folder, "--since", "2026-03-01T12:02:00Z").titles, Vector("b1", "b2"))
    assertEquals(items(folder, "--since", "2026-03-01T12:01:00Z").titles.size, 4)
    assertEquals(items(folder, "--since", "2026-03-01T12:02:01Z").titles, Vector())

  folder.test("--feed takes an address in any form that it may be written in"): folder =>
    filled(folder): Unit
    assertEquals(items(folder, "--feed", "HTTP://A.example:80/feed#x").titles, Vector("a1", "a2"))

  folder.test("--limit ends the list, across pages too, and without it or --since it is 50"):
    folder =>
      val fixture = ReaderFixture.in(folder)
      fixture.fetched("http://a.example/", "A", (1 to 450).map(n => s"t$n" -> "x")*)
      assertEquals(items(folder).titles, (1 to 50).map(n => s"t$n").toVector)
      assertEquals(items(folder, "--limit", "401").titles, (1 to 401).map(n => s"t$n").toVector)
      assertEquals(items(folder, "--since", "2026-01-01").titles.size, 450)

  folder.test("--json is an object a line, with the texts"): folder =>
    filled(folder): Unit
    val objects = items(folder, "--json").out.linesIterator.map(ujson.read(_)).toVector
    assertEquals(objects.map(_("title").str), Vector("b1", "b2", "a1", "a2"))
    assertEquals(objects.head("summary").str, "<p>text</p>")
    assertEquals(objects.head("feed")("url").str, "http://b.example/feed")

  folder.test("the database may be named before the command"): folder =>
    filled(folder): Unit
    val result = weir("--db", folder.resolve("feeds.db").toString, "items", "--limit", "1")
    assertEquals((result.code, result.titles), (0, Vector("b1")))

  folder.test("nothing to list is said, and is no error"): folder =>
    filled(folder): Unit
    val result = items(folder, "--since", "2026-03-02")
    assertEquals(result, Result(0, "", "no items\n"))

  folder.test("a reader that goes away ends the list, quietly and soon"): folder =>
    val fixture = ReaderFixture.in(folder)
    fixture.fetched("http://a.example/", "A", (1 to 1_000).map(n => s"t$n" -> "x")*)
    var writes = 0
    val closed = new Writer:
      def write(chars: Array[Char], from: Int, length: Int): Unit =
        writes += 1
        throw java.io.IOException("Broken pipe")
      def flush(): Unit = ()
      def close(): Unit = ()
    val err = StringWriter()
    val args = Seq("feeds", "items", "--db", folder.resolve("feeds.db").toString)
    val code =
      Main.run(args ++ Seq("--since", "2026-01-01"), PrintWriter(closed), PrintWriter(err, true))
    assertEquals((code, err.toString, writes), (0, "", 1))

  folder.test("reading leaves the database as it is, byte for byte"): folder =>
    filled(folder): Unit
    def state =
      Files.list(folder).toList.toString -> Files.readAllBytes(folder.resolve("feeds.db")).toVector
    val before = state
    assertEquals(items(folder, "--json").code, 0)
    assertEquals(state, before)

  folder.test("bad input is one line that names the place, exit code 2, and nothing is made"):
    folder =>
      filled(folder): Unit
      val db = folder.resolve("feeds.db").toString
      val none = folder.resolve("none.db").toString
      val empty = write(folder, "empty.db", "").toString
      val text = write(folder, "notes.txt", "no database\n" * 20).toString
      for (args, place) <- List(
          Seq("items", "--db", none) -> s"$none:",
          Seq("items", "--db", empty) -> s"$empty:",
          Seq("items", "--db", text) -> s"$text:",
          Seq("items", "--db", s"$folder") -> s"$folder:",
          Seq(
            "items",
            "--db",
            "jdbc:postgresql://127.0.0.1:1/x"
          ) -> "jdbc:postgresql://127.0.0.1:1/x:",
          Seq("serve", "--db", none) -> s"$none:",
          Seq("serve", "--db", empty) -> s"$empty:",
          Seq("serve", "--db", text) -> s"$text:",
          Seq("serve", "--db", db, "--port", "65536") -> "--port:",
          Seq("serve", "--db", db, "--stale", "x") -> "--stale:",
          Seq("items", "--db", db, "--feed", "http://c.example/") -> "--feed:",
          Seq("items", "--db", db, "--feed", "c.example") -> "--feed:",
          Seq("items", "--db", db, "--since", "5parsecs") -> "--since:",
          Seq("items", "--db", db, "--since", "2026-02-30") -> "--since:",
          Seq("items", "--db", db, "--limit", "0") -> "--limit:",
          Seq("items", "--db", db, "--limit", "x") -> "--limit:",
          Seq("items", "--db", db, "--bogus") -> "weir feeds items:",
          Seq("items", "--db", db, "extra") -> "weir feeds items:",
          Seq("--parallel", "3", "items", "--db", db) -> "--parallel:",
          Seq("--watch", "serve", "--db", db) -> "--watch:"
        )
      do
        val before = Files.list(folder).toList
        val result = weir(args*)
        assertEquals(result.code, 2, s"$args $result")
        assertEquals(result.out, "", s"$args")
        assertEquals(result.err.linesIterator.size, 1, s"$args: ${result.err}")
        assert(result.err.startsWith(place), s"$args: ${result.err}")
        assertEquals(Files.list(folder).toList, before, s"$args")

  folder.test("a database without a feed lists nothing"): folder =>
    FeedStore.open(Database.of(folder.resolve("feeds.db").toString)).close()
    assertEquals(items(folder), Result(0, "", "no items\n"))

  test("the helps name every option and the exit codes, in 80 columns"):
    for (command, words) <- Seq(
        "items" -> Seq("--db", "--since", "--feed", "--limit", "--json", "first seen", "Exit code"),
        "serve" -> Seq("--db", "--port", "--stale", "Exit code", "130")
      )
    do
      val help = weir(command, "--help")
      assertEquals(help.code, 0)
      for word <- words do assert(help.out.contains(word), s"$command: $word")
      assert(help.out.linesIterator.forall(_.length <= 80), help.out)
    assert(weir("--help").out.contains("serve"))

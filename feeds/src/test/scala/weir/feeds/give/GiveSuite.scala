package weir.feeds.give

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import scala.concurrent.duration.*

import munit.FunSuite

import weir.feeds.{ChangingServer, FeedsProgram}
import weir.feeds.FeedsProgram.Result
import weir.program.TempFolder

/** `--exec`, `--new-items`, `--keep` and `--keep-items` as a user runs them. */
class GiveSuite extends FunSuite with TempFolder:
  override def munitTimeout: Duration = 2.minutes

  private final class Site(folder: Path) extends AutoCloseable:
    private val server = ChangingServer()
    private val list = Files.writeString(folder.resolve("urls.txt"), server.address("/feed"))
    val db: String = folder.resolve("feeds.db").toString
    val log: Path = folder.resolve("given.txt")

    def serve(titles: String*): Unit =
      val items = titles.map: title =>
        s"<item><guid>${title.takeWhile(_ != '!')}</guid><title>$title</title></item>"
      server.body = s"""<rss version="2.0"><channel><title>T</title>${items.mkString}
        |</channel></rss>""".stripMargin.getBytes(UTF_8)

    def fetch(args: String*): Result =
      FeedsProgram.run(Seq("--db", db, "--urls", list.toString, "--stale", "0s") ++ args*)

    def givenTitles: Vector[String] =
      if Files.exists(log) then
        Files.readString(log).linesIterator.map(ujson.read(_)("title").str).toVector
      else Vector.empty

    def close(): Unit = server.close()

  private def withSite(folder: Path)(body: Site => Unit): Unit =
    val site = Site(folder)
    try body(site)
    finally site.close()

  folder.test("--exec runs the command once for each new item, with what items --json prints"):
    folder =>
      withSite(folder): site =>
        val exec = Seq("--exec", s"cat >> ${site.log}")
        site.serve("a", "b")
        assertEquals(site.fetch(exec*).code, 0)
        assertEquals(site.givenTitles, Vector("a", "b"))
        val printed = FeedsProgram.run("items", "--json", "--db", site.db).out
        assertEquals(Files.readString(site.log), printed)
        site.serve("c", "b!edited", "a")
        assertEquals(site.fetch(exec*).code, 0)
        assertEquals(site.fetch(exec*).code, 0)
        assertEquals(site.givenTitles, Vector("a", "b", "c"))

  folder.test("an item whose command fails is given again by the next run, and the others once"):
    folder =>
      withSite(folder): site =>
        site.serve((1 to 6).map(n => s"$n")*)
        val failing = s"grep -v '\"title\":\"[25-9]\"' >> ${site.log}"
        val first = site.fetch("--exec", failing)
        assertEquals(first.code, 1)
        assert(first.err.contains("weir feeds: --exec: the command ended with 1; item "), first.err)
        assertEquals(site.givenTitles, Vector("1", "3", "4"))
        assertEquals(site.fetch("--exec", s"cat >> ${site.log}").code, 0)
        assertEquals(site.givenTitles, Vector("1", "3", "4", "2", "5", "6"))
        assertEquals(site.fetch("--exec", "exit 3").code, 0) // there is nothing to give

  folder.test("failures of many commands are told in a few lines"): folder =>
    withSite(folder): site =>
      site.serve((1 to 9).map(n => s"$n")*)
      val result = site.fetch("--exec", "exit 3")
      assertEquals(result.err.linesIterator.count(_.contains("ended with 3")), 3, result.err)
      assert(result.err.contains("--exec: 6 more items could not be given"), result.err)

  folder.test("a command need not read the item, however long that is"): folder =>
    withSite(folder): site =>
      site.serve("a", "x" * 300_000)
      assertEquals(site.fetch("--exec", s"echo '{\"title\":\"t\"}' >> ${site.log}").code, 0)
      assertEquals(site.givenTitles, Vector("t", "t"))

  folder.test("--new-items - prints the new items alone on standard output, each once"): folder =>
    withSite(folder): site =>
      site.serve("a", "b")
      val first = site.fetch("--new-items", "-")
      assertEquals(first.code, 0, first.err)
      assertEquals(first.lines.map(ujson.read(_)("title").str), Vector("a", "b"))
      assert(first.err.contains("1 feed added"), first.err)
      assert(first.err.contains("2 found, 2 new"), first.err)
      site.serve("c", "a")
      val second = site.fetch("--new-items", "-")
      assertEquals(second.lines.map(ujson.read(_)("title").str), Vector("c"))
      assertEquals(site.fetch("--new-items", "-").out, "")

  folder.test("items that a run without --exec found are not given later"): folder =>
    withSite(folder): site =>
      site.serve("a")
      assertEquals(site.fetch().code, 0)
      site.serve("a", "b")
      assertEquals(site.fetch("--exec", s"cat >> ${site.log}").code, 0)
      assertEquals(site.givenTitles, Vector("b"))

  folder.test("--keep-items keeps the first of a feed; what it removed is not new again"): folder =>
    withSite(folder): site =>
      site.serve((1 to 9).map(n => s"$n")*)
      val first = site.fetch("--keep-items", "4")
      assert(first.out.contains("removed        5 items beyond the newest 4 of a feed"), first.out)
      def stored = FeedsProgram.run("items", "--json", "--db", site.db).lines.size
      assertEquals(stored, 4)
      val exec = Seq("--exec", s"cat >> ${site.log}")
      assert(site.fetch(("--keep-items" +: "4" +: exec)*).out.contains(" 0 new"))
      assertEquals((stored, site.givenTitles), (4, Vector.empty))
      assert(!site.fetch("--keep", "90d").out.contains("removed "))

  folder.test("bad options are one line"): folder =>
    withSite(folder): site =>
      site.serve("a")
      for (args, said) <- List(
          Seq("--exec", " ") -> "--exec: the command is empty.",
          Seq("--new-items", "x.txt") -> "--new-items: 'x.txt'",
          Seq("--new-items", "-", "--exec", "cat") -> "--exec: it cannot be given with",
          Seq("--keep", "0s") -> "--keep:",
          Seq("--keep", "x") -> "--keep:",
          Seq("--keep-items", "0") -> "--keep-items:"
        )
      do
        val result = site.fetch(args*)
        assertEquals((result.code, result.out), (2, ""), s"$args")
        assertEquals(result.err.linesIterator.size, 1, result.err)
        assert(result.err.startsWith(said), result.err)

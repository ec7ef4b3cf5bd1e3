package weir.feeds.manage

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import munit.FunSuite

import weir.feeds.{ChangingServer, FeedsProgram, Session}
import weir.program.TempFolder

/** A feed that answered 410 once, and is there again. */
class GoneSuite extends FunSuite with TempFolder:
  private final class Site(folder: Path) extends AutoCloseable:
    val server: ChangingServer = ChangingServer()
    val url: String = server.address("/feed")
    private val db = folder.resolve("feeds.db").toString
    private val list = Files.writeString(folder.resolve("urls.txt"), url)
    server.body = """<rss version="2.0"><channel><title>T</title><item><guid>1</guid></item>
      |</channel></rss>""".stripMargin.getBytes(UTF_8)

    def run(args: String*): Unit =
      val result = FeedsProgram.run(args ++ Seq("--db", db)*)
      assert(Set(0, Session.mostFailed)(result.code), result.err)

    /** Returns the number of requests to the server in a run. */
    def asked(args: String*): Int =
      val before = server.asked.get
      run(args*)
      server.asked.get - before

    def askedWithList(): Int = asked("--stale", "0s", "--urls", list.toString)

    def state: String =
      ujson.read(FeedsProgram.run("list", "--json", "--db", db).out)("state").str

    def close(): Unit = server.close()

  private def withGone(folder: Path)(body: Site => Unit): Unit =
    val site = Site(folder)
    try
      site.server.status = 410
      assertEquals(site.askedWithList(), 1)
      assertEquals(site.state, "gone")
      site.server.status = 200
      assertEquals(site.asked("--stale", "0s"), 0)
      body(site)
    finally site.close()

  folder.test("it is asked again at once when its address is added again, and then is there"):
    folder =>
      withGone(folder): site =>
        site.run("add", site.url)
        assertEquals(site.asked(), 1)
        assertEquals(site.state, "ok")

  folder.test("it is asked again when it is enabled"): folder =>
    withGone(folder): site =>
      site.run("enable", site.url)
      assertEquals(site.asked(), 1)
      assertEquals(site.state, "ok")

  folder.test("a list that has it still asks for it again, less and less often while it is gone"):
    folder =>
      withGone(folder): site =>
        site.server.status = 410
        assertEquals(site.askedWithList(), 1)
        assertEquals(site.askedWithList(), 0) // after two failures there is a pause
        assertEquals(site.state, "gone")

  folder.test("a list that has it still finds it when it is there again"): folder =>
    withGone(folder): site =>
      assertEquals(site.askedWithList(), 1)
      assertEquals(site.state, "ok")

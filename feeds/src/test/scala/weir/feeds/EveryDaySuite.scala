package weir.feeds

import java.nio.file.{Files, Path}
import scala.concurrent.duration.*
import scala.util.Using

import munit.FunSuite

import weir.feeds.fetch.RawServer
import weir.program.{ChildJvm, Eventually, TempFolder}

/** `weir feeds` as a timer or cron starts it: what it prints, and its exit code. */
class EveryDaySuite extends FunSuite with TempFolder with Eventually:
  override def munitTimeout: Duration = 4.minutes

  private val rss = "<rss><channel><title>T</title><item><guid>1</guid>" +
    "<title>one</title></item></channel></rss>"

  private def refusing(number: Int) = s"http://127.0.0.1:1/$number"

  private def withServer(body: RawServer => Unit): Unit =
    Using.resource(RawServer(_ => RawServer.text(200)(rss)))(body)

  private def args(folder: Path, urls: String*): Seq[String] =
    val list = write(folder, "urls.txt", urls.mkString("\n"))
    Seq("--db", s"$folder/feeds.db", "--urls", s"$list", "--stale", "0s")

  folder.test("--quiet prints the feeds that failed, and nothing else"): folder =>
    withServer: server =>
      val good = s"http://127.0.0.1:${server.port}/"
      val quiet = FeedsProgram.run((args(folder, good, refusing(1)) :+ "--quiet")*)
      val line = s"${refusing(1)}: no connection: connection refused\n"
      assertEquals(quiet, FeedsProgram.Result(0, "", line))
      val silent = args(Files.createTempDirectory(folder, "x"), good) :+ "--quiet"
      assertEquals(FeedsProgram.run(silent*), FeedsProgram.Result(0, "", ""))

  folder.test("the exit code says that more than half of the feeds failed"): folder =>
    withServer: server =>
      val good = s"http://127.0.0.1:${server.port}/"
      val half = FeedsProgram.run(args(folder, good, refusing(1))*)
      assertEquals((half.code, half.out.contains("no connection")), (0, true))
      assertEquals(FeedsProgram.run(args(folder, good, refusing(1), refusing(2))*).code, 3)

  folder.test("--watch prints a line only if something is different than before"): folder =>
    @volatile var text = rss
    Using.resource(RawServer(_ => RawServer.text(200)(text))): server =>
      val watching = args(folder, s"http://127.0.0.1:${server.port}/") :+ "--watch"
      val child = ChildJvm.weir(folder.resolve("log.txt"), ("feeds" +: watching)*)
      try
        def line() = Iterator
          .continually(child.readLine())
          .takeWhile(_.nonEmpty)
          .flatten
          .find(_.contains("fetched,"))
        assert(line().exists(_.contains("1 new item")))
        val before = server.asked.size
        eventually("more passes")(server.asked.size >= before + 3)
        text = rss.replace("one", "two")
        val next = line().getOrElse(fail("it ended"))
        assert(next.contains("0 new items, 1 changed"), next)
      finally child.kill()

  folder.test("a login is sent, and printed nowhere"): folder =>
    def answer(asked: RawServer.Asked) =
      if asked.headers.contains("authorization") then RawServer.text(200)(rss)
      else RawServer.text(401, "Content-Length: 0")("")
    Using.resource(RawServer(answer)): server =>
      val at = s"127.0.0.1:${server.port}"
      val files = List("out.json", "out.html").map(folder.resolve)
      val urls = Seq(s"http://me:hush@$at/", s"http://me:hush@$at/2", "x://me:hush@y/")
      val report = Seq("--json", s"${files(0)}", "--report", s"${files(1)}")
      val db = s"$folder/feeds.db"
      val all = FeedsProgram.run((args(folder, urls*) ++ report)*) +:
        List(
          List("items", "--db", db, "--json"),
          List("list", "--db", db),
          List("list", "--db", db, "--json"),
          List("export", "--db", db),
          List("status", "--db", db),
          List("add", "--db", db, s"http://me:hush@$at:1:2/")
        ).map(FeedsProgram.run(_*))
      assertEquals(all.map(_.code), List(0, 0, 0, 0, 0, 0, 2), all.map(_.err).mkString)
      assert(all(1).out.contains("\"one\""), all(1).out)
      assert(all(4).out.contains(s"http://$at/"), all(4).out)
      val texts = all.map(result => result.out + result.err) ++ files.map(Files.readString)
      assert(!texts.exists(_.contains("hush")), texts.filter(_.contains("hush")))

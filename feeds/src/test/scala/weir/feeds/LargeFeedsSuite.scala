package weir.feeds

import java.util.concurrent.ConcurrentLinkedQueue
import scala.concurrent.duration.*

import munit.FunSuite

import weir.{Spin, WeirRuntime}
import weir.program.TempFolder

/** Feeds of megabytes among small ones. */
class LargeFeedsSuite extends FunSuite with TempFolder:
  override val munitTimeout: Duration = 3.minutes

  folder.test("large feeds are stored whole, keep no carrier, and make no other feed time out"):
    folder =>
      val spins = ConcurrentLinkedQueue[Spin]()
      WeirRuntime.default.onSpin(spin => spins.add(spin): Unit)
      val site = Seq("--site-feeds", "60", "--site-large", "4", "--speed", "20")
      val database = folder.resolve("feeds.db").toString
      val result = FeedsProgram.run(Seq("--db", database, "--timeout", "10s") ++ site*)
      assertEquals(result.code, 0, result.err)
      def row(outcome: String) =
        val line = result.lines.find(_.startsWith(s"$outcome   ")).getOrElse(fail(result.out))
        line.drop(outcome.length).trim.split(" +").map(_.replace(",", "").toInt).toList
      assert(spins.isEmpty, spins.toArray.mkString("\n"))
      assertEquals(row("timed out").head, 1, "only the one that trickles by plan")
      val items = row("fetched")(1)
      assert(items > 4 * 8000, s"$items items")

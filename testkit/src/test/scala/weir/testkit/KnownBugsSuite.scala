package weir.testkit

import scala.concurrent.duration.*
import weir.testkit.bugs.{KnownBug, KnownBugs}

class KnownBugsSuite extends munit.FunSuite:

  test("there are at least 25 known bugs, each with a name and a report of its own"):
    val all = KnownBugs.all
    assert(all.size >= 25, all.size)
    assertEquals(all.map(_.name).distinct.size, all.size)
    assertEquals(all.map(_.report).distinct.size, all.size)
    assert(all.forall(_.report.startsWith("https://")))

  private def found(bug: KnownBug): ExploreFailure =
    intercept[ExploreFailure](TestRuntime.explore()(bug.wrong))

  for bug <- KnownBugs.all do
    test(s"${bug.name}: is found, and its corrected twin passes"):
      val failure = found(bug)
      assert(failure.preemptions <= 2, failure.getMessage)
      val report = TestRuntime.explore(ExploreLimits(time = 500.millis))(bug.right)
      assert(report.preemptions >= 0, report.toString)

    test(s"${bug.name}: its corrected twin is right on threads"):
      for _ <- 1 to 50 do bug.right.runSync()

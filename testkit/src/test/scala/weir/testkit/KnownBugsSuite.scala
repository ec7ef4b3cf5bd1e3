package weir.testkit

import weir.Task
import weir.testkit.bugs.KnownBugs

class KnownBugsSuite extends munit.FunSuite:

  TestRuntime.run(Task.unit) // the first use loads the agent

  test("there are at least 25 known bugs, each with a name and a report of its own"):
    val all = KnownBugs.all
    assert(all.size >= 25, all.size)
    assertEquals(all.map(_.name).distinct.size, all.size)
    assertEquals(all.map(_.report).distinct.size, all.size)
    assert(all.forall(_.report.startsWith("https://")))

  for bug <- KnownBugs.all do
    test(s"${bug.name}: its corrected twin is right on threads, and under seeds"):
      for _ <- 1 to 50 do bug.right.runSync()
      TestRuntime.forAllSeeds(30)(bug.right)

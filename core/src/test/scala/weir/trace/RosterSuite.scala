package weir.trace

import weir.*
import weir.kernel.RunLoop

/** Who has waited, and has not ended or been collected. */
class RosterSuite extends WeirSuite:
  private def fiber(): RunLoop = RunLoop(Runtime.default, Task.unit)

  test("fibers are there from enter to leave, whatever the order in which they leave"):
    val roster = Roster()
    val fibers = Vector.fill(1000)(fiber())
    val places = fibers.zipWithIndex.map((fiber, i) => roster.enter(fiber, i % 7))
    assertEquals(roster.fibers.toSet, fibers.toSet)
    val (leaving, staying) = scala.util.Random(1).shuffle((0 until 1000).toVector).splitAt(700)
    leaving.foreach(i => roster.leave(places(i)))
    assertEquals(roster.fibers.toSet, staying.map(fibers).toSet)
    staying.foreach(i => roster.leave(places(i)))
    assertEquals(roster.size, 0)

  test("places of fibers that were collected are used again"):
    val roster = Roster()
    val kept = Vector.fill(20)(fiber())
    kept.foreach(roster.enter(_, 0))
    eventually("a sweep has found room") {
      for _ <- 1 to 100_000 do roster.enter(fiber(), 0): Unit
      System.gc()
      for _ <- 1 to 100_000 do roster.enter(fiber(), 0): Unit
      roster.size < 150_000
    }
    assertEquals(roster.fibers.filter(kept.contains).toSet, kept.toSet)

  test("a fiber enters with its first wait that only its user knows of, and leaves when it ends"):
    val runtime = Runtime.make(2, 64)
    val roster = runtime.scheduler.roster
    val gate = Deferred.unsafe[Unit]
    val waiting = gate.get.andThen(Task.cede).andThen(gate.get).start.runSync()(using runtime)
    eventually("it is there")(roster.fibers.contains(waiting))
    assertEquals(roster.size, 1)
    gate.complete(()).runSync(): Unit
    waiting.join.runSync()(using runtime): Unit
    eventually("it is gone")(roster.size == 0)

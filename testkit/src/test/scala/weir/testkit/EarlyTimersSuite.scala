package weir.testkit

import scala.concurrent.duration.*
import weir.{Ref, Task}

/** Alarms that ring while other strands take steps. */
class EarlyTimersSuite extends munit.FunSuite:
  private val early = ExploreLimits(earlyTimers = true)

  /** Reads a value twice, and expects that it has not changed before an alarm is due. */
  private def readsTwice: Task[Unit] =
    for
      value <- Ref.of(0)
      late <- Task.sleep(1.second).andThen(value.set(1)).start
      one <- value.get
      other <- value.get
      _ <- late.join
    yield assertEquals(one, other)

  test("an alarm comes after all that can run, unless timers are early"):
    val report = TestRuntime.explore()(readsTwice)
    assert(report.isComplete, report.toString)
    assert(report.notCovered.exists(_.startsWith("timeouts")), report.notCovered.toString)
    val error = intercept[ExploreFailure](TestRuntime.explore(early)(readsTwice))
    assertEquals(error.preemptions, 1)
    assert(error.getMessage.contains("the clock is at 1 s"), error.getMessage)

  test("a timeout races the task that it is for"):
    val seen = scala.collection.mutable.Set[String]()
    val report = TestRuntime.explore(early) {
      for
        value <- Ref.of(0)
        outcome <- value.set(1).andThen(value.set(2)).timeout(1.second).attempt
        n <- value.get
        _ <- Task(seen += s"${outcome.isRight} $n")
      yield ()
    }
    assert(report.isExhaustive, report.toString)
    assertEquals(seen.toSet, Set("true 2", "false 0", "false 1"))

  test("an early alarm rings at its time or later"):
    val report = TestRuntime.explore(early) {
      for
        fibers <- Task.traverse(List(2, 1)) { n =>
          Task.sleep(n.seconds).andThen(Task.monotonic).map(_.toSeconds - 1).start
        }
        times <- Task.traverse(fibers)(_.joinOrFail)
      yield assert(times.zip(List(2L, 1L)).forall((time, least) => time >= least), times)
    }
    assert(report.isExhaustive, report.toString)

  test("a loop that sleeps until another fiber has set a flag comes to rest"):
    val report = TestRuntime.explore(early) {
      for
        isSet <- Ref.of(false)
        poll = Task.sleep(1.second).andThen(isSet.get)
        setter <- isSet.set(true).start
        _ <- poll.flatMap(done => Task.unless(done)(poll.void))
        _ <- setter.join
      yield ()
    }
    assert(report.isExhaustive, report.toString)

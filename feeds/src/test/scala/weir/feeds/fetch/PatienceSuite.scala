package weir.feeds.fetch

import java.util.concurrent.TimeoutException
import scala.concurrent.duration.*

import munit.FunSuite

import weir.Task
import weir.testkit.TestRuntime

class PatienceSuite extends FunSuite:
  test("a server that takes longer than the limit is given up then, with a message that says so"):
    val patience = Patience(15.seconds)
    val (taken, error) = TestRuntime.timed(patience.during(Task.sleep(1.hour)).attempt)
    assertEquals(taken, 15.seconds)
    assertEquals(error.left.map(_.getMessage), Left("it took more than 15 s"))
    assert(error.left.exists(_.isInstanceOf[TimeoutException]))

  test("the requests of one fetch share the limit, and the time between them does not count"):
    val patience = Patience(10.seconds)
    val (taken, results) = TestRuntime.timed(
      for
        first <- patience.during(Task.sleep(6.seconds)).attempt
        _ <- Task.sleep(1.hour)
        second <- patience.during(Task.sleep(6.seconds)).attempt
      yield (first.isRight, second.isRight)
    )
    assertEquals(results, (true, false))
    val rest = taken - 1.hour - 10.seconds
    assert(rest >= Duration.Zero && rest <= 250.millis, s"$rest, more than one sleep")

  test("time for which the processors are busy with other things does not count"):
    val patience = Patience(200.millis)
    val busy = Task
      .foreach(1 to 4)(_ => Task.delay(compute(100.millis)) >> Task.cede)
    val fibers = 4 * Runtime.getRuntime.availableProcessors
    val answered = Task.both(
      Task.parTraverseN(fibers)((1 to fibers).toList)(_ => busy),
      patience.during(Task.sleep(100.millis).as("answered"))
    )
    assertEquals(answered.runSync()._2, "answered")

  private def compute(time: FiniteDuration): Unit =
    val end = time.fromNow
    while end.hasTimeLeft() do Thread.onSpinWait()

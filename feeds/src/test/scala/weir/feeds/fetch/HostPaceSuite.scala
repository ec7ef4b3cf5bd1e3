package weir.feeds.fetch

import scala.concurrent.duration.*

import munit.FunSuite

import weir.Task
import weir.testkit.TestRuntime

class HostPaceSuite extends FunSuite:
  private def pace = HostPace(host => if host == "fast" then Duration.Zero else 250.millis)

  test("a request begins at once, and the next of its host after the pause"):
    val pace = this.pace
    TestRuntime.run(
      for
        first <- pace.tryBegin("a")
        tooEarly <- pace.tryBegin("a")
        other <- pace.tryBegin("b")
        _ <- Task.sleep(100.millis)
        stillEarly <- pace.tryBegin("a")
        _ <- Task.sleep(150.millis)
        second <- pace.tryBegin("a")
      yield
        assertEquals((first, other, second), (None, None, None))
        assertEquals((tooEarly, stillEarly), (Some(250.millis), Some(150.millis)))
    )

  test("those that wait begin one after the other, in the order in which they came"):
    val pace = this.pace
    val began = TestRuntime.run(
      Task.parTraverse((1 to 4).toList)(_ => pace.begin("a") >> Task.monotonic)
    )
    assertEquals(began.sorted.map(_ - began.min), List(0, 250, 500, 750).map(_.millis))

  test("a host without a pause is not kept waiting"):
    val pace = this.pace
    val (taken, answers) =
      TestRuntime.timed(Task.foreach(1 to 5)(_ => pace.begin("fast")) >> pace.tryBegin("fast"))
    assertEquals((answers, taken), (None, Duration.Zero))

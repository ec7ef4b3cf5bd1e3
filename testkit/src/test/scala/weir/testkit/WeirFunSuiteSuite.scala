package weir.testkit

import scala.concurrent.duration.*
import weir.Task

class WeirFunSuiteSuite extends WeirFunSuite:

  test("a test may be a task, which sleeps for a year"):
    Task
      .sleep(365.days)
      .andThen(Task.realTime)
      .map(t => assertEquals(t.toString, "1971-01-01T00:00:00Z"))

  test("a task that fails fails the test".fail):
    Task.sleep(1.hour).andThen(Task.fail(RuntimeException("expected")))

  test("a task that is stuck fails the test".fail):
    Task.never

  test("a test may be no task"):
    assertEquals(1, 1)

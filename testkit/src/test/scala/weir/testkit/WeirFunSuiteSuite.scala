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

  test("a stuck test and a leak name the test's file and line"):
    val line = summon[munit.Location].line
    for task <- List(Task.never, Task.never.start) do
      val suite = new WeirFunSuite:
        test("wrong")(task)
      val outcome = suite.munitTests().head.body().value.get
      val error = outcome.failed.get.getCause // a Future boxes an Error
      val place = s"WeirFunSuiteSuite.scala:${line + 3}: The test "
      assert(error.getMessage.contains(place), error.getMessage)
      assertEquals(error.getCause, null)
      assertEquals(
        error.getStackTrace.toList.map(at => (at.getClassName, at.getFileName, at.getLineNumber)),
        List((suite.getClass.getName, "WeirFunSuiteSuite.scala", line + 3))
      )

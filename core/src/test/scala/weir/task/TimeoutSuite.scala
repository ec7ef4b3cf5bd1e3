package weir
package task

import java.util.concurrent.{CountDownLatch, TimeoutException}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import scala.concurrent.duration.*
import weir.testkit.TestRuntime

class TimeoutSuite extends WeirSuite:

  private val blocked = Task(Thread.sleep(3_600_000))

  test("the value, or the task's own error, if that comes in time; the alarm is gone"):
    val boom = Boom()
    for work <- List(Task.unit, Task.cede, Task.sleep(1.milli), Task(Thread.sleep(1))) do
      assertEquals(work.as(1).timeout(1.hour).runSync(), 1)
      assertEquals(work.andThen(Task.fail(boom)).timeout(1.hour).attempt.runSync(), Left(boom))
    assertEquals(WeirRuntime.default.timers.size, 0)

  for (state, work) <- List(
      "waits" -> Task.never,
      "sleeps" -> Task.sleep(1.hour),
      "blocks in Thread.sleep" -> blocked,
      "blocks in a queue" -> Task(java.util.concurrent.LinkedBlockingQueue[Unit]().take())
    )
  do
    test(s"a task that $state fails with TimeoutException at the limit, finalizers run"):
      val released = AtomicBoolean()
      val slow = Task.sleep(1.second).andThen(Task(released.set(true)))
      val (took, result) = TestRuntime.timed(work.guarantee(slow).timeout(20.minutes).attempt)
      assert(result.left.exists(_.isInstanceOf[TimeoutException]), s"$result")
      assertEquals((took, released.get), (20.minutes + 1.second, true))

  for (state, work) <- List("blocks" -> blocked, "cedes without end" -> Task.cede.forever) do
    test(s"a task that $state fails with TimeoutException soon after the limit in real time too"):
      def round(): FiniteDuration =
        val released = AtomicBoolean()
        val task = work.guarantee(Task.cede.andThen(Task(released.set(true)))).timeout(20.millis)
        val (result, took) = timed(task.attempt.runSync())
        assert(result.left.exists(_.isInstanceOf[TimeoutException]), s"$result")
        assert(released.get)
        assert(took >= 20.millis, s"after $took")
        took
      // once is enough: the machine may have other work
      assert((1 to 50).exists(_ => round() < 70.millis))

  test("a limit of zero gives the value or the timeout"):
    for limit <- List(Duration.Zero, -1.second); task <- List(Task.never, Task.pure(1)) do
      task.timeout(limit).attempt.runSync() match
        case Right(value) => assertEquals[Any, Any](value, 1)
        case Left(error) => assert(error.isInstanceOf[TimeoutException], s"$error")

  test("the message says the limit"):
    val error = intercept[TimeoutException](Task.never.timeout(15.millis).runSync())
    assert(error.getMessage.contains("15"), error.getMessage)

  test("timeout waits for a masked task"):
    val ended = AtomicBoolean()
    val masked = Task.uncancelable(_ => Task.sleep(30.minutes).andThen(Task(ended.set(true))))
    val (took, _) = TestRuntime.timed(masked.timeout(1.minute).attempt)
    assertEquals((took, ended.get), (30.minutes, true))

  test("the shorter of two nested timeouts fires, inside or outside"):
    for (outer, inner) <- List((1.hour, 1.minute), (1.minute, 1.hour)) do
      val (took, result) = TestRuntime.timed(Task.never.timeout(inner).timeout(outer).attempt)
      assertEquals((result.isLeft, took), (true, 1.minute))

  test("a cancel of the whole cancels the task and its alarm"):
    val begun = CountDownLatch(1)
    val released = AtomicBoolean()
    val task = Task(begun.countDown()).andThen(Task.never).guarantee(Task(released.set(true)))
    val fiber = task.timeout(1.hour).start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assert(released.get)
    assertEquals(fiber.join.runSync(), Outcome.Canceled)
    assertEquals(WeirRuntime.default.timers.size, 0)

  test("a task that fails with its own TimeoutException keeps it"):
    val own = TimeoutException("own")
    assertEquals(Task.fail(own).timeout(1.hour).attempt.runSync(), Left(own))

  test("10,000 timeouts at once, half of which fire"):
    val fired = AtomicInteger()
    val all = Task.parTraverse(1 to 10_000) { i =>
      val task = if i % 2 == 0 then Task.never else Task.cede
      task.timeout(1.minute).handleError(_ => fired.incrementAndGet(): Unit)
    }
    val (took, _) = TestRuntime.timed(all)
    assertEquals((took, fired.get), (1.minute, 5000))

  test("a timeout that races with the end gives one of the two, and keeps no interrupt"):
    for _ <- 1 to 300 do
      val task = Task(Thread.sleep(1)).timeout(1.milli).attempt
      val clean = task.start.flatMap(_.join).andThen(Task(Thread.interrupted()))
      assertEquals(clean.start.flatMap(_.joinOrFail).runSync(), false)

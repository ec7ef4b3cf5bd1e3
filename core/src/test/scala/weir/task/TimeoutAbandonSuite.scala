package weir
package task

import java.util.concurrent.{CancellationException, CountDownLatch, TimeoutException}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import scala.concurrent.duration.*

class TimeoutAbandonSuite extends WeirSuite:

  private def abandonedTasks = WeirRuntime.default.abandonedTasks

  /** Blocks until the latch is open, whatever interrupts it. */
  private def ignoring(gate: CountDownLatch): Task[Unit] =
    Task.uncancelable(_ => Task.uninterruptible(gate.await())) // begins in any case

  test("the task's value or error if that comes in time; the alarm is gone"):
    val boom = Boom()
    for work <- List(Task.unit, Task.cede, Task.sleep(1.milli), Task(Thread.sleep(1))) do
      assertEquals(work.as(1).timeoutAbandon(1.hour).runSync(), 1)
      val failing = work.andThen(Task.fail(boom))
      assertEquals(failing.timeoutAbandon(1.hour).attempt.runSync(), Left(boom))
    assertEquals((WeirRuntime.default.timers.size, abandonedTasks), (0, 0))

  test("at the limit it fails; the task is abandoned, and counted until it ends"):
    val gate = CountDownLatch(1)
    val released, after = AtomicBoolean()
    val work = ignoring(gate).andThen(Task(after.set(true))).guarantee(Task(released.set(true)))
    val error = intercept[TimeoutException](work.timeoutAbandon(5.millis).runSync())
    assert(error.getMessage.contains("5 ms"), error.getMessage)
    assertEquals((released.get, abandonedTasks), (false, 1))
    gate.countDown()
    eventually("no abandoned task is left")(abandonedTasks == 0)
    assertEquals((released.get, after.get), (true, false))

  test("an abandoned task has been cancelled: it is interrupted, and ends"):
    for work <- List(Task.never, Task(Thread.sleep(3_600_000)), Task.cede.forever) do
      val released = CountDownLatch(1)
      val guarded = work.guarantee(Task(released.countDown()))
      intercept[TimeoutException](guarded.timeoutAbandon(5.millis).runSync()): Unit
      await(released)
      eventually("no abandoned task is left")(abandonedTasks == 0)

  test("finalizers that take long are abandoned too, and run to their end"):
    val gate = CountDownLatch(1)
    val ended = AtomicBoolean()
    val work = Task.never.guarantee(Task(gate.await()).andThen(Task(ended.set(true))))
    intercept[TimeoutException](work.timeoutAbandon(1.milli).runSync()): Unit
    assertEquals(abandonedTasks, 1)
    gate.countDown()
    eventually("no abandoned task is left")(abandonedTasks == 0)
    assert(ended.get)

  test("many tasks can be abandoned at once, and each is counted"):
    val gate = CountDownLatch(1)
    val all = Task.parTraverse(1 to 100)(_ => ignoring(gate).timeoutAbandon(5.millis).attempt)
    assertEquals(all.runSync().count(_.isLeft), 100)
    assertEquals(abandonedTasks, 100)
    gate.countDown()
    eventually("no abandoned task is left")(abandonedTasks == 0)

  test("a cancel before the limit cancels the task and waits for its finalizers"):
    val begun, gate = CountDownLatch(1)
    val released = AtomicInteger()
    val work = Task(begun.countDown()).andThen(Task.never)
    val slow = Task(gate.await()).andThen(Task(released.incrementAndGet()).void)
    val fiber = work.guarantee(slow).timeoutAbandon(1.hour).start.runSync()
    await(begun)
    val canceling = startCancel(fiber)
    gate.countDown()
    canceling.joinOrFail.runSync()
    assertEquals((released.get, abandonedTasks, WeirRuntime.default.timers.size), (1, 0, 0))
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("a cancel waits for a task that ignores it until the limit, not longer"):
    val begun, gate = CountDownLatch(1)
    val work = Task(begun.countDown()).andThen(ignoring(gate))
    val fiber = work.timeoutAbandon(50.millis).start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals((fiber.join.runSync(), abandonedTasks), (Outcome.Canceled, 1))
    gate.countDown()
    eventually("no abandoned task is left")(abandonedTasks == 0)

  test("a masked timeoutAbandon goes on in spite of a cancel, until the limit"):
    val begun = CountDownLatch(1)
    val late = AtomicBoolean()
    val work = Task(begun.countDown()).andThen(Task.never).timeoutAbandon(20.millis)
    val fiber =
      Task.uncancelable(_ => work.handleErrorWith(_ => Task(late.set(true)))).start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assert(late.get)

  test("a task that cancels itself cancels its parent, or fails where that is masked"):
    val canceling = Task.canceled.timeoutAbandon(1.hour)
    assertEquals(canceling.start.flatMap(_.join).runSync(), Outcome.Canceled)
    val masked = AtomicBoolean()
    val attempt = canceling.attempt.map {
      case Left(_: CancellationException) => masked.set(true)
      case _ => ()
    }
    Task.uncancelable(_ => attempt).start.flatMap(_.join).runSync(): Unit
    assert(masked.get)

  test(
    "a limit that races with the end gives one of the two, and counts no abandoned task for ever"
  ):
    for round <- 1 to 2000 do
      val work = if round % 2 == 0 then Task.sleep(100.micros) else Task(Thread.sleep(0, 100_000))
      work.timeoutAbandon(100.micros).attempt.runSync() match
        case Right(_) => ()
        case Left(error) => assert(error.isInstanceOf[TimeoutException], s"$error")
    eventually("no abandoned task is left")(abandonedTasks == 0)
    assertEquals(WeirRuntime.default.timers.size, 0)

  test("a cancel that races with the end or the limit ends, and counts no abandoned task for ever"):
    for round <- 1 to 1000 do
      val fiber = Task.sleep(50.micros).timeoutAbandon(60.micros).start.runSync()
      val until = System.nanoTime() + round % 100 * 1000
      while System.nanoTime() < until do Thread.onSpinWait()
      fiber.cancel.andThen(fiber.join).runSync(): Unit
    eventually("no abandoned task is left")(abandonedTasks == 0)
    assertEquals(WeirRuntime.default.timers.size, 0)

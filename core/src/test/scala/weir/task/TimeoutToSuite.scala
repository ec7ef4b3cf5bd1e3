package weir
package task

import java.util.concurrent.{CountDownLatch, TimeoutException}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import scala.concurrent.duration.*

class TimeoutToSuite extends WeirSuite:

  private val fallback = Task.pure("late")

  test("the task's value or error if that comes in time; the alarm is gone"):
    val boom = Boom()
    for work <- List(Task.unit, Task.cede, Task.sleep(1.milli), Task(Thread.sleep(1))) do
      assertEquals(work.as("in time").timeoutTo(1.hour, fallback).runSync(), "in time")
      val failing = work.andThen(Task.fail(boom))
      assertEquals(failing.timeoutTo(1.hour, fallback).attempt.runSync(), Left(boom))
    assertEquals(WeirRuntime.default.timers.size, 0)

  test("the fallback runs at the limit, once the task's finalizers have run"):
    for work <- List(Task.never, Task.sleep(1.hour), Task(Thread.sleep(3_600_000))) do
      val begun, released = AtomicBoolean()
      val guarded = Task(begun.set(true))
        .andThen(work)
        .guarantee(Task.cede.andThen(Task(released.set(true))))
      val seen = guarded.as(false).timeoutTo(5.millis, Task(released.get)).runSync()
      assertEquals(seen || !begun.get, true)

  test("the fallback has no limit, may fail, and may be cancelled"):
    val boom = Boom()
    val slow = Task.never.timeoutTo(1.milli, Task.sleep(20.millis).as("late"))
    assertEquals(slow.runSync(), "late")
    assertEquals(Task.never.timeoutTo(1.milli, Task.fail(boom)).attempt.runSync(), Left(boom))
    val begun = CountDownLatch(1)
    val waits = Task(begun.countDown()).andThen(Task.never)
    val fiber = Task.never.timeoutTo(1.milli, waits).start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("a task's own TimeoutException does not run the fallback"):
    val own = TimeoutException("own")
    assertEquals(Task.fail(own).timeoutTo(1.hour, fallback).attempt.runSync(), Left(own))
    val inner = Task.never.timeout(1.milli).timeoutTo(1.hour, fallback).attempt.runSync()
    assert(inner.left.exists(_.isInstanceOf[TimeoutException]), s"$inner")

  test("of two nested timeouts the fallback of the shorter one runs"):
    def nested(inner: FiniteDuration, outer: FiniteDuration) =
      Task.never.timeoutTo(inner, Task.pure("inner")).timeoutTo(outer, Task.pure("outer")).runSync()
    assertEquals(nested(1.milli, 1.hour), "inner")
    assertEquals(nested(1.hour, 1.milli), "outer")

  test("a cancel cancels the task, and the fallback does not run"):
    val begun = CountDownLatch(1)
    val ran = AtomicInteger()
    val count = Task(ran.incrementAndGet()).void
    val work = Task(begun.countDown()).andThen(Task.never).guarantee(count)
    val fiber = work.timeoutTo(1.hour, count).start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals((fiber.join.runSync(), ran.get), (Outcome.Canceled, 1))
    assertEquals(WeirRuntime.default.timers.size, 0)

  for (name, timed) <- List[(String, (Task[Int], FiniteDuration) => Task[Int])](
      "timeout" -> (_.timeout(_)),
      "timeoutTo" -> (_.timeoutTo(_, Task.pure(-1)))
    )
  do
    test(s"an item that is taken as the time of $name ends is not lost"):
      val queue = Queue.unsafe[Int](1)
      var taken = 0
      // Around the limit, so that some items come just before it, some just after, and some between
      // the alarm and the end.
      for round <- 1 to 2000 do
        val putting = Task.sleep((150 + round % 100).micros).andThen(queue.offer(1)).start
        val taking = timed(queue.take, 200.micros).handleError(_ => -1)
        val (got, fiber) = putting.flatMap(f => taking.map((_, f))).runSync()
        fiber.joinOrFail.runSync()
        val left = queue.tryTake.runSync()
        assertEquals((got == 1, left.isDefined).toString, (left.isEmpty, got != 1).toString)
        if got == 1 then taken += 1
      println(s"measured: $taken of 2,000 items came in time")

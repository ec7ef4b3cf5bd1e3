package weir
package task

import java.util.SplittableRandom
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}

class InterruptibleManySuite extends WeirSuite:

  /** Blocks until it has been interrupted `times` times. */
  private def swallow(times: Int, begun: CountDownLatch, seen: AtomicInteger): Unit =
    begun.countDown()
    while seen.get < times do
      try Thread.sleep(3_600_000)
      catch case _: InterruptedException => seen.incrementAndGet(): Unit

  test("the value, or what the code throws"):
    val boom = Boom()
    assertEquals(Task.interruptibleMany(1).runSync(), 1)
    assertEquals(Task.interruptibleMany(throw boom).attempt.runSync(), Left(boom))
    val task = Task.interruptibleMany(2)
    assertEquals(task.both(task).runSync(), (2, 2))

  test("code that swallows two interrupts is cancelled at the third"):
    val begun = CountDownLatch(1)
    val seen = AtomicInteger()
    val after = AtomicBoolean()
    val fiber = Task
      .interruptibleMany(swallow(3, begun, seen))
      .andThen(Task(after.set(true)))
      .start
      .runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals((fiber.join.runSync(), seen.get, after.get), (Outcome.Canceled, 3, false))

  test("a cancel before it leaves the code out"):
    val ran = AtomicBoolean()
    val task = Task.canceled.andThen(Task.interruptibleMany(ran.set(true)))
    assertEquals(task.start.flatMap(_.join).runSync(), Outcome.Canceled)
    assert(!ran.get)

  test("in a mask no interrupt comes"):
    val begun, goOn = CountDownLatch(1)
    val task = Task.interruptibleMany {
      begun.countDown()
      await(goOn)
    }
    val fiber = Task.uncancelable(_ => task.attempt).start.runSync()
    await(begun)
    val cancelling = startCancel(fiber)
    goOn.countDown()
    cancelling.joinOrFail.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Succeeded(Right(())))

  test("no interrupt hits a finalizer of what the code runs by runSync"):
    val begun = CountDownLatch(1)
    val finalized = AtomicInteger()
    val finalizer = Task {
      Thread.sleep(100) // some of the pauses between two interrupts
      finalized.incrementAndGet(): Unit
    }
    val code = Task(begun.countDown()).andThen(Task.never).guarantee(finalizer)
    val fiber = Task.interruptibleMany(code.runSync()).start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals((fiber.join.runSync(), finalized.get), (Outcome.Canceled, 1))

  test("no interrupt reaches what the thread runs next"):
    val random = SplittableRandom(1)
    val hit = AtomicInteger()
    val look = Task.uninterruptible(if Thread.interrupted() then hit.incrementAndGet(): Unit)
    for _ <- 1 to Tier(3_000, 100_000) do
      val times = 1 + random.nextInt(2)
      val begun = CountDownLatch(1)
      val seen = AtomicInteger()
      val code = Task.interruptibleMany(swallow(times, begun, seen))
      val task = for
        fiber <- code.start
        _ <- Task(await(begun))
        _ <- Task.both(fiber.cancel, look)
        _ <- Task.parForeach(1 to 4)(_ => look)
        outcome <- fiber.join
      yield outcome
      assertEquals(task.runSync(), Outcome.Canceled)
    assertEquals(hit.get, 0)

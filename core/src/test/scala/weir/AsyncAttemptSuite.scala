package weir

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

class AsyncAttemptSuite extends WeirSuite:

  private def later(value: Int)(callback: Either[Throwable, Int] => Unit): Unit =
    Thread.startVirtualThread(() => callback(Right(value))): Unit

  test("asyncCheckAttempt: a registration that answers at once is the result"):
    assertEquals(Task.asyncCheckAttempt[Int](_ => Task.pure(Right(1))).runSync(), 1)
    assertEquals(Task.asyncCheckAttempt[Int](_ => Task.cede.as(Right(2))).runSync(), 2)

  test("asyncCheckAttempt: the callback's value is the result, before or after the registration"):
    val finalizer = Task(fail("the finalizer has run"))
    for end <- List(None, Some(finalizer)) do
      val before = Task.asyncCheckAttempt[Int](callback => Task(callback(Right(3))).as(Left(end)))
      assertEquals(before.runSync(), 3)
      val after = Task.asyncCheckAttempt[Int](callback => Task(later(4)(callback)).as(Left(end)))
      assertEquals(after.runSync(), 4)

  test("asyncCheckAttempt fails as its registration or its callback does"):
    val boom = Boom()
    val thrown = Task.asyncCheckAttempt[Int](_ => throw boom)
    val failed = Task.asyncCheckAttempt[Int](_ => Task.fail(boom))
    val called = Task.asyncCheckAttempt[Int](callback => Task(callback(Left(boom))).as(Left(None)))
    for task <- List(thrown, failed, called) do
      assertEquals(task.attempt.runSync(), Left(boom))
      // No mask is left.
      assertEquals(
        (task.attempt >> Task.canceled >> Task.never).start.flatMap(_.join).runSync(),
        Outcome.Canceled
      )

  test("asyncCheckAttempt: a cancel of the wait runs the finalizer, and waits for it"):
    val events = ConcurrentLinkedQueue[String]()
    val finalizer = Task.sleep(5.millis) >> Task(events.add("finalized"))
    val fiber =
      Task.asyncCheckAttempt[Int](_ => Task.pure(Left(Some(finalizer.void)))).start.runSync()
    eventually("it waits")(isWaiting(fiber))
    (fiber.cancel >> Task(events.add("cancelled"))).runSync(): Unit
    assertEquals(events.asScala.toList, List("finalized", "cancelled"))

  test("asyncCheckAttempt without a finalizer, and asyncUncancelable, keep a cancel waiting"):
    type Call = Either[Throwable, Int] => Unit
    val ways = List[(Call => Unit) => Task[Int]](
      take => Task.asyncCheckAttempt[Int](callback => Task(take(callback)).as(Left(None))),
      take => Task.asyncUncancelable[Int](take)
    )
    for way <- ways do
      @volatile var callback: Call = _ => ()
      val got = AtomicInteger()
      val fiber = way(callback = _).map(got.set).start.runSync()
      eventually("it waits")(isWaiting(fiber))
      val cancel = startCancel(fiber)
      assert(isWaiting(fiber))
      callback(Right(6))
      cancel.join.runSync()
      assertEquals(got.get, 6)

  test("asyncCheckAttempt: the wait is masked where the task around it is"):
    @volatile var callback: Either[Throwable, Int] => Unit = _ => ()
    val body = Task.asyncCheckAttempt[Int](call =>
      Task { callback = call }.as(Left(Some(Task(fail("the finalizer has run")))))
    )
    val fiber = Task.uncancelable(_ => body).start.runSync()
    eventually("it waits")(isWaiting(fiber))
    val cancel = startCancel(fiber)
    callback(Right(8))
    cancel.join.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Succeeded(8))

class UninterruptibleSuite extends WeirSuite:

  test("a cancel does not interrupt the code, and waits for it"):
    val begun, goOn = CountDownLatch(1)
    @volatile var interrupted = false
    val fiber = Task
      .uninterruptible { begun.countDown(); await(goOn); interrupted = Thread.interrupted() }
      .as(1)
      .flatMap(Task.pure)
      .start
      .runSync()
    await(begun)
    val cancel = startCancel(fiber)
    assert(!Thread.currentThread().isInterrupted)
    goOn.countDown()
    cancel.join.runSync()
    assert(!interrupted)
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  for (name, next) <- List[(String, CountDownLatch => Task[Any])](
      "delay" -> (begun => Task.delay { begun.countDown(); Thread.sleep(60_000) }),
      "defer" -> (begun => Task.defer { begun.countDown(); Thread.sleep(60_000); Task.unit }),
      "direct code" -> (begun => Task.direct { begun.countDown(); Thread.sleep(60_000) }),
      "a frame" -> (begun =>
        Task.traverse(List(1, 2))(_ => Task.delay { begun.countDown(); Thread.sleep(60_000) })
      ),
      "code after a mask" -> (begun =>
        Task.uncancelable(_ => Task.uninterruptible(())) >>
          Task.delay { begun.countDown(); Thread.sleep(60_000) }
      ),
      "code after an await" -> (begun =>
        Task.direct { Task.uninterruptible(()).await; begun.countDown(); Thread.sleep(60_000) }
      )
    )
  do
    test(s"what comes after it is interrupted again: $name"):
      val begun = CountDownLatch(1)
      val fiber = (Task.uninterruptible(1) >> next(begun)).start.runSync()
      await(begun)
      fiber.cancel.runSync()
      assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("an error of the code is the task's"):
    val boom = Boom()
    assertEquals(Task.uninterruptible(throw boom).attempt.runSync(), Left(boom))
    assertEquals(Task.uninterruptible(throw boom).map(_ => 1).attempt.runSync(), Left(boom))

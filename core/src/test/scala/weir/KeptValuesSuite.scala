package weir

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import scala.concurrent.duration.*
import weir.fiber.DirectCode
import weir.std.KeyedMutex

/** A value that was taken is not lost to a cancel that comes before it has reached code that a mask
  * protects.
  */
class KeptValuesSuite extends WeirSuite:

  /** Returns the value that a mask stores. The poll of the mask runs the result of `region` for a
    * finalizer, and the fiber is cancelled while the finalizer runs.
    */
  private def stored[A](region: Task[Unit] => Task[A]): Option[A] =
    val inside, gate = CountDownLatch(1)
    val stored = AtomicReference[Option[A]](None)
    val finalizer = Task.uninterruptible {
      inside.countDown()
      gate.await()
    }
    val fiber = Task
      .uncancelable(poll => poll(region(finalizer)).flatMap(a => Task(stored.set(Some(a)))))
      .start
      .runSync()
    await(inside)
    val canceling = startCancel(fiber)
    gate.countDown()
    canceling.joinOrFail.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Succeeded(()))
    stored.get

  private def taken: Task[Int] =
    val queue = Queue.unsafe[Int](1)
    queue.offer(1).runSync()
    queue.take

  private val local = TaskLocal.unsafe(0)
  private val keyed = KeyedMutex.unsafe[String]()
  private val mutex = Mutex.unsafe()
  private val permits = Semaphore.unsafe(1)

  for (name, region) <- List[(String, Task[Unit] => Task[Int])](
      "guarantee" -> (end => taken.guarantee(end)),
      "guaranteeCase" -> (end => taken.guaranteeCase(_ => end)),
      "bracket" -> (end => Task.unit.bracket(_ => taken)(_ => end)),
      "a resource" -> (end => Resource.make(Task.unit)(_ => end).use(_ => taken)),
      "a nested uncancelable" -> (end => Task.uncancelable(_ => taken.flatTap(_ => end))),
      "two nested uncancelables" ->
        (end => Task.uncancelable(_ => Task.uncancelable(_ => taken.flatTap(_ => end)))),
      "an uncancelable with a poll of its own" ->
        (end => Task.uncancelable(poll => poll(taken).flatTap(_ => end))),
      "a function after an uncancelable" ->
        (end => Task.uncancelable(_ => taken.flatTap(_ => end)).map(_ + 1).map(_ - 1)),
      "attempt and map after an uncancelable" ->
        (end =>
          Task.uncancelable(_ => taken.flatTap(_ => end)).attempt.map(_.fold(throw _, identity))
        ),
      "onCancel" ->
        (end => Task.uncancelable(_ => taken.flatTap(_ => end)).onCancel(Task(fail("onCancel")))),
      "TaskLocal.locally" -> (end => local.locally(1)(taken.guarantee(end))),
      "KeyedMutex.withLock" -> (end => keyed.withLock("key")(taken.guarantee(end))),
      "Mutex.withLock" -> (end => mutex.withLock(taken.guarantee(end))),
      "Semaphore.withPermit" -> (end => permits.withPermit(taken.guarantee(end))),
      "the last task of a sequence" ->
        (end => Task.sequence(List(Task.pure(0), taken.guarantee(end))).map(_.last)),
      "code that blocks" -> (end => taken.flatMap(n => Task.uninterruptible { end.runSync(); n })),
      "code that cannot be interrupted" -> (end => Task { end.runSync(); 1 }),
      "code of Task.direct that awaits" -> (end => Task.direct(taken.guarantee(end).await)),
      "runSync in a task" -> (end => Task(taken.guarantee(end).runSync())),
      "a timeout" -> (end => taken.guarantee(end).timeout(1.hour)),
      "timeoutTo" -> (end => taken.guarantee(end).timeoutTo(1.hour, Task.pure(0))),
      "timeoutAbandon" -> (end => taken.guarantee(end).timeoutAbandon(1.hour)),
      "a race" -> (end => Task.race(taken.guarantee(end), Task.never).map(_.merge)),
      "firstSuccess" -> (end => Task.firstSuccess(List(Task.never, taken.guarantee(end)))),
      "Scope.run" -> (end => Scope.run(_ => taken.guarantee(end))),
      "onPlatformThread, whose code answers the interrupt by a value" ->
        (end =>
          Task.onPlatformThread {
            try end.runSync()
            catch case _: InterruptedException => ()
            1
          }
        )
    )
  do
    test(s"a value that comes out of $name reaches the mask, though a cancel is pending"):
      for _ <- 1 to 5 do assertEquals(stored(region), Some(1))

  test("an error that comes out of a masked region reaches the mask, though a cancel is pending"):
    val boom = Boom()
    for region <- List[Task[Unit] => Task[Int]](
        end => Task.fail(boom).guarantee(end),
        end => Task.uncancelable(_ => end.andThen(Task.fail(boom))),
        end => Task.direct(Task.uncancelable[Int](_ => end.andThen(Task.fail(boom))).await)
      )
    do assertEquals(stored(end => region(end).attempt), Some(Left(boom)))

  test(
    "a fiber whose last step is a masked region ends with its value; effects after it do not run"
  ):
    val after = AtomicInteger()
    val masked = Task.uncancelable(_ => Task.canceled.as(1))
    val effects = List[Task[Any]](
      Task(after.incrementAndGet()),
      Task.defer(Task(after.incrementAndGet())),
      Task.cede.map(_ => after.incrementAndGet()),
      Task.uncancelable(_ => Task(after.incrementAndGet())),
      Task(after.incrementAndGet()).guarantee(Task(after.incrementAndGet()).void),
      Task.sequence(List(Task(after.incrementAndGet()))),
      Task.foreach(List(1))(_ => Task(after.incrementAndGet())),
      Task(after.incrementAndGet()).start,
      Task.pure(1).flatMap(_ => Task(after.incrementAndGet())),
      Task.fail(Boom()).handleErrorWith(_ => Task(after.incrementAndGet())),
      DirectCode(_ => after.incrementAndGet())
    )
    def outcome(task: Task[Any]) = task.start.flatMap(_.join).runSync()
    assertEquals(outcome(masked), Outcome.Succeeded(1))
    for effect <- effects do assertEquals(outcome(masked.flatMap(_ => effect)), Outcome.Canceled)
    assertEquals(after.get, 0)

  test("a cancelled scope whose body has ended, but not its other fibers, has no value"):
    val begun = CountDownLatch(1)
    val waits = Task(begun.countDown()).andThen(Task.never)
    val fiber = Scope.run(_.fork(waits).void).start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("a stream whose elements are there already ends at a cancel, though its effects are masked"):
    val effects = AtomicInteger()
    val first = CountDownLatch(1)
    val stream = Stream
      .emits(1 to 1000)
      .prefetchN(1000)
      .evalMap(_ =>
        Task.uncancelable(_ =>
          Task { effects.incrementAndGet(); first.countDown(); Thread.sleep(20) }
        )
      )
    val fiber = stream.drain.start.runSync()
    await(first)
    fiber.cancel.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)
    assert(effects.get < 1000)

  for (name, make) <- List[(String, (Int => Int) => Task[Any])](
      "traverse" -> (f => Task.traverse(1 to 100_000)(n => Task.pure(f(n)))),
      "foreach" -> (f => Task.foreach(1 to 100_000)(n => Task.pure(f(n)))),
      "a stream" -> (f => Stream.emits(1 to 100_000).map(f).drain)
    )
  do
    test(s"$name of pure tasks ends at a cancel"):
      val calls = AtomicInteger()
      val fifth = CountDownLatch(1)
      val fiber = make { n =>
        if calls.incrementAndGet() == 5 then
          fifth.countDown()
          try Thread.sleep(3_600_000)
          catch case _: InterruptedException => ()
        n
      }.start.runSync()
      await(fifth)
      fiber.cancel.runSync()
      assertEquals(fiber.join.runSync(), Outcome.Canceled)
      assert(calls.get < 10, s"${calls.get}")

  private def swallowing(begun: CountDownLatch): Task[Int] = Task {
    begun.countDown()
    try Thread.sleep(3_600_000)
    catch case _: InterruptedException => ()
    1
  }

  for (name, task) <- List[(String, Task[Int] => Task[Any])](
      "an await that returns" -> (swallows => Task.direct { swallows.await; block() }),
      "an await that fails" ->
        (swallows =>
          Task.direct {
            try swallows.map(_ => throw Boom()).await
            catch case _: Boom => ()
            block()
          }
        ),
      "the code of a for over a stream" ->
        (swallows => Task.direct { for _ <- Stream.repeatEval(swallows.map(_ + 1)) do block() }),
      "a fold" -> (swallows => Stream.eval(swallows).fold(0)((_, _) => { block(); 1 })),
      "a map" -> (swallows => swallows.map(_ => block())),
      "a map after another" -> (swallows => swallows.map(_ + 1).map(_ => block())),
      "a map after a mask" -> (swallows => swallows.guarantee(Task.unit).map(_ => block()))
    )
  do
    test(s"an interrupt that a task has swallowed ends code that blocks in $name"):
      val begun = CountDownLatch(1)
      val fiber = task(swallowing(begun)).start.runSync()
      await(begun)
      fiber.cancel.runSync()
      assertEquals(fiber.join.runSync(), Outcome.Canceled)

  private def block(): Unit = Thread.sleep(3_600_000)

  test("an error object that was awaited before does not make the cancel's interrupt an error"):
    object Busy extends Exception("busy")
    val begun = CountDownLatch(1)
    val fiber = Task
      .direct {
        try Task.fail(Busy).await
        catch case Busy => ()
        Task {
          begun.countDown()
          try Thread.sleep(3_600_000)
          catch case _: InterruptedException => throw Busy
        }.await
      }
      .start
      .runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("an interrupt of the calling thread is not taken for the cancel of a child that has ended"):
    val inside = CountDownLatch(1)
    val interrupted = AtomicReference[Throwable | Null](null)
    val child = Task.uncancelable(_ =>
      Task.canceled.andThen(Task {
        inside.countDown()
        while !Thread.currentThread().isInterrupted do Thread.onSpinWait()
      })
    )
    val caller = Thread
      .ofPlatform()
      .start(() =>
        try Task.parSequence(List(child.as(1), Task.never)).runSync(): Unit
        catch case error: Throwable => interrupted.set(error)
      )
    await(inside)
    caller.interrupt()
    caller.join(5000)
    assert(interrupted.get.isInstanceOf[InterruptedException], s"${interrupted.get}")

  for (name, loop) <- List[(String, Task[Any])](
      "flatMap of pure tasks" -> { def go: Task[Int] = Task.pure(1).flatMap(_ => go); go },
      "attempts" -> { def go: Task[Int] = Task.pure(1).attempt.flatMap(_ => go); go },
      "handled errors" -> { def go: Task[Int] = Task.fail(Boom()).handleErrorWith(_ => go); go },
      "masked regions" ->
        { def go: Task[Int] = Task.uncancelable(_ => Task.pure(1)).flatMap(_ => go); go },
      "forever" -> Task.pure(1).forever
    )
  do
    test(s"a fiber that goes round in $name, without any effect, is cancelled"):
      val begun = CountDownLatch(1)
      val fiber = Task(begun.countDown()).andThen(loop).start.runSync()
      await(begun)
      fiber.cancel.runSync()
      assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("what code returns because the hook of cancelable has made it end is no value of a timeout"):
    val stopped = CountDownLatch(1)
    val stops = Task.uninterruptible(stopped.await()).cancelable(Task(stopped.countDown()))
    intercept[java.util.concurrent.TimeoutException](stops.timeout(5.millis).runSync()): Unit

  private val rounds = Integer.getInteger("weir.kept.rounds", Tier(1500, 20_000)).intValue

  /** Takes all of `rounds` items by `takeOrLeave`, which gives up a wait without an item after a
    * moment. Returns the number of items that came out.
    */
  private def drained(takeOrLeave: Task[Int] => Task[Option[Int]]): Int =
    val queue = Queue.unsafe[Int](rounds)
    def takeAll(count: Int, misses: Int): Task[Int] =
      if misses > 50 then Task.pure(count)
      else
        takeOrLeave(queue.take).flatMap {
          case Some(_) => takeAll(count + 1, 0)
          case None => takeAll(count, misses + 1)
        }
    val producer = Task.foreach(1 to rounds)(n => queue.offer(n).andThen(Task.sleep(100.micros)))
    producer.start
      .flatMap(fiber => takeAll(0, -1000).flatTap(_ => fiber.join))
      .flatMap(n => takeAll(n, 0))
      .runSync()

  for (name, way) <- List[(String, Task[Int] => Task[Option[Int]])](
      "race(take, sleep)" ->
        (take => Task.race(take, Task.sleep(100.micros)).map(_.left.toOption)),
      "race(sleep, take)" ->
        (take => Task.race(Task.sleep(100.micros).void, take).map(_.toOption)),
      "take.map(f).timeoutTo" ->
        (take => take.map(Option(_)).timeoutTo(100.micros, Task.pure(None))),
      "take.timeout" ->
        (take => take.timeout(100.micros).map(Option(_)).handleError(_ => None))
    )
  do
    test(s"$name loses no item, however close the two are"):
      assertEquals(drained(way), rounds)

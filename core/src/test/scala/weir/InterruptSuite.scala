package weir

import java.util.concurrent.{CountDownLatch, LinkedBlockingQueue}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import java.util.concurrent.locks.ReentrantLock

/** A cancel interrupts a fiber that blocks, and nobody else. */
class InterruptSuite extends WeirSuite:

  for (state, block) <- List[(String, () => Unit)](
      "Thread.sleep" -> (() => Thread.sleep(3_600_000)),
      "a queue" -> (() => LinkedBlockingQueue[Int]().take(): Unit),
      "a future" -> (() => java.util.concurrent.CompletableFuture[Int]().get(): Unit),
      "a monitor's wait" -> { () =>
        val monitor = Object()
        monitor.synchronized(monitor.wait())
      },
      "a condition" -> { () =>
        val lock = ReentrantLock()
        val condition = lock.newCondition()
        lock.lock()
        try condition.await()
        finally lock.unlock()
      },
      "a nested runSync" -> (() => Task.never.runSync()),
      "a nested runSync that blocks" -> (() => Task(Thread.sleep(3_600_000)).runSync())
    )
  do
    test(s"a fiber blocked in $state is cancelled, and sees an InterruptedException"):
      for _ <- 1 to 20 do
        val begun = CountDownLatch(1)
        val seen, after = AtomicBoolean()
        val task = Task {
          begun.countDown()
          try block()
          catch case e: InterruptedException => { seen.set(true); throw e }
        }.andThen(Task(after.set(true)))
        val fiber = task.start.runSync()
        await(begun)
        fiber.cancel.runSync()
        assertEquals((seen.get, after.get), (true, false))
        assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("code that catches the interrupt still ends there, with its finalizers"):
    val begun = CountDownLatch(1)
    val after, released = AtomicBoolean()
    val task = Task {
      begun.countDown()
      try Thread.sleep(3_600_000)
      catch case _: InterruptedException => ()
    }.andThen(Task(after.set(true))).guarantee(Task(released.set(true)))
    val fiber = task.start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals((after.get, released.get), (false, true))

  test("masked blocking is not interrupted, nor is a finalizer that blocks"):
    val begun, inFinalizer = CountDownLatch(1)
    val interrupted, ended = AtomicBoolean()
    val block = Task {
      try Thread.sleep(30)
      catch case _: InterruptedException => interrupted.set(true)
    }
    val task = Task
      .uncancelable(_ => Task(begun.countDown()).andThen(block).andThen(block))
      .guarantee(Task(inFinalizer.countDown()).andThen(block).andThen(Task(ended.set(true))))
    val fiber = task.start.runSync()
    await(begun)
    val first = startCancel(fiber)
    await(inFinalizer)
    fiber.cancel.runSync()
    first.joinOrFail.runSync()
    assertEquals((interrupted.get, ended.get), (false, true))

  test("a finalizer of a fiber that was interrupted runs with a clear flag"):
    for _ <- 1 to 500 do
      val begun = CountDownLatch(1)
      val flag = AtomicBoolean()
      val task = Task { begun.countDown(); Thread.sleep(3_600_000) }
        .guarantee(Task(flag.set(Thread.currentThread().isInterrupted)))
      val fiber = task.start.runSync()
      await(begun)
      fiber.cancel.runSync()
      assertEquals(flag.get, false)

  test("code that interrupts its own thread, and ends, hits no fiber that runs there after it"):
    given WeirRuntime = WeirRuntime.make(1, 64)
    val pairs = Task.foreach(1 to 100) { _ =>
      val interrupts = Task(Thread.currentThread().interrupt())
      val next = Task(Thread.sleep(0, 1000))
      interrupts.start.andThen(next.start).flatMap(_.joinOrFail)
    }
    pairs.start.flatMap(_.joinOrFail).runSync()

  test("a worker that is interrupted while it is idle goes on sleeping"):
    given runtime: WeirRuntime = WeirRuntime.make(1, 64)
    val worker = Task(Thread.currentThread()).start.flatMap(_.joinOrFail).runSync()
    settles(runtime)
    eventually("it is idle")(worker.getState == Thread.State.WAITING)
    worker.interrupt()
    eventually(s"$worker has cleared its flag and parked") {
      !worker.isInterrupted && worker.getState == Thread.State.WAITING
    }

  for carriers <- List(1, 2, 4) do
    test(s"no interrupt reaches another fiber, with $carriers carriers"):
      given runtime: WeirRuntime = WeirRuntime.make(carriers, 4)
      val hit, rounds = AtomicInteger()
      val stop = AtomicBoolean()
      val bystander = Task {
        try Thread.sleep(0, 50_000)
        catch case _: InterruptedException => hit.incrementAndGet(): Unit
        if Thread.interrupted() then hit.incrementAndGet(): Unit
      }
      def stand: Task[Unit] =
        bystander.andThen(Task.cede).andThen(if stop.get then Task.unit else Task.defer(stand))
      def victim(i: Int): Task[Unit] = i % 4 match
        case 0 => Task(Thread.sleep(3_600_000))
        case 1 => Task(Thread.sleep(0, 20_000))
        case 2 => Task.cede.forever
        case _ => Task(Thread.`yield`()).forever
      val one = Task.defer {
        val i = rounds.getAndIncrement()
        victim(i).start.flatMap(f =>
          (if i % 3 == 0 then Task.cede else Task.unit).andThen(f.cancel)
        )
      }
      val canceling = Task.foreach(1 to 3000)(_ => one).guarantee(Task(stop.set(true)))
      val bystanders = Task.parTraverse(1 to 8)(_ => stand)
      Task.both(canceling, bystanders).start.flatMap(_.joinOrFail).runSync(): Unit
      assertEquals(hit.get, 0)
      settles(runtime)

  test("the flag of runSync's caller is as it was after a task that was cancelled inside"):
    for _ <- 1 to 200 do
      val begun = CountDownLatch(1)
      val task = Task { begun.countDown(); Thread.sleep(3_600_000) }
      Task.race(task, Task(begun.await())).runSync(): Unit
      assertEquals(Thread.interrupted(), false)

  test("a cancel that a nested runSync has swallowed interrupts the code after it"):
    val nested, go = CountDownLatch(1)
    val task = Task {
      Task { nested.countDown(); while go.getCount > 0 do Thread.onSpinWait() }.runSync()
      Thread.sleep(3_600_000)
    }
    val fiber = task.start.runSync()
    await(nested)
    val canceling = startCancel(fiber)
    go.countDown()
    canceling.joinOrFail.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("a cancel while a stream acquires interrupts the blocking code after it"):
    val acquiring, go = CountDownLatch(1)
    val released = AtomicInteger()
    val acquire = Task.uncancelable(_ => Task { acquiring.countDown(); go.await() })
    val stream = Stream
      .bracket(acquire)(_ => Task(released.incrementAndGet()).void)
      .map(_ => Thread.sleep(3_600_000))
    val fiber = stream.drain.start.runSync()
    await(acquiring)
    val canceling = startCancel(fiber)
    go.countDown()
    canceling.joinOrFail.runSync()
    assertEquals((fiber.join.runSync(), released.get), (Outcome.Canceled, 1))

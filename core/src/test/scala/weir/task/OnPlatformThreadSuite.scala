package weir
package task

import java.util.concurrent.{CompletableFuture, CountDownLatch, CyclicBarrier, TimeUnit}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import weir.fiber.{Suspend, TaskFiber}

class OnPlatformThreadSuite extends WeirSuite:

  test("the thunk runs on a thread of the operating system, a daemon; what follows does not"):
    val (thread, after) = Task
      .onPlatformThread(Thread.currentThread())
      .flatMap(thread => Task((thread, Thread.currentThread())))
      .start
      .flatMap(_.joinOrFail)
      .runSync()
    assert(!thread.isVirtual && thread.isDaemon, s"$thread")
    assert(after.isVirtual, s"$after")

  test("the thunk's value, or what it throws"):
    val boom = Boom()
    assertEquals(Task.onPlatformThread(1).runSync(), 1)
    assertEquals(Task.onPlatformThread(throw boom).attempt.runSync(), Left(boom))
    val fatal = StackOverflowError("mine")
    assertEquals(Task.onPlatformThread(throw fatal).attempt.runSync(), Left(fatal))

  test("as many run at once as are asked for"):
    val barrier = CyclicBarrier(50)
    val all = Task.parTraverse(1 to 50)(_ => Task.onPlatformThread(barrier.await(): Unit))
    assertEquals(all.runSync().size, 50)

  test("a thread is used again, and given back when nobody has asked for it for a while"):
    val threads = Task.traverse(1 to 20)(_ => Task.onPlatformThread(Thread.currentThread()))
    val used = threads.runSync().toSet
    assert(used.size < 20, s"${used.size} threads for 20 calls, one after the other")
    eventually("no platform thread is left")(WeirRuntime.default.platformThreads.size == 0)

  test("a cancel interrupts the thread, waits for the thunk, and what follows does not run"):
    for _ <- 1 to 50 do
      val begun = CountDownLatch(1)
      val seen, after = AtomicBoolean()
      val task = Task
        .onPlatformThread {
          begun.countDown()
          try Thread.sleep(3_600_000)
          catch
            case e: InterruptedException =>
              Thread.sleep(1)
              seen.set(true)
              throw e
        }
        .andThen(Task(after.set(true)))
      val fiber = task.start.runSync()
      await(begun)
      fiber.cancel.runSync()
      assertEquals((seen.get, after.get), (true, false))
      assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("a cancel waits for a thunk that ignores the interrupt"):
    val begun, gate = CountDownLatch(1)
    val ended = AtomicBoolean()
    val task = Task.onPlatformThread {
      begun.countDown()
      while gate.getCount > 0 do Thread.onSpinWait()
      ended.set(true)
    }
    val fiber = task.start.runSync()
    await(begun)
    val canceling = startCancel(fiber)
    gate.countDown()
    assertEquals(canceling.joinOrFail.map(_ => ended.get).runSync(), true)

  test("a thunk does not run whose fiber is cancelled before it begins"):
    val ran = AtomicBoolean()
    val asked = CompletableFuture[PlatformCall]()
    // As `OnPlatformThread`, but the test is the thread that runs the call.
    val task = new Suspend[Any]:
      def begin(fiber: TaskFiber): Any =
        val call = PlatformCall(fiber, () => ran.set(true))
        asked.complete(call)
        call
    val fiber = task.start.runSync()
    val call = asked.get(10, TimeUnit.SECONDS)
    eventually("it waits for the thunk")(call.isWaiting)
    val canceling = startCancel(fiber)
    eventually("it waits for the end of the thunk") {
      val wait = call.fiber.latestWait
      (wait ne null) && (wait ne call) && wait.isWaiting
    }
    call.run()
    canceling.joinOrFail.runSync()
    assertEquals((fiber.join.runSync(), ran.get), (Outcome.Canceled, false))

  test("inside of uncancelable the thread is not interrupted"):
    val begun, gate = CountDownLatch(1)
    val interrupted = AtomicBoolean()
    val call = Task.onPlatformThread {
      begun.countDown()
      try gate.await()
      catch case _: InterruptedException => interrupted.set(true)
    }
    val fiber = Task.uncancelable(_ => call).start.runSync()
    await(begun)
    val canceling = startCancel(fiber)
    gate.countDown()
    canceling.joinOrFail.runSync()
    assertEquals(interrupted.get, false)

  test("no interrupt reaches the next call on the same thread"):
    val hit = AtomicInteger()
    for round <- 1 to Tier(1500, 5000) do
      val fiber = Task.onPlatformThread(Thread.`yield`()).start.runSync()
      val until = System.nanoTime() + round % 50 * 1000
      while System.nanoTime() < until do Thread.onSpinWait()
      fiber.cancel.runSync()
      val next = Task.onPlatformThread {
        try Thread.sleep(0, 1000)
        catch case _: InterruptedException => hit.incrementAndGet(): Unit
        if Thread.interrupted() then hit.incrementAndGet(): Unit
      }
      next.runSync()
    assertEquals(hit.get, 0)

  test("runSync in the thunk is cancelled with it"):
    val begun = CountDownLatch(1)
    val released = AtomicBoolean()
    val inner = Task(begun.countDown()).andThen(Task.never).guarantee(Task(released.set(true)))
    val fiber = Task.onPlatformThread(inner.runSync()).start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assert(released.get)

  test("code that computes on a platform thread holds no carrier: as many as twice the carriers"):
    val stop = AtomicBoolean()
    val begun = CountDownLatch(2 * runtime.Scheduler.carriersOfThisJvm)
    val spin = Task.onPlatformThread {
      begun.countDown()
      while !stop.get do Thread.onSpinWait()
    }
    val spinning = List.fill(begun.getCount.toInt)(spin.start.runSync())
    try
      await(begun)
      assertEquals(Task.cede.as(1).start.flatMap(_.joinOrFail).runSync(), 1)
    finally
      stop.set(true)
      spinning.foreach(_.joinOrFail.runSync())

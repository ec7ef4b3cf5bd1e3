package weir.testkit

import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import java.util.concurrent.locks.{LockSupport, ReentrantLock}
import java.util.concurrent.*
import scala.concurrent.Await
import scala.concurrent.duration.*
import weir.japi.Tasks
import weir.{Deferred, Outcome, Stream, Task}

class VirtualTimeSuite extends munit.FunSuite:

  private def hour = 1.hour.toMillis

  /** Returns the time that `body` takes by the machine's clock. */
  private def real(body: => Any): FiniteDuration =
    val start = System.nanoTime()
    body: Unit
    (System.nanoTime() - start).nanos

  TestRuntime.run(Task.unit) // the first use loads the agent

  test("a sleep of an hour takes an hour on the clock, and no real time"):
    val took = real(assertEquals(TestRuntime.timed(Task.sleep(1.hour).as(3)), (1.hour, 3)))
    assert(took < 5.seconds, s"$took")

  test("Task.monotonic and Task.realTime are those of the clock"):
    val task = for
      before <- Task.monotonic
      day <- Task.realTime
      _ <- Task.sleep(90.minutes)
      after <- Task.monotonic
      later <- Task.realTime
    yield (after - before, later.toEpochMilli - day.toEpochMilli)
    assertEquals(TestRuntime.run(task), (90.minutes, 90.minutes.toMillis))

  test("fibers wake in the order of their times, each at its own"):
    val order = ConcurrentLinkedQueue[(Int, Long)]()
    val task = Task.parTraverse(List(5, 1, 4, 2, 3))(n =>
      Task.sleep(n.hours).andThen(Task.realTime).map(t => order.add((n, t.getEpochSecond)))
    )
    TestRuntime.run(task): Unit
    assertEquals(order.toArray.toList, (1 to 5).map(n => (n, n * 3600L)).toList)

  test("a timeout fires at its time, and one that is not needed costs none"):
    val late = Task.sleep(2.hours).timeout(1.hour).attempt.map(_.isLeft)
    assertEquals(TestRuntime.timed(late), (1.hour, true))
    assertEquals(TestRuntime.timed(Task.cede.as(1).timeout(1.hour)), (0.hours, 1))

  for (name, wait) <- List[(String, () => Any)](
      "Thread.sleep(millis)" -> (() => Thread.sleep(hour)),
      "Thread.sleep(millis, nanos)" -> (() => Thread.sleep(hour, 0)),
      "Thread.sleep(Duration)" -> (() => Thread.sleep(java.time.Duration.ofHours(1))),
      "TimeUnit.sleep" -> (() => TimeUnit.HOURS.sleep(1)),
      "LinkedBlockingQueue.poll(timeout)" -> (() =>
        LinkedBlockingQueue[Int]().poll(1, TimeUnit.HOURS)
      ),
      "SynchronousQueue.offer(timeout)" -> (() =>
        SynchronousQueue[Int]().offer(1, 1, TimeUnit.HOURS)
      ),
      "CountDownLatch.await(timeout)" -> (() => CountDownLatch(1).await(1, TimeUnit.HOURS)),
      "Semaphore.tryAcquire(timeout)" -> (() => Semaphore(0).tryAcquire(1, TimeUnit.HOURS)),
      "ReentrantLock.tryLock(timeout)" -> (() => {
        val lock = ReentrantLock()
        Thread.ofPlatform().start(() => lock.lock()).join()
        lock.tryLock(1, TimeUnit.HOURS)
      }),
      "CompletableFuture.get(timeout)" -> (() =>
        try CompletableFuture[Int]().get(1, TimeUnit.HOURS)
        catch case _: TimeoutException => 0
      ),
      "FutureTask.get(timeout)" -> (() =>
        try FutureTask[Int](() => 1).get(1, TimeUnit.HOURS)
        catch case _: TimeoutException => 0
      ),
      "LockSupport.parkNanos" -> (() => LockSupport.parkNanos(1.hour.toNanos)),
      "Object.wait(timeout)" -> (() => {
        val lock = Object()
        lock.synchronized(lock.wait(hour))
      }),
      "Thread.join(timeout) of a virtual thread" -> (() =>
        Thread.startVirtualThread(() => Thread.sleep(2 * hour)).join(java.time.Duration.ofHours(1))
      ),
      "Thread.sleep on a virtual thread of one's own" -> (() =>
        Thread.startVirtualThread(() => Thread.sleep(hour)).join()
      ),
      "Await.result(timeout)" -> (() =>
        try scala.concurrent.Await.result(scala.concurrent.Promise[Int]().future, 1.hour)
        catch case _: TimeoutException => 0
      )
    )
  do
    test(s"$name in a task takes its time on the clock, and no real time"):
      val took = real(assertEquals(TestRuntime.timed(Task(wait()))._1, 1.hour))
      assert(took < 5.seconds, s"$took")

  test("a thousand tasks that block in Thread.sleep all sleep at the same time"):
    val sleeps = Task.parTraverse(1 to 1000)(n => Task(Thread.sleep(n * 1000L)))
    assertEquals(TestRuntime.timed(sleeps)._1, 1000.seconds)

  test("what wakes before its time limit is over takes no time"):
    val queue = LinkedBlockingQueue[Int]()
    val take = Task(queue.poll(1, TimeUnit.HOURS)).map(Option(_))
    val put = Task.sleep(10.minutes).andThen(Task(queue.put(7)))
    assertEquals(TestRuntime.timed(Task.both(take, put).map(_._1)), (10.minutes, Some(7)))

  test("a task that is busy keeps the clock from moving"):
    val fired = AtomicBoolean()
    val busy = Task {
      val end = System.nanoTime() + 300.millis.toNanos
      while System.nanoTime() < end do Thread.onSpinWait()
      fired.get
    }
    val alarm = Task.sleep(1.milli).andThen(Task(fired.set(true)))
    val begun = CountDownLatch(1)
    val task = (Task { begun.countDown(); Thread.sleep(1) }
      .andThen(busy))
      .start
      .flatMap(f => Task.sleep(1.milli).andThen(alarm).andThen(f.joinOrFail))
    TestRuntime.run(task): Unit
    val (took, seen) = TestRuntime.timed(Task.both(busy, Task.sleep(1.hour)).map(_._1))
    assertEquals((seen, took), (true, 1.hour))

  test("nothing reads the stack of a task that computes for long, which might change its order"):
    val runtime = TestRuntime()
    val reported = AtomicBoolean()
    runtime.runtime.onSpin(_ => reported.set(true))
    val begun = System.nanoTime()
    try runtime.run(Task { while System.nanoTime() - begun < 400.millis.toNanos do () })
    finally runtime.close()
    assert(!reported.get)

  test("a task that waits for a socket keeps the clock at the pace of the real one"):
    val server = java.net.ServerSocket(0)
    Thread.ofPlatform().daemon().start { () =>
      val socket = server.accept()
      Thread.sleep(200)
      socket.getOutputStream.write(42)
      socket.close()
    }: Unit
    val read = Task(java.net.Socket("127.0.0.1", server.getLocalPort).getInputStream.read())
    val (took, byte) = TestRuntime.timed(read.timeout(1.minute))
    assertEquals(byte, 42)
    assert(took >= 100.millis && took < 10.seconds, s"$took")

  test("the time limit of a socket is real time"):
    val server = java.net.ServerSocket(0)
    val read = Task {
      val socket = java.net.Socket("127.0.0.1", server.getLocalPort)
      socket.setSoTimeout(200)
      try socket.getInputStream.read()
      catch case _: java.net.SocketTimeoutException => -2
    }
    val spent = real {
      val (took, result) = TestRuntime.timed(read)
      assertEquals(result, -2)
      assert(took >= 100.millis && took < 5.seconds, s"$took")
    }
    assert(spent >= 200.millis, s"$spent")

  test("a call on a platform thread keeps the clock at the pace of the real one"):
    val call = Task.onPlatformThread { Thread.sleep(200); 1 }
    val (took, value) = TestRuntime.timed(call.timeout(1.minute))
    assertEquals(value, 1)
    assert(took >= 100.millis && took < 10.seconds, s"$took")

  test("a callback from a thread of the user's is waited for, though an alarm is set"):
    val task = Task
      .async[Int](callback =>
        Thread.ofPlatform().start { () =>
          Thread.sleep(20)
          callback(Right(1))
        }: Unit
      )
      .timeout(1.hour)
    assertEquals(TestRuntime(patience = 5.seconds).timed(task), (0.seconds, 1))

  test("a callback that never comes holds the clock once, not for ever"):
    val task = Task.async[Int](_ => ()).timeout(1.hour).attempt.map(_.isLeft)
    assertEquals(TestRuntime.timed(task), (1.hour, true))

  test("a lock that is held over a sleep is waited for"):
    val lock = Object()
    val count = AtomicInteger()
    val work = Task(lock.synchronized { Thread.sleep(hour); count.incrementAndGet() })
    assertEquals(TestRuntime.timed(Task.parTraverse(1 to 4)(_ => work))._1, 4.hours)
    val fair = ReentrantLock()
    val locked = Task {
      fair.lock()
      try Thread.sleep(hour)
      finally fair.unlock()
    }
    assertEquals(TestRuntime.timed(Task.parTraverse(1 to 4)(_ => locked))._1, 4.hours)

  test("the clock stands still while the JVM hands a monitor on, however long that takes"):
    val runtime = TestRuntime(carriers = 2, patience = 1.nano)
    for _ <- 1 to 200 do
      val lock = Object()
      val work = Task(lock.synchronized(Thread.`yield`()))
      val all = Task.parTraverse(1 to 4)(_ => work).timeout(1.hour).attempt
      assertEquals(runtime.timed(all)._1, 0.seconds)
    runtime.close()

  test("a nested runSync sleeps on the same clock"):
    val runtime = TestRuntime()
    val nested = Task(Task.sleep(1.hour).as(1).runSync())
    assertEquals(runtime.timed(nested), (1.hour, 1))

  for (how, run) <- List[(String, Task[Int] => Int)](
      "toFuture" -> (task => Await.result(task.toFuture(), Duration.Inf)),
      "toCompletionStage" -> (_.toCompletionStage().toCompletableFuture.get),
      "the Java facade" -> (Tasks.runSync(_))
    )
  do
    test(s"a task that code of a task runs by $how sleeps on the same clock"):
      val nested = Task(run(Task.sleep(1.hour).as(1)))
      assertEquals(TestRuntime.timed(nested), (1.hour, 1))

  test("a stream with a timer obeys the clock"):
    val ticks = Stream.emits(1 to 24).evalMap(n => Task.sleep(1.hour).as(n)).prefetchN(3)
    assertEquals(TestRuntime.timed(ticks.toList.map(_.size)), (24.hours, 24))

  test("advance runs what is due by then and nothing else"):
    val runtime = TestRuntime()
    val rings = AtomicInteger()
    val each = Task.sleep(1.hour).andThen(Task(rings.incrementAndGet())).forever
    val clock = runtime.start(each)
    runtime.awaitQuiet()
    assertEquals((rings.get, runtime.now), (0, 0.hours))
    runtime.advance(90.minutes)
    assertEquals((rings.get, runtime.now), (1, 90.minutes))
    runtime.advance(10.hours)
    assertEquals((rings.get, clock.outcome), (11, None))
    runtime.run(clock.fiber.cancel)
    assertEquals(clock.outcome, Some(Outcome.Canceled))

  test("tick moves to the next alarm, and nowhere if none is set"):
    val runtime = TestRuntime()
    val sleeps = runtime.start(Task.sleep(2.hours).andThen(Task.sleep(1.hour)).as("done"))
    assertEquals(runtime.tick(), Some(2.hours))
    assertEquals(sleeps.outcome, None)
    assertEquals(runtime.tick(), Some(1.hour))
    assertEquals(sleeps.outcome, Some(Outcome.Succeeded("done")))
    assertEquals(runtime.tick(), None)

  test("awaitQuiet returns when all that was queued has run, on one carrier and on many"):
    for carriers <- List(1, 2, 8); _ <- 1 to 50 do
      val runtime = TestRuntime(carriers)
      val done = AtomicInteger()
      val gate = Deferred.unsafe[Unit]
      def tree(depth: Int): Task[Unit] =
        if depth == 0 then gate.get.andThen(Task(done.incrementAndGet()).void)
        else Task.cede.andThen(Task.parTraverse(1 to 3)(_ => tree(depth - 1)).void)
      val all = runtime.start(tree(4))
      runtime.awaitQuiet()
      assertEquals(done.get, 0)
      runtime.start(gate.complete(())): Unit
      runtime.awaitQuiet()
      assertEquals((done.get, all.outcome), (81, Some(Outcome.Succeeded(()))))
      runtime.close()

package weir

import java.net.{InetAddress, ServerSocket, Socket}
import java.util.concurrent.{
  ArrayBlockingQueue,
  CompletableFuture,
  ConcurrentHashMap,
  CountDownLatch,
  CyclicBarrier
}
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}
import java.util.concurrent.locks.ReentrantLock
import scala.concurrent.{Await, Promise}
import scala.concurrent.duration.*
import weir.runtime.Scheduler

/** Blocking is free: a blocked task holds no carrier and no platform thread. */
class BlockingSuite extends WeirSuite:

  override def limit: FiniteDuration = 60.seconds

  private val carriers = Scheduler.carriersOfThisJvm

  test(
    "row 2: 100,000 tasks that call Thread.sleep(1000) end within 5 s, on carriers + 20 threads"
  ):
    val peak = AtomicInteger()
    val asleep = Gauge()
    val before = WeirSuite.osThreads
    val done = CountDownLatch(1)
    val watch = Thread.ofPlatform().start { () =>
      while !done.await(20, java.util.concurrent.TimeUnit.MILLISECONDS) do
        peak.accumulateAndGet(WeirSuite.osThreads, math.max): Unit
    }
    val othersBefore = MachineLoad.othersNanos()
    val (values, took) = timed {
      Task
        .parTraverse(1 to 100_000) { i =>
          Task {
            asleep.enter(): Unit
            Thread.sleep(1000)
            asleep.leave()
            i
          }
        }
        .runSync()
    }
    val others = (MachineLoad.othersNanos() - othersBefore).nanos
    done.countDown()
    watch.join()
    // The JVM's own threads (compilers, collectors, the test's) are there with or without Weir.
    val more = peak.get - before
    println(
      s"measured: 100,000 sleeps of 1 s in ${took.toMillis} ms, ${others.toMillis} of them taken " +
        s"by others; $before OS threads before, ${peak.get} at the peak, $carriers carriers"
    )
    assertEquals(values, (1 to 100_000))
    assert(more <= carriers + 20, s"$more more threads than before")
    assert(asleep.peak > 1000, s"at most ${asleep.peak} were asleep at once")
    assert(took - others < 5.seconds, s"took $took, of which other programs have taken $others")

  for
    times <- List(1, 10)
    platform <- List(true, false)
  do
    test(
      s"$times times as many consumers as carriers block on an empty queue, then a ${
          if platform then "thread" else "task"
        } produces"
    ):
      val consumers = carriers * times
      val queue = ArrayBlockingQueue[Int](1)
      val waiting = CountDownLatch(consumers)
      val consumer = Task {
        waiting.countDown()
        Iterator.continually(queue.take()).takeWhile(_ >= 0).sum
      }
      val fibers = List.fill(consumers)(consumer.start.runSync())
      await(waiting)
      def produce(): Unit =
        for i <- 1 to 1000 do queue.put(i)
        for _ <- 1 to consumers do queue.put(-1)
      if platform then produce() else Task(produce()).start.flatMap(_.joinOrFail).runSync()
      assertEquals(fibers.map(_.joinOrFail.runSync()).sum, 500_500)

  test(
    "on one carrier consumers block before the producer starts, and runSync nests, in an own JVM"
  ):
    val (output, code) = WeirSuite.child(
      "weir.OneCarrier",
      "-Djdk.virtualThreadScheduler.parallelism=1",
      "-Djdk.virtualThreadScheduler.maxPoolSize=1"
    )
    assertEquals(code, 0, output)
    assert(output.contains("carriers 1\nconsumers 10 sum 500500\ndeep 1000\nwide 1000\n"), output)

  test("runSync nests 1,000 deep, plainly and after suspending"):
    def deep(n: Int): Int = if n == 0 then 0 else Task.delay(deep(n - 1) + 1).runSync()
    def hopping(n: Int): Int =
      if n == 0 then 0 else Task.cede.andThen(Task.delay(hopping(n - 1) + 1)).runSync()
    assertEquals(Task(deep(1000)).start.flatMap(_.joinOrFail).runSync(), 1000)
    assertEquals(Task(hopping(1000)).start.flatMap(_.joinOrFail).runSync(), 1000)
    assertEquals((deep(1000), hopping(1000)), (1000, 1000))

  test("runSync nests 1,000 wide, ten deep in each, with work that suspends and blocks"):
    def nest(n: Int): Int =
      if n == 0 then Task.sleep(1.milli).andThen(Task(Thread.sleep(1))).as(1).runSync()
      else Task.cede.andThen(Task(nest(n - 1))).runSync()
    val all = Task.parTraverse(1 to 1000)(_ => Task(nest(10)))
    assertEquals(all.map(_.sum).runSync(), 1000)

  test("runSync nests inside of lazy vals that many fibers force at once"):
    object Lazy:
      val inits = AtomicInteger()
      lazy val inner: Int = Task.sleep(1.milli).as(inits.incrementAndGet()).runSync()
      lazy val outer: Int =
        Task.parTraverse(1 to 100)(_ => Task.cede.andThen(Task(inner))).map(_.sum).runSync()
    val all = Task.parTraverse(1 to 1000)(_ => Task(Lazy.outer))
    assertEquals(all.map(_.distinct).runSync(), Vector(100))
    assertEquals(Lazy.inits.get, 1)

  /** Runs as many tasks as could hold every carrier ten times. All of them meet inside of `block`.
    */
  private def allMeet(block: CyclicBarrier => Unit): Unit =
    val many = carriers * 10
    val barrier = CyclicBarrier(many)
    Task.parTraverse(1 to many)(_ => Task(block(barrier))).runSync(): Unit

  test(
    "tasks that wait for each other at a barrier meet, also in own monitors or with a lock"
  ):
    allMeet(_.await(): Unit)
    allMeet(barrier => Object().synchronized(barrier.await(): Unit))
    allMeet { barrier =>
      val lock = ReentrantLock()
      lock.lock()
      try barrier.await(): Unit
      finally lock.unlock()
    }
    allMeet(barrier => ConcurrentHashMap[Int, Int]().computeIfAbsent(1, _ => barrier.await()): Unit)
    allMeet(barrier => Task(barrier.await(): Unit).runSync())

  test(
    "a monitor, a lock and a map's entry that are held while their holder sleeps exclude the others"
  ):
    val monitor = Object()
    val lock = ReentrantLock()
    val map = ConcurrentHashMap[Int, Integer]()
    val gauges = Vector.fill(2)(Gauge())
    def inside(gauge: Gauge): Unit =
      gauge.enter(): Unit
      Thread.sleep(1)
      gauge.leave()
    val made = AtomicInteger()
    Task
      .parTraverse(1 to 100) { i =>
        Task {
          monitor.synchronized(inside(gauges(0)))
          lock.lock()
          try inside(gauges(1))
          finally lock.unlock()
          map.computeIfAbsent(i % 5, _ => { Thread.sleep(1); made.incrementAndGet() }): Unit
        }
      }
      .runSync(): Unit
    assertEquals(gauges.map(_.peak), Vector(1, 1))
    assertEquals(made.get, 5)

  test("futures are awaited plainly: Await.result and CompletableFuture.get"):
    val promise = Promise[Int]()
    val stage = CompletableFuture[Int]()
    val many = carriers * 10
    val begun = CountDownLatch(many)
    def waiting(i: Int) = Task {
      begun.countDown()
      if i % 2 == 0 then Await.result(promise.future, Duration.Inf) else stage.get()
    }
    val all = Task.parTraverse(1 to many)(waiting).start.runSync()
    await(begun)
    val complete = Task { promise.success(1); stage.complete(2) }
    complete.start.flatMap(_.joinOrFail).runSync(): Unit
    assertEquals(all.joinOrFail.runSync().sum, many / 2 * 3)

  test("sockets are read plainly by hundreds of tasks at once"):
    val server = ServerSocket(0, 500, InetAddress.getLoopbackAddress)
    val serve = Task {
      val socket = server.accept()
      Task {
        try
          val n = socket.getInputStream.read()
          socket.getOutputStream.write(n + 1)
        finally socket.close()
      }
    }.flatMap(_.start).forever
    def call(i: Int) = Task {
      val socket = Socket(InetAddress.getLoopbackAddress, server.getLocalPort)
      try
        Thread.sleep(1)
        socket.getOutputStream.write(i % 100)
        socket.getInputStream.read()
      finally socket.close()
    }
    val serving = serve.attempt.start.runSync()
    val answers = Task.parTraverseN(100)(1 to 300)(call).runSync()
    assertEquals(answers, (1 to 300).map(_ % 100 + 1))
    server.close()
    serving.join.runSync(): Unit

  test("tasks that block do not keep others from running: 1,000 asleep, a million computed"):
    val sum = AtomicLong()
    val sleeping = Task.parTraverse(1 to 1000)(_ => Task(Thread.sleep(300)))
    val computing = Task.foreach(1 to 1_000_000)(i => Task(sum.addAndGet(i)))
    val (_, took) = timed(Task.both(sleeping, computing).runSync())
    assertEquals(sum.get, 500_000_500_000L)
    assert(took < Tier(20.seconds, 5.seconds), s"took $took")

package weir.trace

import java.lang.ref.WeakReference
import java.net.{InetAddress, ServerSocket, SocketTimeoutException}
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.*
import weir.kernel.{FiberCore, RunLoop}
import weir.runtime.{Host, Tuning}

/** Reports of what computes for long. PAINS row 1. */
class SpinsSuite extends WeirSuite:
  // A spin counts by processor time, of which a busy machine gives little.
  override def limit = super.limit * 6

  private val reported = ConcurrentLinkedQueue[Spin]()

  /** The spins that are reported while `body` runs on a runtime of its own. */
  private def spins(body: Runtime ?=> Unit): List[Spin] =
    val runtime = Runtime.make(2, 64)
    reported.clear()
    runtime.onSpin(spin => reported.add(spin): Unit)
    body(using runtime)
    settles(runtime)
    eventually("the watch has nothing more to say")(runtime.scheduler.watch.isAsleep)
    reported.asScala.toList

  /** Computes until that has been reported, and then for twice as long. */
  private def spin(): Unit =
    val before = reported.size
    val begin = System.nanoTime()
    while reported.size == before && System.nanoTime() - begin < 20_000_000_000L do
      Thread.onSpinWait()
    val took = System.nanoTime() - begin
    val end = System.nanoTime() + took * 2
    while System.nanoTime() < end do Thread.onSpinWait()

  test("row 1: a task that computes for long is reported once, with its fiber and line"):
    var name = ""
    val found = spins {
      val fiber = Task.cede.andThen(Task(spin())).start.runSync()
      fiber match
        case core: FiberCore => name = core.name
      fiber.join.runSync(): Unit
    }
    assertEquals(found.map(_.fiber), List(name))
    // The loop may be seen in the JDK's queue, which it asks whether it has been reported.
    val own = found.head.trace.dropWhile(_.getClassName.startsWith("java."))
    assertEquals(own.head.getFileName, "SpinsSuite.scala")
    assert(found.head.thread.getName == "weir-worker", found.head.toString)
    assert(found.head.toString.contains("SpinsSuite.scala:"), found.head.toString)

  test("row 1: blocking gives no report"):
    val server = ServerSocket(0, 1, InetAddress.getLoopbackAddress)
    server.setSoTimeout(500)
    val found = spins {
      val accept = Task(server.accept(): Unit).handleError {
        case _: SocketTimeoutException => ()
        case error => throw error
      }
      val monitor = Object()
      val held = Object()
      val holding = CountDownLatch(1)
      val blocking = List(
        Task(Thread.sleep(500)),
        Task(held.synchronized {
          holding.countDown()
          Thread.sleep(500)
        }),
        Task {
          holding.await()
          held.synchronized(())
        },
        Task(monitor.synchronized(monitor.wait(500))),
        Task(Task.sleep(500.millis).runSync()),
        Task.sleep(500.millis),
        accept
      )
      Task.parSequence(blocking).start.flatMap(_.joinOrFail).runSync(): Unit
      accept.runSync() // on this thread, which waits inside of a native call
    }
    server.close()
    assertEquals(found.map(_.toString), Nil)

  test("a thread that has been woken and waits for a carrier is no spin, wherever it was blocked"):
    def topOf(body: => Unit): Boolean =
      val thread = Thread.ofVirtual().start(() => body)
      eventually(s"$thread is blocked") {
        val state = thread.getState
        state == Thread.State.TIMED_WAITING || state == Thread.State.WAITING
      }
      val waits = Spins.waits(thread.getStackTrace)
      thread.interrupt()
      waits
    assert(
      topOf(
        try Thread.sleep(60_000)
        catch case _: InterruptedException => ()
      )
    )
    assert(topOf(java.util.concurrent.locks.LockSupport.park()))
    val monitor = Object()
    assert(topOf(monitor.synchronized {
      try monitor.wait()
      catch case _: InterruptedException => ()
    }))
    assert(
      topOf(
        try java.util.concurrent.LinkedBlockingQueue[Int]().take(): Unit
        catch case _: InterruptedException => ()
      )
    )
    assert(!Spins.waits(Thread.currentThread().getStackTrace.drop(1)))

  private def hostOn(on: Thread): Host =
    val host = new Host(Runtime.make(1, 64).scheduler):
      def thread = on
      def pooled = true
      def home = 0
    host.running = RunLoop(Runtime.default, Task.unit)
    host

  /** Looks at `thread`, as if one slice of a fiber ran on it all the time; how often it has been reported after each of the looks,
    * which are so far apart. Between two of them the thread has used a processor for that share of the time.
    */
  private def looks(at: Thread, share: Double = 1)(apart: FiniteDuration*): List[Int] =
    val host = hostOn(at)
    val reported = AtomicInteger()
    val times = HandTimes()
    val spins = Spins(_ => reported.incrementAndGet(): Unit, times)
    apart.toList.map { nanos =>
      times.used += (nanos * share).toNanos
      spins.look(Iterator(host), nanos.toNanos): Unit
      reported.get
    }

  /** What a test says. */
  private final class HandTimes extends ProcessorTime:
    var used = 0L
    override def usedNanos(thread: Thread): Long = used

  /** `body` with a thread that computes. */
  private def computing[A](body: Thread => A): A =
    val ready, stop = CountDownLatch(1)
    val thread = Thread.ofPlatform().start { () =>
      ready.countDown()
      while stop.getCount > 0 do Thread.onSpinWait()
    }
    await(ready)
    try body(thread)
    finally
      stop.countDown()
      thread.join()

  test("row 1: a slice is reported when it has been seen for more than 200 ms, and never again"):
    // The first look finds a slice that it has not seen before, the second one asks how long its thread has computed.
    val found = computing(looks(_)(List.fill(30)(20.millis)*))
    assertEquals(found, List.fill(12)(0) ++ List.fill(18)(1))

  test("what counts is the time for which the thread has had a processor"):
    val half = computing(looks(_, share = 0.5)(List.fill(30)(20.millis)*))
    assertEquals(half, List.fill(22)(0) ++ List.fill(8)(1))
    assertEquals(computing(looks(_, share = 0)(List.fill(30)(20.millis)*)), List.fill(30)(0))

  test("where the whole JVM stands still between two looks, nobody has spun meanwhile"):
    assertEquals(
      computing(looks(_)(1.minute, 1.minute, 1.minute, 20.millis)),
      List(0, 0, 0, 0)
    )

  test("one that was not there at one of the looks is looked at as if for the first time"):
    computing { thread =>
      val host = hostOn(thread)
      val reported = AtomicInteger()
      val times = HandTimes()
      val spins = Spins(_ => reported.incrementAndGet(): Unit, times)
      def look(hosts: Host*): Unit =
        times.used += 20_000_000
        spins.look(hosts.iterator, 20_000_000): Unit
      for _ <- 1 to 10 do look(host)
      look()
      for _ <- 1 to 10 do look(host)
      assertEquals(reported.get, 0)
      for _ <- 1 to 3 do look(host)
      assertEquals(reported.get, 1)
    }

  test("the time of a virtual thread is that of its carrier, and of one without a carrier none"):
    val times = ProcessorTime()
    val ready, stop = CountDownLatch(1)
    val computes = Thread.ofVirtual().name("a]/b@c").start { () =>
      ready.countDown()
      while stop.getCount > 0 do Thread.onSpinWait()
    }
    await(ready)
    val carrier = times.threadUnder(computes, null).nn
    assert(!carrier.isVirtual && times.threadUnder(computes, carrier).nn.eq(carrier), s"$carrier")
    val before = times.usedNanos(carrier)
    eventually("it has used 20 ms")(times.usedNanos(carrier) - before > 20_000_000)
    stop.countDown()
    val parks = Thread.ofVirtual().start(() => java.util.concurrent.locks.LockSupport.park())
    eventually("it is parked")(parks.getState == Thread.State.WAITING)
    assertEquals(times.threadUnder(parks, null), null)
    java.util.concurrent.locks.LockSupport.unpark(parks)
    assert(times.threadUnder(Thread.currentThread(), null).nn eq Thread.currentThread())

  test("a class initializer that computes is no spin"):
    val found = spins(Task(SlowlyMade.ready).start.flatMap(_.joinOrFail).runSync(): Unit)
    assertEquals(found.map(_.toString), Nil)

  test("what an initializer has called by runSync is looked at all the same"):
    assert(Spins.initializes(Array(line("java.lang.ClassLoader", "loadClass"), line("Main", "f"))))
    assert(Spins.initializes(Array(line("Main", "f"), line("Main$", "<clinit>"))))
    val slice = line("weir.kernel.RunLoop", "runSlice")
    assert(!Spins.initializes(Array(line("Main", "f"), slice, line("Main$", "<clinit>"))))

  private def line(of: String, method: String) = StackTraceElement(of, method, "X.scala", 1)

  test("a report has the user's lines, eight at most, and the fiber's name"):
    val fiber = line("weir", "fiber")
    val library = List.fill(20)(line("java.util.regex.Pattern", "match"))
    val own = (1 to 20).map(i => line("Main", s"f$i"))
    val told = Spins.shortened((library ++ own :+ fiber).toVector)
    assertEquals(told, own.take(7).toVector :+ fiber)
    assertEquals(Spins.shortened((library :+ fiber).toVector), Vector())

  for name <- List("http", "crypto", "regex", "cold") do
    test(s"a user's first program is greeted by no report of a spin: $name"):
      val (output, code) = WeirSuite.child("weir.trace.FirstProgram", s"-Dfirst=$name")
      assertEquals((output, code), (s"done $name\n", 0))

  test("between two looks nobody is kept alive"):
    val spins = Spins(_ => ())
    def seen(): WeakReference[Host] =
      val host = hostOn(Thread.currentThread())
      assert(spins.look(Iterator(host), 20_000_000))
      WeakReference(host)
    val host = seen()
    eventually("collected") {
      System.gc()
      host.get eq null
    }
    assert(!spins.look(Iterator(), 20_000_000))

  test("row 1: a thread that waits for a monitor is no spin, though its own code is on top"):
    val monitor = Object()
    val thread = Thread.ofPlatform().unstarted(() => monitor.synchronized(()))
    val found = monitor.synchronized {
      thread.start()
      eventually("it waits")(thread.getState == Thread.State.BLOCKED)
      assert(!Spins.waits(thread.getStackTrace))
      looks(thread)(List.fill(30)(20.millis)*)
    }
    thread.join()
    assertEquals(found, List.fill(30)(0))

  test("many short steps give way, and are no spin"):
    def round() = spins {
      val end = System.nanoTime() + 500.millis.toNanos
      def steps: Task[Unit] =
        Task(System.nanoTime() < end).flatMap(more => if more then steps else Task.unit)
      steps.start.flatMap(_.join).runSync(): Unit
    }
    // Where the machine takes the carrier's core away for 200 ms, one step has taken as long.
    val rounds = LazyList.continually(round()).take(4)
    assert(rounds.exists(_.isEmpty), rounds.toString)

  test("a task on the thread of its runSync is reported too"):
    val found = spins(Task(spin()).runSync())
    assertEquals(found.size, 1)
    assert(found.head.thread eq Thread.currentThread(), found.head.toString)

  test("each spin of a fiber is reported"):
    val found = spins {
      val twice =
        Task(spin()).andThen(Task.sleep(1.milli)).andThen(Task(spin()))
      twice.start.flatMap(_.join).runSync(): Unit
    }
    assertEquals(found.size, 2)

  test("the watch sleeps when nobody runs, and wakes when somebody does"):
    val runtime = Runtime.make(2, 64)
    val watch = runtime.scheduler.watch
    for _ <- 1 to 2 do
      Task(Thread.sleep(1)).start.flatMap(_.join).runSync()(using runtime): Unit
      assert(!watch.isAsleep)
      eventually("the watch is asleep")(watch.isAsleep)

  /** Until the watch has not looked for 200 ms: ten times as long as while anything gets on, and long before it looks again. */
  private def untilSlow(watch: Watch): Unit =
    var ticks = watch.ticks
    var since = System.nanoTime()
    eventually("the watch looks seldom") {
      val now = watch.ticks
      if now != ticks then
        ticks = now
        since = System.nanoTime()
      System.nanoTime() - since > 200_000_000
    }
    assert(!watch.isAsleep)

  /** `body` on a runtime of its own, once all that runs there has been blocked for long. */
  private def whileBlocked(body: Runtime ?=> Unit): Unit =
    val released = CountDownLatch(1)
    given runtime: Runtime = Runtime.make(2, 64)
    val blocked = Task(released.await()).start.runSync()
    untilSlow(runtime.scheduler.watch)
    body
    released.countDown()
    blocked.join.runSync(): Unit

  test("whoever begins to run brings the watch's clock up to date, also where it looks seldom"):
    whileBlocked {
      val watch = summon[Runtime].scheduler.watch
      val before = Watch.now
      Task.cede.start.flatMap(_.join).runSync(): Unit
      assert(watch.ticks - before >= 0, s"the clock is at ${watch.ticks}, it was $before before")
    }

  test("row 1: what computes is reported also where all else has been blocked for long"):
    def found() =
      reported.clear()
      whileBlocked {
        summon[Runtime].onSpin(spin => reported.add(spin): Unit)
        Task(spin()).start.flatMap(_.join).runSync(): Unit
      }
      reported.size
    assertEquals(found(), 1)

  private final class Here(at: => Thread) extends Host(Runtime.default.scheduler):
    def thread = at
    def pooled = true
    def home = 0

  /** How long it takes until a host is seen that begins in the moment in which the watch asks for the `n`-th time who runs, too late
    * to be told. All others are blocked.
    */
  private def seenAfter(n: Int): FiniteDuration =
    val seen = CountDownLatch(1)
    val blocked = Here(Thread.ofPlatform().unstarted(() => ()))
    val newcomer = Here {
      seen.countDown() // asked for at the second look: the first one finds that it is new
      Thread.ofPlatform().unstarted(() => ())
    }
    var asked = 0
    var running = List(blocked)
    var begun = 0L
    lazy val watch: Watch = Watch(
      () => {
        val told = running
        asked += 1
        if asked == n then
          running = List(blocked, newcomer)
          begun = System.nanoTime()
          watch.wake()
        told.iterator
      },
      Spins(_ => ())
    )
    watch.wake()
    await(seen)
    (System.nanoTime() - begun).nanos

  test("who begins to run just when the watch gets slow is seen at once"):
    for n <- Tuning.idleLooks to Tuning.idleLooks + 2 do
      val rounds = LazyList.continually(seenAfter(n)).take(4)
      assert(rounds.exists(_ < 500.millis), s"begun at look $n: $rounds")

  test(
    "where no thread can be started, those who begin to run go on, and one who comes a second later is watched"
  ):
    val seen = CountDownLatch(1)
    val threads = RefusesFirst()
    val watch = Watch(
      () =>
        seen.countDown()
        Iterator()
      ,
      Spins(_ => ()),
      threads
    )
    watch.wake()
    watch.wake()
    assert(watch.isAsleep)
    assertEquals(threads.asked, 1)
    Thread.sleep(Tuning.threadRetryNanos / 1_000_000 + 10)
    watch.wake()
    await(seen)
    assertEquals(threads.asked, 2)

/** Takes 600 ms to make. */
object SlowlyMade:
  val ready: Boolean =
    val end = System.nanoTime() + 600_000_000
    while System.nanoTime() < end do Thread.onSpinWait()
    true

/** What users write first. */
object FirstProgram:
  def main(args: Array[String]): Unit =
    val name = System.getProperty("first")
    val task = name match
      case "http" => Task(java.net.http.HttpClient.newHttpClient()).void
      case "crypto" =>
        Task {
          java.security.SecureRandom().nextInt(): Unit
          javax.net.ssl.SSLContext.getDefault: Unit
          javax.crypto.Cipher.getInstance("AES/GCM/NoPadding"): Unit
        }
      case "regex" =>
        Task {
          val word = "([a-z]+)-([0-9]+)".r
          val found = (1 to 2000).map(i => s"w-$i").collect { case word(_, n) => BigDecimal(n) }
          val text = found.groupBy(_ % 7).map((k, v) => f"$k%s ${v.sum}%s").mkString(",")
          java.time.LocalDate.parse("2026-01-01").plusDays(text.length): Unit
        }
      case "cold" =>
        Task((1 to 20_000).map(i => s"$i".hashCode.toString.reverse).toSet.size).void
    Task.both(task, task).runSync(): Unit
    task.start.flatMap(_.joinOrFail).runSync()
    println(s"done $name")

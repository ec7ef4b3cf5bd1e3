package weir.runtime

import java.io.{ByteArrayOutputStream, PrintStream}
import java.lang.management.ManagementFactory
import java.lang.ref.WeakReference
import java.util.concurrent.{CompletableFuture, ConcurrentLinkedQueue, CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.{CollectedTests, RefusesFirst, Tier}

class SystemTimersSuite extends CollectedTests:

  override def limit: FiniteDuration = 30.seconds

  private val clock = SystemTimers()

  private class Bell(delay: FiniteDuration, onRing: Bell => Unit = _ => ())
      extends AlarmAfter(clock, delay.toNanos):
    val rung = AtomicInteger()
    @volatile var rungAt = 0L
    def ring(): Unit =
      rungAt = System.nanoTime()
      rung.incrementAndGet(): Unit
      onRing(this)

  test("an alarm rings once, not before its time, and is gone"):
    val timers = SystemTimers()
    val rung = CountDownLatch(1)
    val bell = Bell(20.millis, _ => rung.countDown())
    timers.add(bell)
    assertEquals(timers.size, 1)
    await(rung)
    assert(bell.rungAt >= bell.dueNanos)
    assertEquals((bell.rung.get, timers.size, timers.remove(bell)), (1, 0, false))

  test("an alarm is refused where no thread can be started, and the next one is not"):
    val timers = SystemTimers(RefusesFirst())
    val added =
      try
        timers.add(Bell(1.milli))
        true
      catch case _: OutOfMemoryError => false
    assert(!added)
    assertEquals(timers.size, 0)
    val rung = CountDownLatch(1)
    timers.add(Bell(1.milli, _ => rung.countDown()))
    await(rung)

  /** Runs `body`, and returns the text that is printed to the standard error meanwhile. */
  private def stderr(body: => Unit): String =
    val bytes = ByteArrayOutputStream()
    val err = System.err
    System.setErr(PrintStream(bytes, true))
    try body
    finally System.setErr(err)
    bytes.toString

  test("an alarm that throws is printed, and the others ring"):
    val printed = stderr {
      val timers = SystemTimers()
      val rung = CountDownLatch(2)
      for delay <- List(1.milli, 1.milli, 30.millis) do
        timers.add(Bell(delay, bell => if bell.rung.get == 1 then rung.countDown()))
      timers.add(Bell(1.milli, _ => throw Boom("a test's own")))
      await(rung)
      eventually("all have rung")(timers.size == 0)
    }
    assert(printed.contains("a test's own"), printed)

  test("an alarm that throws what cannot be printed ends no timer"):
    object Unprintable extends RuntimeException("a test's own"):
      override def printStackTrace(to: PrintStream): Unit = throw this
    val timers = SystemTimers()
    val rung = CountDownLatch(1)
    timers.add(Bell(1.milli, _ => throw Unprintable))
    timers.add(Bell(2.millis, _ => rung.countDown()))
    await(rung)

  test("an alarm that has rung or was removed is not kept, though others are set"):
    val timers = SystemTimers()
    for i <- 1 to 3 do timers.add(Bell(i.hours))
    def rung() =
      val rung = CountDownLatch(1)
      val bell = Bell(1.milli, _ => rung.countDown())
      timers.add(bell)
      await(rung)
      WeakReference(bell)
    def removed(delay: FiniteDuration) =
      val bell = Bell(delay)
      timers.add(bell)
      assert(timers.remove(bell))
      WeakReference(bell)
    assertCollected("alarms")(rung(), removed(30.minutes), removed(4.hours))
    assertEquals(timers.size, 3)

  test("alarms ring in the order of their times, whatever the order they were set in"):
    val timers = SystemTimers()
    val compared = (1 to Tier(8, 20)).map { seed =>
      val order = ConcurrentLinkedQueue[Long]()
      val all = CountDownLatch(200)
      val random = scala.util.Random(seed)
      val bells = Vector.fill(200)(
        Bell(
          (5000 + random.nextInt(10_000)).micros,
          bell => { order.add(bell.dueNanos); all.countDown() }
        )
      )
      bells.foreach(timers.add)
      val set = System.nanoTime()
      await(all)
      // Those that were due before the last was set may be in another order.
      val due = order.asScala.toList.filter(_ > set)
      assertEquals(due, due.sorted)
      assert(bells.forall(_.rung.get == 1))
      due.size
    }
    assert(compared.sum > 100, s"only ${compared.sum} were due once all were set")

  test("alarms of the past ring at once, behind none of the future"):
    val timers = SystemTimers()
    timers.add(Bell(1.hour))
    val rung = CountDownLatch(3)
    for delay <- List(-1.hour, Duration.Zero, -1.nano) do
      timers.add(Bell(delay, _ => rung.countDown()))
    await(rung)
    assertEquals(timers.size, 1)

  test("removed alarms never ring, the others keep their order, at any place in the heap"):
    val timers = SystemTimers()
    val random = scala.util.Random(3)
    val counts = (1 to Tier(6, 20)).map { _ =>
      val order = ConcurrentLinkedQueue[Bell]()
      val bells =
        Vector.fill(1000)(Bell(50.millis + random.nextInt(20_000).micros, order.add(_): Unit))
      bells.foreach(timers.add)
      val set = System.nanoTime()
      // On a slow machine, some have rung before.
      val (removed, left) = random.shuffle(bells).splitAt(500) match
        case (some, others) =>
          val (removed, late) = some.partition(timers.remove)
          (removed, late ++ others)
      assert(!removed.exists(timers.remove))
      eventually("the others have rung")(order.size == left.size)
      assertEquals(timers.size, 0)
      assertEquals(removed.map(_.rung.get).sum, 0)
      assert(left.forall(_.rung.get == 1))
      val due = order.asScala.map(_.dueNanos).filter(_ > set).toList
      assertEquals(due, due.sorted)
      (removed.size, due.size)
    }
    assert(counts.map(_._1).sum > 200 && counts.map(_._2).sum > 200, counts.toString)

  test("set and removed by many threads at once, each alarm rings or was removed"):
    val timers = SystemTimers()
    val removed = AtomicInteger()
    val bells = ConcurrentLinkedQueue[Bell]()
    val threads = (1 to 8).map { seed =>
      Thread.ofPlatform().start { () =>
        val random = scala.util.Random(seed)
        for _ <- 1 to 5000 do
          val bell = Bell(random.nextInt(3000).micros)
          bells.add(bell): Unit
          timers.add(bell)
          if random.nextBoolean() && timers.remove(bell) then removed.incrementAndGet(): Unit
      }
    }
    threads.foreach(_.join())
    eventually("all alarms are gone")(
      timers.size == 0 && bells.asScala.map(_.rung.get).sum == 40_000 - removed.get
    )
    assert(bells.asScala.forall(_.rung.get <= 1))

  test("an alarm that is set earlier than all others wakes the thread"):
    val timers = SystemTimers()
    timers.add(Bell(1.hour))
    for _ <- 1 to 50 do
      val rung = CountDownLatch(1)
      timers.add(Bell(1.milli, _ => rung.countDown()))
      await(rung)
    assertEquals(timers.size, 1)

  test("limits of time that are removed in time do not wake the thread, and do not end it"):
    for other <- List(None, Some(3.hours)) do
      val started = ConcurrentLinkedQueue[Thread]()
      val begin = (thread: Thread) =>
        thread.start()
        started.add(thread): Unit
      val timers = SystemTimers(begin, keepAliveNanos = 1.hour.toNanos)
      def setAndRemove(): Unit =
        val bell = Bell(30.seconds)
        timers.add(bell)
        timers.remove(bell): Unit
      other.foreach(delay => timers.add(Bell(delay)))
      setAndRemove()
      eventually("the thread waits")(started.element.getState == Thread.State.TIMED_WAITING)
      def waits() =
        ManagementFactory.getThreadMXBean.getThreadInfo(started.element.threadId).getWaitedCount
      val before = waits()
      for _ <- 1 to 100 do
        setAndRemove()
        Thread.sleep(0, 100_000)
      // It may have looked before the first limit was there, and then is woken for the next.
      val woken = waits() - before
      assert(woken <= 3, s"woken $woken times")
      assertEquals(started.size, 1)
      val rung = CountDownLatch(1)
      timers.add(Bell(1.milli, _ => rung.countDown()))
      await(rung)

  test("row 4: an alarm rings while code that computes holds every carrier"):
    val stop = CountDownLatch(1)
    val hogs = List.fill(Scheduler.carriersOfThisJvm + 1)(
      Thread.startVirtualThread(() => while stop.getCount > 0 do Thread.onSpinWait())
    )
    val rung = CountDownLatch(1)
    try
      SystemTimers().add(Bell(5.millis, _ => rung.countDown()))
      await(rung)
    finally
      stop.countDown()
      hogs.foreach(_.join())

  test("row 4: a timer without alarms gives its thread back, and takes another for the next one"):
    val keepAlive = weir.Tier(200_000_000L, Tuning.timerKeepAliveNanos)
    val timers = SystemTimers(keepAliveNanos = keepAlive)
    def ringer(): Thread =
      val rungBy = CompletableFuture[Thread]()
      timers.add(Bell(1.milli, _ => rungBy.complete(Thread.currentThread()): Unit))
      rungBy.get(10, TimeUnit.SECONDS)
    val first = ringer()
    first.join(keepAlive / 1_000_000 * 3 + 5000)
    assert(!first.isAlive, s"$first is still there")
    assert(ringer() ne first)

  test("a timer keeps its thread for a while after its last alarm"):
    val started = ConcurrentLinkedQueue[Thread]()
    val begin = (thread: Thread) =>
      started.add(thread): Unit
      thread.start()
    val timers = SystemTimers(begin, keepAliveNanos = 1.hour.toNanos)
    for _ <- 1 to 3 do
      val rung = CountDownLatch(1)
      timers.add(Bell(1.milli, _ => rung.countDown()))
      await(rung)
      eventually("its thread waits, or has ended"):
        val state = started.asScala.last.getState
        state == Thread.State.TIMED_WAITING || state == Thread.State.TERMINATED
    assertEquals(started.size, 1)

  test("an alarm that is due after the thread may end rings"):
    val started = ConcurrentLinkedQueue[Thread]()
    val begin = (thread: Thread) =>
      started.add(thread): Unit
      thread.start()
    val keepAlive = 700.millis
    val timers = SystemTimers(begin, keepAliveNanos = keepAlive.toNanos)
    val rung = CountDownLatch(2)
    timers.add(Bell(1.milli, _ => rung.countDown()))
    eventually("it has rung, and waits for its time to end"):
      rung.getCount == 1 && started.element.getState == Thread.State.TIMED_WAITING
    timers.add(Bell(keepAlive + 100.millis, _ => rung.countDown()))
    await(rung)

  test("a million alarms are set and removed within seconds"):
    val timers = SystemTimers()
    val random = scala.util.Random(1)
    val bells = Vector.fill(1_000_000)(Bell(1.hour + random.nextInt().micros))
    val (_, took) = timed {
      bells.foreach(timers.add)
      assertEquals(timers.size, 1_000_000)
      assert(bells.forall(timers.remove))
    }
    assertEquals(timers.size, 0)
    assert(took < 8.seconds, s"took $took")

package weir.runtime

import java.lang.ref.WeakReference
import java.util.concurrent.CountDownLatch
import scala.concurrent.duration.*
import weir.WeirSuite

/** Which slices count as spins, in steps that the test takes by hand. */
class SpinsSuite extends WeirSuite:

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

  /** An execution thread on `thread` that is always in the same slice, of a job. */
  private def slowOn(on: Thread): ExecutionThread =
    val executionThread = new ExecutionThread(Scheduler(1, 64)):
      def thread = on
      def pooled = true
      def preferredShard = 0
    executionThread.running = _ => ()
    executionThread

  /** A thread that looks as if it computed. It never runs, so nothing depends on the machine. */
  private def computing(): Thread =
    new Thread:
      override def getState: Thread.State = Thread.State.RUNNABLE
      override def getStackTrace: Array[StackTraceElement] =
        Array(StackTraceElement("Main", "compute", "Main.scala", 1))

  private final class Counting(exempt: => Boolean = false) extends SpinListener:
    var reported = 0
    def isExempt(stack: Array[StackTraceElement]): Boolean = exempt
    def onSpin(thread: Thread, job: Job, stack: Array[StackTraceElement]): Unit = reported += 1

  /** The processor times, which a test sets. */
  private final class HandTimes extends ProcessorTime:
    var used = 0L
    override def usedNanos(thread: Thread): Long = used

  /** Looks at `thread` as if one slice ran on it all the time. Returns the number of reports after
    * each look. The looks are `apart` from each other, and between two of them the thread has used
    * a processor for that `share` of the time.
    */
  private def looks(at: Thread, share: Double = 1, listener: Counting = Counting())(
      apart: FiniteDuration*
  ): List[Int] =
    val slow = slowOn(at)
    val times = HandTimes()
    val spins = Spins(listener, times)
    apart.toList.map { nanos =>
      times.used += (nanos * share).toNanos
      spins.look(Iterator(slow), nanos.toNanos): Unit
      listener.reported
    }

  test("row 1: a slice is reported when it has been seen for more than 200 ms, and never again"):
    // The first look finds a new slice, the second one begins to count its processor time.
    val found = looks(computing())(List.fill(30)(20.millis)*)
    assertEquals(found, List.fill(12)(0) ++ List.fill(18)(1))

  test("what counts is the time for which the thread has had a processor"):
    val half = looks(computing(), share = 0.5)(List.fill(30)(20.millis)*)
    assertEquals(half, List.fill(22)(0) ++ List.fill(8)(1))
    assertEquals(looks(computing(), share = 0)(List.fill(30)(20.millis)*), List.fill(30)(0))

  test("time with an exempt stack is not counted"):
    var asked = 0
    val exemptUntil = 10
    val listener = Counting(exempt = { asked += 1; asked <= exemptUntil })
    val found = looks(computing(), listener = listener)(List.fill(30)(20.millis)*)
    assertEquals(found, List.fill(12 + exemptUntil)(0) ++ List.fill(18 - exemptUntil)(1))

  test("where the whole JVM stands still between two looks, no time is counted"):
    assertEquals(looks(computing())(1.minute, 1.minute, 1.minute, 20.millis), List(0, 0, 0, 0))

  test("a thread that was not there at one of the looks is looked at as if for the first time"):
    val slow = slowOn(computing())
    val listener = Counting()
    val times = HandTimes()
    val spins = Spins(listener, times)
    def look(threads: ExecutionThread*): Unit =
      times.used += 20_000_000
      spins.look(threads.iterator, 20_000_000): Unit
    for _ <- 1 to 10 do look(slow)
    look()
    for _ <- 1 to 10 do look(slow)
    assertEquals(listener.reported, 0)
    for _ <- 1 to 3 do look(slow)
    assertEquals(listener.reported, 1)

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

  test("between two looks no execution thread is kept alive"):
    val spins = Spins(Counting())
    def seen(): WeakReference[ExecutionThread] =
      val slow = slowOn(computing())
      assert(spins.look(Iterator(slow), 20_000_000))
      WeakReference(slow)
    val slow = seen()
    eventually("collected") {
      System.gc()
      slow.get eq null
    }
    assert(!spins.look(Iterator(), 20_000_000))

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

package weir
package stream

import java.util.concurrent.{CancellationException, ConcurrentHashMap, ConcurrentLinkedQueue}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.Random
import weir.io.Source
import weir.runtime.SystemTimers

/** On which thread `runSync` consumes a stream. */
class RunStreamSuite extends StreamTests:

  /** The threads on which the consumer has run, called from a platform thread. */
  private def consumers(change: Stream[Int] => Stream[Int]): Set[Thread] =
    val seen = ConcurrentHashMap.newKeySet[Thread]()
    val stream = change(Stream.emits(1 to 100))
    onPlatformThread {
      assertEquals(
        stream.evalForeach(_ => Task(seen.add(Thread.currentThread()): Unit)).runSync(),
        ()
      )
    }
    seen.asScala.toSet

  private def onPlatformThread(body: => Unit): Thread =
    var thrown: Throwable | Null = null
    val thread = Thread.ofPlatform().unstarted { () =>
      try body
      catch case error: Throwable => thrown = error
    }
    thread.start()
    thread.join()
    if thrown ne null then throw thrown
    thread

  test("a stream on one fiber runs on the thread that calls runSync"):
    assert(consumers(_.map(_ + 1)).forall(!_.isVirtual))
    assert(consumers(_.flatMap(Stream.emit(_))).forall(!_.isVirtual))

  test("a stream with fibers of its own is consumed by a worker"):
    val changes = List[Stream[Int] => Stream[Int]](
      _.prefetchN(4),
      _.prefetchStrict,
      _.parEvalMap(4)(Task.pure(_)),
      _.merge(Stream.empty),
      _.groupWithin(3, 1.second).map(_.head),
      _.groupWeightedWithin(3, 1.second)(_ => 1).map(_.head),
      _.broadcastThrough(identity),
      _.prefetchN(4).map(_ + 1).filter(_ > 3),
      _.prefetchN(4).zip(Stream.emits(1 to 100)).map(_._1),
      _.prefetchN(4).flatMap(Stream.emit(_)),
      _.prefetchN(4).handleErrorWith(_ => Stream.empty) ++ Stream.emit(1)
    )
    changes.foreach(change => assert(consumers(change).forall(_.isVirtual)))

  /** Ends after a moment, on another thread. */
  private val wait: Task[Unit] = Task.async[Unit] { done =>
    Thread.startVirtualThread(() => done(Right(()))): Unit
  }

  /** The threads on which the functions of `evalMap` ran, called from a platform thread. */
  private def waiting(elements: Int)(run: Task[Any] => Task[Any]): List[Thread] =
    val seen = ConcurrentLinkedQueue[Thread]()
    onPlatformThread {
      val stream = Stream.range(0, elements).evalMap { i =>
        seen.add(Thread.currentThread())
        if i == 1 then waitFor(wait) else Task.pure(i)
      }
      assertEquals(run(stream.fold(0)((n, _) => n + 1)).runSync(), elements)
    }: Unit
    seen.asScala.toList

  /** Waits so long that the fiber has certainly parked its thread. */
  private def waitFor(task: Task[Unit]): Task[Int] = Task.async[Int] { done =>
    val parked = Thread.currentThread()
    Thread.startVirtualThread { () =>
      while parked.getState == Thread.State.RUNNABLE do Thread.sleep(1)
      task.runSync()
      done(Right(0))
    }: Unit
  }

  test("the calling thread leaves a stream to a worker after the element at which it has waited"):
    assertEquals(waiting(5)(identity).map(_.isVirtual), List(false, false, true, true, true))

  test("as well a stream that is opened so often that its loop is one class, but the first time"):
    val runs = List.fill(100)(waiting(4)(identity).map(_.isVirtual))
    assertEquals(runs.count(_ == List(false, false, false, false)), 1)
    assertEquals(runs.count(_ == List(false, false, true, true)), 99)

  test("a stream inside of an effect does not hide that the effect has waited before"):
    def run(): List[Boolean] =
      val virtual = ConcurrentLinkedQueue[Boolean]()
      onPlatformThread {
        val stream = Stream.range(0, 4).evalMap { i =>
          virtual.add(Thread.currentThread().isVirtual)
          val inner = Stream.emits(1 to 3).map(_ + i).count
          if i == 1 then waitFor(wait).andThen(inner) else inner
        }
        stream.drain.runSync()
      }: Unit
      virtual.asScala.toList
    val runs = List.fill(100)(run())
    assertEquals(runs.count(_ == List(false, false, false, false)), 1)
    assertEquals(runs.count(_ == List(false, false, true, true)), 99)

  test("a shape whose latest run has not waited is opened with its end again"):
    def runs(waits: Boolean): Stream[Int] =
      Stream.range(0, 4).evalMap(i => if waits && i == 1 then waitFor(wait) else Task.pure(i))
    def isMarked: Boolean = runs(false).openUntil(Step.Drain()) match
      case fused: FusedPull => fused.parksCaller
      case _ => false
    def run(waits: Boolean): Boolean =
      onPlatformThread(runs(waits).drain.runSync()): Unit
      isMarked
    for _ <- 1 to 100 do run(waits = false)
    assertEquals(
      List(true, true, false, false, true).map(run),
      List(true, true, false, false, true)
    )

  test("a stream that cannot be left to a worker goes on here, and is closed"):
    val scheduler = RefusingScheduler()
    given WeirRuntime = WeirRuntime(scheduler, SystemTimers(), null)
    val closed = AtomicInteger()
    val wait = Task.async[Int] { done =>
      val parked = Thread.currentThread()
      Thread.startVirtualThread { () =>
        while parked.getState == Thread.State.RUNNABLE do Thread.sleep(1)
        scheduler.refuseAfter(0)
        done(Right(0))
      }: Unit
    }
    val virtual = ConcurrentLinkedQueue[Boolean]()
    onPlatformThread {
      val stream = Stream
        .range(0, 3)
        .evalMap { i =>
          virtual.add(Thread.currentThread().isVirtual)
          if i == 0 then wait else Task.sleep(1.micro).as(i)
        }
        .onFinalize(Task(closed.incrementAndGet(): Unit))
      assertEquals(stream.toList.runSync(), List(0, 1, 2))
    }: Unit
    assertEquals((virtual.asScala.toList, closed.get), (List(false, false, false), 1))

  test("code of a Task.direct cannot leave the calling thread, nor can a stream in it"):
    val threads = waiting(5)(task => Task.direct(task.await))
    assert(threads.forall(!_.isVirtual), threads)

  test("a stream that has ended with the element at which it has waited has its result"):
    assertEquals(waiting(2)(identity).map(_.isVirtual), List(false, false))

  test("an error after the calling thread was left closes the stream once, with that error"):
    val closed = AtomicInteger()
    val error = IllegalStateException("one")
    onPlatformThread {
      val stream = Stream
        .range(0, 5)
        .evalMap(i => if i == 0 then waitFor(wait) else Task.fail(error))
        .onFinalize(Task(closed.incrementAndGet(): Unit))
      assertEquals(intercept[IllegalStateException](stream.drain.runSync()), error)
    }: Unit
    assertEquals(closed.get, 1)

  test("a cancel that comes before the calling thread is left closes the stream once"):
    val closed, begun = AtomicInteger()
    @volatile var outcome: Option[Outcome[Unit]] = None
    onPlatformThread {
      val stream = Stream
        .range(0, 5)
        .evalMap { _ =>
          begun.incrementAndGet()
          Task.uncancelable(_ => waitFor(wait).andThen(Task.canceled))
        }
        .onFinalize(Task(closed.incrementAndGet(): Unit))
      val task = stream.drain.guaranteeCase(how => Task { outcome = Some(how) })
      intercept[CancellationException](task.runSync()): Unit
    }: Unit
    assertEquals(outcome, Some(Outcome.Canceled))
    assertEquals((begun.get, closed.get), (1, 1))

  test("a source whose code catches the signal of a cancel is closed once"):
    val closed = AtomicInteger()
    val interrupting = Task.async[Int] { _ =>
      val parked = Thread.currentThread()
      Thread.startVirtualThread { () =>
        while parked.getState == Thread.State.RUNNABLE do Thread.sleep(1)
        parked.interrupt()
      }: Unit
    }
    final class Catching extends Source[Int]:
      private var isFirst = true
      def next()(using Task.Direct): Int | Source.End =
        if !isFirst then Source.End
        else
          isFirst = false
          try interrupting.await
          catch case _: Throwable => 0
      override def close()(using Task.Direct): Unit = closed.incrementAndGet(): Unit
    onPlatformThread {
      val stream = Stream.fromSource(Task(Catching()))
      try stream.drain.runSync()
      catch case _: InterruptedException => ()
    }: Unit
    assertEquals(closed.get, 1)

  test("an error has the same lines after the calling thread was left as before"):
    def lines(failing: Int): List[(String, Int)] =
      var found = List.empty[(String, Int)]
      onPlatformThread {
        val stream = Stream.range(0, 5).map(_ + 1).evalMap { i =>
          if i == failing then throw IllegalStateException("failing")
          if i == 1 then waitFor(wait) else Task.pure(i)
        }
        val task = Task.unit.flatMap(_ => stream.fold(0)(_ + _)).map(_ + 1)
        val trace = intercept[IllegalStateException](task.runSync()).getStackTrace.toList
        val ofFiber = trace.takeWhile(_.getMethodName != "fiber")
        found = ofFiber.map(line => (line.getMethodName, line.getLineNumber))
      }: Unit
      found
    assertEquals(lines(failing = 3), lines(failing = 1))

  test("a cancel at any time closes a stream that leaves the calling thread once"):
    val seed = Tier.seed("weir.stress.seed")
    println(s"RunStreamSuite: -Dweir.stress.seed=$seed")
    val random = Random(seed)
    for _ <- 1 to Tier(200, 5000) do
      val closed, used = AtomicInteger()
      val at = random.nextInt(12)
      onPlatformThread {
        val caller = Thread.currentThread()
        val stream = Stream
          .range(0, 10)
          .evalMap { i =>
            if i == at then caller.interrupt()
            used.incrementAndGet()
            if i % 3 == 1 then wait else Task.unit
          }
          .onFinalize(Task(closed.incrementAndGet(): Unit))
        try stream.drain.runSync()
        catch case _: InterruptedException => ()
      }: Unit
      assertEquals(closed.get, 1)
      if at > 9 then assertEquals(used.get, 10)

  test("an interrupt of the thread that called runSync cancels the stream that a worker consumes"):
    @volatile var outcome: Option[Outcome[Unit]] = None
    onPlatformThread {
      val caller = Thread.currentThread()
      val endless = Stream.repeatEval(Task.unit).prefetchN(4).evalMap(_ => Task(caller.interrupt()))
      val task = endless.drain.guaranteeCase(how => Task { outcome = Some(how) })
      try
        task.runSync()
        fail("not cancelled")
      catch case _: InterruptedException => ()
    }: Unit
    assertEquals(outcome, Some(Outcome.Canceled))

package weir
package stream

import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.runtime.{Job, Scheduler, SystemTimers}
import weir.testkit.TestRuntime

class ParEvalMapSuite extends munit.ScalaCheckSuite, StreamTests:

  private type Run = (Stream[Int], Int, Int) => (Int => Task[Int]) => Stream[Int]
  private val both = List[(String, Run)](
    "parEvalMap" -> ((s, n, b) => f => s.parEvalMap(n, b)(f)),
    "parEvalMapUnordered" -> ((s, n, b) => f => s.parEvalMapUnordered(n, b)(f))
  )

  private val endless: Stream[Int] = Stream.unfold(0)(i => Some((i, i + 1)))

  private def work(kind: Int): Task[Unit] = kind match
    case 0 => Task.unit
    case 1 => Task.cede
    case 2 => Task.sleep(50.micros)
    case _ => Task(Thread.`yield`())

  private val kinds = Gen.choose(0, 60).flatMap(n => Gen.listOfN(n, Gen.choose(0, 3)))

  // First, since without the runners that the stage requests all others hang.
  for (name, run) <- both do
    test(s"$name: elements follow each other, however many runners and places there are"):
      for n <- List(1, 2, 5); buffer <- List(0, 1, 8) do
        val result = TestRuntime.run(run(Stream.emits(0 until 40), n, buffer)(Task.pure).toList)
        assertEquals(result.sorted, List.range(0, 40))

    test(s"$name: as many effects as are allowed wait for each other"):
      for n <- List(2, 5) do
        val crowd = Crowd(n)
        val meeting = run(Stream.emits(0 until 3 * n), n, 0)(i => crowd.meet(false).as(i))
        TestRuntime.run(meeting.drain)
        assertEquals((crowd.peak, crowd.now), (n, 0))

    test(s"$name: upstream has its own locals, and an effect has those of its element"):
      for n <- List(1, 3) do
        val local = TaskLocal.unsafe(0)
        val counted = Stream.repeatEval(local.modify(i => (i + 1, i + 1))).take(9)
        val stream = run(counted, n, 4) { i =>
          local.get.flatMap(seen => local.set(100).as(if seen == i then i else -seen))
        }
        assertEquals(TestRuntime.run(stream.toList).sorted, List.range(1, 10))

  for n <- List(2, 4); buffer <- List(0, 8, 64); head <- List(0, 1, 15) do
    test(s"while element $head takes long, all room is used, and no more, $n and $buffer"):
      val gate = Deferred.unsafe[Unit]
      val pulled, finished = AtomicInteger()
      val stream = endless.map(i => { pulled.incrementAndGet(); i }).parEvalMap(n, buffer) { i =>
        (if i == head then gate.get else Task(finished.incrementAndGet())).as(i)
      }
      val runtime = TestRuntime()
      try
        val test = runtime.start(stream.take(200).toList)
        runtime.awaitQuiet()
        assertEquals((pulled.get, finished.get), (head + n + buffer, head + n + buffer - 1))
        val rest = gate.complete(()).andThen(test.fiber.joinOrFail)
        assertEquals(runtime.run(rest), List.range(0, 200))
      finally runtime.close()

  property("the order is that of the elements, however long each takes") {
    forAll(kinds, Gen.choose(1, 9), Gen.choose(0, 9)) { (kinds, n, buffer) =>
      val stream = Stream.emits(kinds.zipWithIndex)
      val result = stream.parEvalMap(n, buffer)((kind, i) => work(kind).as(i)).toList.runSync()
      assertEquals(result, kinds.indices.toList)
      val any = stream.parEvalMapUnordered(n, buffer)((kind, i) => work(kind).as(i))
      assertEquals(any.toList.runSync().sorted, kinds.indices.toList)
    }
  }

  property("chunks upstream change neither the results nor how many effects run") {
    forAll(kinds, Gen.choose(1, 20)) { (kinds, size) =>
      val runs = AtomicInteger()
      val chunked = Stream.emits(kinds).chunkN(size).flatMap(Stream.emits)
      val result =
        chunked.parEvalMap(3, 2)(k => Task(runs.incrementAndGet()).as(k)).toList.runSync()
      assertEquals((result, runs.get), (kinds, kinds.size))
    }
  }

  test("unordered, the order is that in which the tasks end"):
    val gates = Array.fill(4)(Deferred.unsafe[Unit])
    val stream = Stream.emits(0 to 3).parEvalMapUnordered(4)(i => gates(i).get.as(i))
    val order = List(2, 0, 3, 1)
    val opened =
      stream.scan(-1)((at, i) => if i == order(at + 1) then at + 1 else -9).evalTap { at =>
        if at < 3 then gates(order(at + 1)).complete(()) else Task.unit
      }
    assertEquals(opened.toList.runSync(), List(-1, 0, 1, 2, 3))

  for
    (name, run) <- both
    n <- List(1, 2, 16, 64, 1000)
    buffer <- List(0, 1, 64)
  do
    test(s"$name: $n are in flight, never more, with a buffer of $buffer"):
      for blocking <- List(false, true) do
        val crowd = Crowd(n)
        run(Stream.emits(0 until 3 * n), n, buffer)(i => crowd.meet(blocking).as(i)).drain.runSync()
        assertEquals((crowd.peak, crowd.now), (n, 0), s"blocking: $blocking")

  for n <- List(2, 4, 16); buffer <- List(0, 1, 8, 64) do
    test(
      s"while the head takes long, $buffer after it finish, and the source is not run away with, $n"
    ):
      val gate = Deferred.unsafe[Unit]
      val pulled, finished = AtomicInteger()
      val stream = endless
        .map(i => { pulled.incrementAndGet(); i })
        .parEvalMap(n, buffer) { i =>
          (if i == 0 then gate.get else Task(finished.incrementAndGet())).as(i)
        }
      val fiber = stream.take(200).toList.start.runSync()
      val ended = steady(buffer)(finished.get)
      assert(ended <= buffer + n, s"$ended finished")
      assert(pulled.get <= buffer + n + 1, s"${pulled.get} pulled")
      gate.complete(()).runSync(): Unit
      assertEquals(fiber.joinOrFail.runSync(), List.range(0, 200))

  for (name, run) <- both do
    test(s"$name: a consumer that waits bounds how many effects run"):
      val ran = AtomicInteger()
      val stream = run(endless, 4, 8)(_ => Task(ran.incrementAndGet()))
      val fiber = stream.evalMap(_ => Task.never).drain.start.runSync()
      val count = steady(8)(ran.get)
      assert(count <= 1 + 8 + 4, s"$count ran")
      fiber.cancel.runSync()

    test(s"$name: a failed effect cancels the others at once, and is the one thrown"):
      for wait <- List(Task.never, Task(Thread.sleep(3_600_000)), Task.cede.forever) do
        val boom = Boom()
        val begun = CountDownLatch(3)
        val released = AtomicInteger()
        val stream = run(endless, 4, 8) { i =>
          if i == 3 then Task(begun.await()).andThen(Task.fail(boom))
          else
            Task(begun.countDown())
              .andThen(wait)
              .guarantee(Task.cede.andThen(Task(released.incrementAndGet()).void))
              .as(i)
        }
        val result = stream.drain.attempt.map(result => (result, released.get)).runSync()
        assertEquals(result, (Left(boom), 3))
        assertEquals(boom.getSuppressed.toList, Nil)

    test(s"$name: a failure after the first is suppressed under it"):
      val first, second = Boom()
      val begun = CountDownLatch(2)
      val stopped = CountDownLatch(1)
      val stream = run(Stream.emits(0 to 2), 3, 8) {
        case 0 => Task(begun.await()).andThen(Task.fail(first))
        case 1 =>
          Task.uncancelable(_ =>
            Task(begun.countDown()).andThen(Task(stopped.await())).andThen(Task.fail(second))
          )
        case _ =>
          Task(begun.countDown()).andThen(Task.never).onCancel(Task(stopped.countDown()))
      }
      assertEquals(stream.drain.attempt.runSync(), Left(first))
      assertEquals(first.getSuppressed.toList, List(second))

    test(s"$name: an error of the source comes after the elements before it"):
      val boom = Boom()
      val gate = Deferred.unsafe[Unit]
      val failing = Stream.eval(gate.complete(())).flatMap(_ => Stream.fail(boom))
      val stream =
        run(Stream.emits(0 to 4) ++ failing, 16, 16)(i => gate.get.andThen(Task.cede).as(i))
      val result = seen(stream).runSync()
      assertEquals(result.last, boom)
      assertEquals(result.init.map(_.toString).sorted, List("0", "1", "2", "3", "4"))

    test(s"$name: an error of a function is that of its element"):
      val boom = Boom()
      val stream = run(Stream.emits(0 to 9), 1, 4)(i => if i == 5 then throw boom else Task.pure(i))
      assertEquals(seen(stream).runSync().last, boom)

    test(s"$name: each effect ends before the resource upstream is released"):
      val log = ConcurrentLinkedQueue[String]()
      val source =
        Stream.bracket(Task.unit)(_ => Task(log.add("release")).void).flatMap(_ => endless)
      val stream = run(source, 8, 8)(i => Task.cede.as(i).guarantee(Task(log.add("use")).void))
      for _ <- 1 to 50 do
        log.clear()
        stream.take(3).drain.runSync()
        val lines = log.asScala.toList
        assertEquals(lines.indexOf("release"), lines.size - 1, lines.toString)

    test(s"$name: very many elements leave nothing behind"):
      val many = Tier(100_000L, 500_000L)
      val stream = run(endless, 2, 64)(Task.pure).take(many)
      val grown = growth(assertEquals(stream.count.runSync(), many))
      assert(grown < megabyte, s"grew by $grown bytes")

  test("a slow head of parEvalMap(n, buffer) does not stall the rest"):
    for parallelism <- List(2, 4); buffer <- List(1, 16, 64) do
      val finished = AtomicInteger()
      val finishedBeforeHead = AtomicInteger(-1)
      def f(i: Int) =
        if i == 0 then
          Task.sleep(1.second).andThen(Task(finishedBeforeHead.set(finished.get))).as(i)
        else Task.sleep(1.milli).andThen(Task(finished.incrementAndGet())).as(i)
      val all = (0 to 200).toList
      val got = TestRuntime.run(Stream.emits(all).parEvalMap(parallelism, buffer)(f).toList)
      assertEquals(got, all)
      val early = finishedBeforeHead.get
      val clue = s"$early with a buffer of $buffer and $parallelism at a time"
      assert(early >= buffer && early <= buffer + parallelism, clue)

  test("what has ended is delivered, though the next element never comes"):
    for (_, parEvalMap) <- both do
      val gate = Deferred.unsafe[Unit]
      val begun, delivered = CountDownLatch(1)
      val source = Stream.emit(1) ++ Stream.never
      val results = parEvalMap(source, 1, 1)(i => Task(begun.countDown()).andThen(gate.get.as(i)))
      val fiber = results.evalMap(_ => Task(delivered.countDown())).drain.start.runSync()
      await(begun)
      eventually("the consumer waits"):
        fiber match { case core: weir.fiber.FiberCore => core.suspendedIn ne null }
      gate.complete(()).runSync(): Unit
      await(delivered)
      fiber.cancel.runSync()

  test("close waits for a runner that is queued and has not begun"):
    val holds, closed = AtomicBoolean()
    val held = AtomicReference[Job | Null](null)
    var consumer: weir.fiber.TaskFiber | Null = null
    val scheduler = new Scheduler(2, 4):
      override def submit(job: Job, preferredShard: Int): Unit =
        if holds.getAndSet(false) then
          held.set(job)
          consumer.nn.requestCancel()
        else super.submit(job, preferredShard)
    given WeirRuntime = WeirRuntime(scheduler, SystemTimers(), null)
    val stream = endless.onFinalize(Task(closed.set(true))).parEvalMap(2)(Task.pure).drain
    val consuming = weir.fiber.DirectCode { fiber =>
      consumer = fiber
      holds.set(true)
      fiber.await(stream)
    }
    val fiber = consuming.start.runSync()
    def waitsMasked =
      val wait = if held.get eq null then null else consumer.nn.suspendedIn
      (wait ne null) && !wait.nn.cancelable
    eventually("it waits for the runner")(waitsMasked || ended(fiber))
    assert(!closed.get)
    scheduler.submit(held.get.nn)
    assertEquals(fiber.join.runSync(), Outcome.Canceled)
    assert(closed.get)

  test("parEvalMapUnordered: a drain gets the end alone, once every effect has ended"):
    for n <- List(1, 3) do
      val ended = AtomicInteger()
      val stream = Stream.emits(1 to 20).parEvalMapUnordered(n, 0) { i =>
        work(i % 4).flatMap(_ => Task(ended.incrementAndGet()))
      }
      val first = weir.fiber.DirectCode { fiber =>
        val pull = stream.open()
        pull.discard()
        Pull.closing(pull, fiber)(Pull.isEnd(pull.next(fiber)) -> ended.get)
      }
      assertEquals(TestRuntime.run(first), (true, 20))

  test("parEvalMapUnordered: a drain fails with the error of an effect, and with that of upstream"):
    val boom = RuntimeException("boom")
    for n <- List(1, 2) do
      val effects = Stream.emits(1 to 9).parEvalMapUnordered(n, 0) { i =>
        Task.cede >> (if i == 5 then Task.fail(boom) else Task.unit)
      }
      assertEquals(TestRuntime.run(effects.drain.attempt), Left(boom))
      val ended = AtomicInteger()
      val source = (Stream.emits(1 to 4) ++ Stream.fail(boom)).parEvalMapUnordered(n, 0) { _ =>
        Task.cede >> Task(ended.incrementAndGet())
      }
      assertEquals(TestRuntime.run(source.drain.attempt), Left(boom))
      assertEquals(ended.get, 4)

  test("a buffer without a limit holds nothing up"):
    for parallelism <- List(1, 2, Int.MaxValue) do
      val stream = Stream.emits(1 to 100)
      assertEquals(
        stream.parEvalMap(parallelism, Int.MaxValue)(Task.pure).toList.runSync(),
        (1 to 100).toList
      )
      assertEquals(
        stream.parEvalMapUnordered(parallelism, Int.MaxValue)(Task.pure).toList.runSync().toSet,
        (1 to 100).toSet
      )

  for (name, run) <- both; refused <- List(0, 1, 3) do
    test(s"$name: a runner that gets no fiber, after $refused elements, fails the stream"):
      val scheduler = RefusingScheduler()
      given WeirRuntime = WeirRuntime(scheduler, SystemTimers(), null)
      val elements = Stream.emits(1 to 9).map { i =>
        if i == refused then scheduler.refuseAfter(0)
        i
      }
      val begin = Task { if refused == 0 then scheduler.refuseAfter(0) }
      val result = begin >> run(elements, 4, 4)(i => Task.sleep(1.milli).as(i)).drain.attempt
      result.start.flatMap(_.joinOrFail).runSync() match
        case Left(_: RefusingScheduler.Refused) => ()
        case other => fail(s"$other")

package weir
package stream

import java.util.concurrent.TimeoutException
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.std.{CountDownLatch, Signal, Topic}
import weir.testkit.TestRuntime

/** The claims of the regression tests of fs2's concurrent operators, about the same operators here.
  *
  * The cases are those of typelevel/fs2 (MIT licence, copyright 2013 Functional Streams for Scala),
  * core/shared/src/test/scala/fs2: StreamConcurrently, StreamParJoin, StreamInterrupt, StreamMerge,
  * StreamSwitchMap, ParEvalMap, StreamCombinators, and concurrent/Topic, Signal, Broadcast, each
  * named before the fact, with the number of the issue if there is one. Cases that end an effect
  * downstream of the operator are left out: there, an interruption goes downwards too.
  */
class Fs2CasesSuite extends StreamTests:
  private val repeats = Tier(5, 100)
  private val some = List(Nil, List(1), (1 to 20).toList)

  /** Two runtimes, one of them with a single carrier. */
  private def everywhere(body: WeirRuntime ?=> Unit): Unit =
    body(using WeirRuntime.default)
    body(using smallRuntime(1))

  private def smallRuntime(carriers: Int): WeirRuntime = WeirRuntime.make(carriers, 4)

  private def delayed[A](stream: Stream[A], by: FiniteDuration): Stream[A] =
    Stream.exec(Task.sleep(by)) ++ stream

  // ---- concurrently ----

  test("concurrently: the stream goes on when that beside it has ended"):
    for items <- some do
      val stream = delayed(Stream.emits(items), 25.millis).concurrently(Stream(1, 2))
      assertEquals(TestRuntime.run(stream.toList), items)

  test("concurrently: it fails when that beside it does, also while it hangs"):
    val boom = Boom()
    for items <- some do
      val failing = delayed(Stream.emits(items), 25.millis).concurrently(Stream.fail(boom))
      assertEquals(TestRuntime.run(failing.drain.attempt), Left(boom))
      val hung = (Stream.emits(items) ++ Stream.never).concurrently(Stream.fail(boom))
      assertEquals(TestRuntime.run(hung.drain.attempt), Left(boom))

  test("concurrently: when it ends or fails, that beside it has been closed before it is"):
    for ends <- List(Stream(1, 2), Stream.empty, Stream.fail(Boom())) do
      TestRuntime.forAllSeeds(repeats) {
        val begun, closed = AtomicInteger()
        val beside = Stream
          .bracket(Task(begun.incrementAndGet()))(_ =>
            Task.sleep(1.milli).andThen(Task(closed.incrementAndGet()).void)
          )
          .flatMap(_ => Stream.repeatEval(Task.sleep(50.millis)))
        delayed(ends, 25.millis)
          .concurrently(beside)
          .onFinalize(Task(assertEquals(closed.get, 1)))
          .drain
          .attempt
          .map(_ => assertEquals((begun.get, closed.get), (1, 1)))
      }

  test("concurrently: the finalizer of that beside it, which fails, is before the outer one"):
    for items <- some do
      TestRuntime.forAllSeeds(repeats) {
        val log = Log()
        val halt = Deferred.unsafe[Unit]
        val beside = Stream
          .bracket(log("+inner"))(_ =>
            Task.sleep(100.millis).andThen(log("inner")).andThen(Task.fail(Boom()))
          )
          .flatMap(_ => Stream.exec(halt.complete(())))
        Stream
          .bracket(Task.unit)(_ => log("outer"))
          .flatMap(_ => Stream.emits(items).concurrently(beside))
          .interruptWhen(halt.get)
          .drain
          .attempt
          .map { _ =>
            val began = log.lines.contains("+inner")
            val expected = if began then List("inner", "outer") else List("outer")
            assertEquals(log.lines.filter(_ != "+inner"), expected)
          }
      }

  test("concurrently (2197): errors of a prefetch are handled, however many"):
    val iterations = Tier(200, 1000)
    val done = Deferred.unsafe[Unit]
    val errors = AtomicInteger()
    val handled = Task(errors.incrementAndGet()).flatMap(n =>
      if n < iterations then Task.unit else done.complete(()).void
    )
    Stream
      .constant(Stream(()) ++ Stream.fail(Boom()))
      .flatMap(_.prefetchN(1).handleErrorWith(_ => Stream.eval(handled)).flatMap(_ => Stream.empty))
      .interruptWhen(done.get)
      .drain
      .runSync()
    assert(errors.get >= iterations)

  // ---- parJoin, merge ----

  test("parJoin: a resource of the outer stream is open while inner streams use it"):
    everywhere {
      val closed = java.util.concurrent.atomic.AtomicBoolean()
      val outer = Stream.bracket(Task.unit)(_ => Task(closed.set(true))).map { _ =>
        Stream
          .repeatEval(Task(closed.get))
          .take(Tier(1_000, 10_000))
          .evalTap(c => if c then Task.fail(Boom()) else Task.unit)
      }
      outer.parJoinUnbounded.drain.runSync()
    }

  for (name, join) <- List[(String, (Stream[Int], Stream[Int]) => Stream[Int])](
      "parJoin" -> ((a, b) => Stream(a, b).parJoinUnbounded),
      "merge" -> (_.merge(_)),
      "mergePreferred" -> (_.mergePreferred(_)),
      "mergeHaltBoth" -> (_.mergeHaltBoth(_))
    )
  do
    test(s"$name: finalizers of inner streams first, and the error of one of them is thrown"):
      val boom = Boom()
      for items <- some; slow <- 0 to 1 do
        TestRuntime.forAllSeeds(Tier(3, 50)) {
          val log = Log()
          def inner(index: Int, body: Stream[Int]): Stream[Int] =
            Stream
              .bracket(log(s"+$index"))(_ =>
                if index != slow then log(s"-$index")
                else Task.sleep(100.millis).andThen(log(s"-$index")).andThen(Task.fail(boom))
              )
              .flatMap(_ => body)
          Stream
            .bracket(Task.unit)(_ => log("outer"))
            .flatMap(_ => join(inner(0, Stream.emits(items)), inner(1, Stream.empty)))
            .drain
            .attempt
            .map { result =>
              val began = log.lines.collect { case s"+$index" => index }
              assertEquals(log.lines.collect { case s"-$index" => index }.toSet, began.toSet)
              assertEquals(log.lines.last, "outer")
              val fails = began.contains(s"$slow")
              // A side that `mergeHaltBoth` has cancelled has its error reported.
              if fails && name == "mergeHaltBoth" then assert(result.left.forall(_ eq boom))
              else assertEquals(result, if fails then Left(boom) else Right(()))
            }
        }

    test(s"$name: streams that are full, hang or drain for ever do not keep back an element"):
      everywhere {
        val full = Stream.constant(42)
        val hangs =
          List[Stream[Int]](
            Stream.never,
            full.filter(_ => false),
            Stream
              .repeatEval(Task.async[Unit](wake => wake(Right(()))).andThen(Task.cede))
              .as(0)
              .filter(_ != 0)
          )
        for hang <- hangs do
          assertEquals(join(full, hang).take(1).toList.runSync(), List(42))
          assertEquals(join(hang, full).take(1).toList.runSync(), List(42))
      }

  test("parJoin: an inner stream that fails ends one that sleeps, and comes before what follows"):
    val boom = Boom()
    val slow = Stream(Stream.sleep(1.minute), Stream.fail(boom)).parJoinUnbounded
    assertEquals(TestRuntime.timed(slow.drain.attempt), (0.nanos, Left(boom)))
    val followed = Stream.emit(Stream.fail(boom)).parJoinUnbounded ++ Stream.emit(1)
    assertEquals(TestRuntime.run(followed.drain.attempt), Left(boom))

  test("parJoin: an error goes through several of them"):
    val boom = Boom()
    val stream = Stream
      .range(1, 64)
      .map(i => Stream.eval(if i == 7 then Task.fail(boom) else Task.unit))
      .parJoin(4)
      .map(_ => Stream.eval(Task.unit))
      .parJoin(4)
    for _ <- 1 to repeats do assertEquals(stream.drain.attempt.runSync(), Left(boom))

  test("merge (3598): what comes within the time comes from all, through parEvalMap on the rest"):
    val source = Stream(1, 2).evalTap(_ => Task.sleep(100.millis)) ++ Stream.never
    val ticks = Stream.awakeEvery(50.millis).as(-1)
    val sources = ticks.as(-2).mergeHaltBoth(source.mergeHaltBoth(ticks))
    val all = Stream
      .resource(sources.uncons)
      .flatMap {
        case None => Stream.empty
        case Some((head, tail)) => Stream.emit(head) ++ tail.parEvalMap(3)(Task.pure)
      }
      .interruptWhen(Task.sleep(230.millis))
    val got = TestRuntime.run(all.toList)
    assertEquals(List(1, 2, -1, -2).map(i => got.count(_ == i)), List(1, 1, 4, 4))

  test("merge: comes through while inner streams that do not end are being joined"):
    val source = (Stream.emit(1) ++ delayed(Stream.emit(2), 50.millis)).merge(Stream.never)
    val joined = source.map(a => Stream.emit(a) ++ Stream.never).parJoinUnbounded
    val got = TestRuntime.run(seen(joined.idleTimeout(200.millis)))
    assertEquals(got.take(2), List(1, 2))
    assert(got(2).isInstanceOf[TimeoutException], got)

  // ---- interruptWhen ----

  test(
    "interruptWhen: ends a hung effect, also where the interrupting stream hangs after its true"
  ):
    for items <- some.tail do
      val hung = Stream.emits(items).evalMap(_ => Task.never)
      assertEquals(TestRuntime.run(hung.interruptWhen(Task.sleep(50.millis)).toList), Nil)
      val hangs = Stream.emit(true) ++ Stream.never
      assertEquals(TestRuntime.run(hung.interruptWhenTrue(hangs).toList), Nil)

  private def forever(i: Int): Stream[Int] =
    Stream.emit(i).flatMap(i => Stream.emit(i) ++ forever(i + 1))
  private def silent: Stream[Nothing] = Stream.eval(Task.unit).flatMap(_ => silent)
  private def pureSilent: Stream[Nothing] = Stream.emit(()).flatMap(_ => pureSilent)

  for (name, stream) <- List[(String, Stream[Any])](
      "constant" -> Stream.constant(true),
      "constant, flat mapped" -> Stream.constant(true).flatMap(_ => Stream.emit(1)),
      "recursive" -> forever(0),
      "recursive, without an element" -> silent,
      "recursive, without an element or an effect" -> pureSilent,
      "of effects" -> Stream.repeatEval(Task.unit),
      "constant, dropped" -> Stream.constant(true).dropWhile(identity)
    )
  do
    test(s"interruptWhen: ends an endless stream, $name"):
      everywhere {
        for _ <- 1 to Tier(2, 25) do
          stream.interruptWhen(Task.sleep(5.millis)).drain.runSync()
          stream.interruptWhen(Task.unit).drain.runSync()
      }

  test("interruptWhenTrue: a stream that is always false, and one that hangs, change nothing"):
    everywhere {
      for items <- some do
        val falses = Stream.constant(false)
        assertEquals(Stream.emits(items).interruptWhenTrue(falses).toList.runSync(), items)
    }

  test("interruptWhen: what is appended follows, and is not restarted"):
    val hung = Stream.never.interruptWhen(Task.sleep(10.millis))
    assertEquals(TestRuntime.run((hung ++ Stream(5)).toList), List(5))
    val inner = Stream.never.interruptWhen(Task.never) ++ delayed(Stream(1), 10.millis)
    val outer = inner.interruptWhen(Task.unit) ++ Stream(2)
    assertEquals(TestRuntime.run(outer.toList), List(2))
    val twice = Stream.never.interruptWhen(Task.never).interruptWhen(Task.unit)
    assertEquals(TestRuntime.run(twice.toList), Nil)

  test("interruptWhen (1179): the pipe downstream gets the end, and goes on from what it has"):
    val source = Stream.iterate(0)(_ + 1).evalTap(_ => Task.sleep(10.millis))
    val stopped = source.interruptWhen(Task.sleep(155.millis))
    assertEquals(TestRuntime.run(stopped.scan(0)(_ + _).last), Some((0 to 14).sum))

  test("interruptWhen: the effect that is interrupted is cancelled, and its finalizer has run"):
    val released = Deferred.unsafe[Unit]
    val waits = Stream.eval(Task.never.guarantee(released.complete(()).void))
    TestRuntime.run(waits.interruptWhen(Task.sleep(200.millis)).drain.andThen(released.get))

  // ---- switchMap ----

  test("switchMap: is flatMap where nothing is switched"):
    for items <- some do
      TestRuntime.forAllSeeds(repeats) {
        Stream
          .eval(Semaphore(1))
          .flatMap(guard =>
            Stream
              .emits(items)
              .evalTap(_ => guard.acquire)
              .onFinalize(guard.acquire)
              .switchMap(i => Stream.emit(i).onFinalize(guard.release))
          )
          .toList
          .map(assertEquals(_, items))
      }

  test("switchMap: the finalizer of an inner stream has run before the next one begins"):
    val released = java.util.concurrent.atomic.AtomicBoolean(true)
    val inner = Stream
      .eval(Task(if !released.getAndSet(false) then throw Boom()))
      .evalTap(_ => Task.sleep(20.millis))
      .onFinalize(Task.sleep(100.millis).andThen(Task(released.set(true))))
    TestRuntime.run(
      Stream.range(0, 20).evalTap(i => Task.sleep((i * 7 % 30).millis)).switchMap(_ => inner).drain
    )

  test("switchMap: the last inner stream goes on when the source has ended"):
    for items <- some; others <- some do
      val stream = Stream
        .emits(items)
        .switchMap(i => delayed(Stream.emits(others) ++ Stream.emit(i), 25.millis))
      assertEquals(
        TestRuntime.run(stream.toList),
        items.lastOption.toList.flatMap(i => others :+ i)
      )

  test("switchMap: fails with the source and with an inner stream, whose finalizer runs first"):
    val boom = Boom()
    for (source, inner) <- List[(Stream[Int], Stream[Int])](
        (
          Stream(0) ++ delayed(Stream.fail(boom), 10.millis),
          Stream.repeatEval(Task.sleep(1.milli)).as(1)
        ),
        (Stream(0, 1, 2), Stream.fail(boom))
      )
    do
      TestRuntime.forAllSeeds(repeats) {
        val log = Log()
        val stream = log.resource("source")(source).switchMap(_ => log.resource("inner")(inner))
        stream.drain.attempt.map { result =>
          assertEquals(result, Left(boom))
          log.assertNested()
        }
      }

  test("switchMap (1424): many switches end"):
    everywhere(Stream.range(1, Tier(100, 2_000)).switchMap(Stream.emit).drain.runSync())

  // ---- parEvalMap ----

  for (name, map) <- List[(String, (Stream[Task[Unit]], Int) => Stream[Unit])](
      "parEvalMap" -> ((s, n) => s.parEvalMap(n)(identity)),
      "parEvalMapUnordered" -> ((s, n) => s.parEvalMapUnordered(n)(identity)),
      "parEvalMapBy" -> ((s, n) => s.zipWithIndex.parEvalMapBy(n)(_._2)(_._1))
    )
  do
    test(s"$name: so many effects as the parallelism run, and no more"):
      def meet(length: Int, needed: Int, parallelism: Int): Task[Unit] =
        CountDownLatch(needed).flatMap { latch =>
          val each = latch.release.andThen(latch.await)
          map(Stream.constant(each).take(length), parallelism).drain
        }
      for (length, parallelism) <- List((1, 2), (30, 7), (100, 20), (5, 20)) do
        TestRuntime.run(meet(length, length min parallelism, parallelism))
      val tooMany = meet(100, 21, 20).timeout(1.second).attempt
      assert(TestRuntime.run(tooMany).left.exists(_.isInstanceOf[TimeoutException]))

    test(s"$name: of two errors one is thrown, and an effect that fails ends those that wait"):
      val boom = Boom()
      for n <- 1 to 10 do
        val stopped = AtomicInteger()
        val all = CountDownLatch(n + 1).flatMap { latch =>
          val meet = latch.release.andThen(latch.await)
          val stop = Task(stopped.incrementAndGet()).void
          val waits = Task.uncancelable(poll => meet.andThen(poll(Task.never).onCancel(stop)))
          val fails = Stream.constant(meet.andThen(Task.fail(boom))).take(n)
          map(fails ++ Stream.emit(waits), n + 1).drain.attempt
        }
        assertEquals(all.runSync(), Left(boom))
        assertEquals(stopped.get, 1)

    test(
      s"$name: an early end cancels what it does not need, and waits for what cannot be cancelled"
    ):
      for masked <- List(false, true) do
        val log = Log()
        val stream = CountDownLatch(2).flatMap { latch =>
          val meet = latch.release.andThen(latch.await)
          val waits =
            if masked then Task.uncancelable(_ => meet.andThen(Task.cede).andThen(log("other")))
            else Task.uncancelable(poll => meet.andThen(poll(Task.never).onCancel(log("other"))))
          map(Stream(meet, waits), 2)
            .takeThrough(_ => false)
            .drain // `take` would begin with one only
        }
        stream.andThen(log("end")).runSync()
        assertEquals(log.lines, List("other", "end"))

    test(s"$name (2726, 2825): errors and throws of the effects do not make it hang"):
      everywhere {
        for _ <- 1 to Tier(50, 1_000) do
          map(Stream(Task.fail(Boom()), Task.unit), 64).drain.attempt.runSync(): Unit
          map(Stream.emit(Task.unit).map(_ => throw Boom()), 64).drain.attempt.runSync(): Unit
      }

  // ---- groupWithin, pauseWhen ----

  test("groupWithin: the time does not begin before there is an element"):
    val limit = 5.seconds
    val source = delayed(Stream(4, 5), limit + 200.millis) ++ Stream.never
    val got = source.groupWithin(5, limit).evalMap(g => Task.monotonic.map((g, _))).take(1).toList
    val start = Task.monotonic
    val (List((group, at)), from) = TestRuntime.run(got.flatMap(g => start.map((g, _)))): @unchecked
    assertEquals((group, at), (Vector(4, 5), from))

  test("groupWithin: a full group comes at once, and one that is not at once with the end"):
    val full = Stream(1, 2, 3) ++ Stream.sleep(5.seconds).as(4)
    val timed = full.groupWithin(3, 4.seconds).evalMap(g => Task.realTime.map(t => (g.size, t)))
    val List((_, first), (_, second)) = TestRuntime.run(timed.toList): @unchecked
    assertEquals(java.time.Duration.between(first, second).toSeconds, 5L)
    val stopped = Stream
      .iterate(0)(_ + 1)
      .metered(1.second)
      .interruptWhen(Task.sleep(5500.millis))
      .groupWithin(Int.MaxValue, 1.day)
    assertEquals(TestRuntime.timed(stopped.toList), (5500.millis, List((0 to 5).toVector)))

  test("groupWithin: groups of size, by time, and of what is left, of several pieces"):
    def piece(from: Int, size: Int) = Stream.range(from, from + size)
    val pause = Stream.exec(Task.sleep(400.millis))
    val source = piece(1, 3) ++ pause ++ piece(4, 12) ++ piece(16, 7)
    assertEquals(
      TestRuntime.run(source.groupWithin(5, 200.millis).map(_.toList).toList),
      List((1 to 3).toList, (4 to 8).toList, (9 to 13).toList, (14 to 18).toList, (19 to 22).toList)
    )

  test("groupWithin: no element of many is lost, whose groups are ended by time and by size"):
    everywhere {
      val n = Tier(10_000, 1_000_000)
      val sizes = Stream.range(0, n).groupWithin(4096, 100.micros).map(_.size).toList.runSync()
      assertEquals(sizes.sum, n)
      assert(sizes.forall(size => size > 0 && size <= 4096))
    }

  test("pauseWhen: it stops and goes on with the signal"):
    val paused = Signal.unsafe(false)
    val runtime = TestRuntime(mayLeak = true)
    val made = AtomicInteger()
    val started = runtime.start(
      Stream
        .repeatEval(Task.sleep(1.second))
        .pauseWhen(paused.discrete)
        .evalForeach(_ => Task(made.incrementAndGet()))
    )
    runtime.advance(5500.millis)
    assertEquals(made.get, 5)
    runtime.run(paused.set(true))
    runtime.advance(5.seconds)
    assertEquals(made.get, 5)
    runtime.run(paused.set(false))
    runtime.advance(3500.millis)
    assertEquals(made.get, 9)
    runtime.run(started.fiber.cancel)
    runtime.close()

  // ---- Topic, Signal, broadcast ----

  test("Topic: all subscribers see all values, also while others leave (3071)"):
    for leave <- List(false, true); _ <- 1 to repeats do
      val all = Topic[Int].flatMap { topic =>
        val publisher = Stream.range(0, 100).evalMap(topic.publish) ++ Stream.exec(topic.close)
        Resource.parSequence(List.fill(10)(topic.subscription(4))).use { subscriptions =>
          val consumers = subscriptions.zipWithIndex.map { (values, i) =>
            val left =
              if leave && i % 2 == 1 then values.interruptWhen(Task.sleep(1.nano)) else values
            Stream.eval(left.onFinalize(Task.cede).toList.map((i, _)))
          }
          Stream.emits(consumers).parJoinUnbounded.concurrently(publisher).toList
        }
      }
      val got = all.runSync().toMap
      assertEquals(got.size, 10)
      for (i, values) <- got do
        val expected = (0 until 100).toList
        if leave && i % 2 == 1 then assert(expected.startsWith(values), values)
        else assertEquals(values, expected)

  test("Topic (3646): two publishers at the same time, and one order for all subscribers"):
    for _ <- 1 to Tier(50, 5_000) do
      val all = Topic[String].flatMap { topic =>
        Resource.parSequence(List.fill(20)(topic.subscription(2))).use { subscriptions =>
          topic
            .publish("foo")
            .both(topic.publish("bar"))
            .andThen(Task.traverse(subscriptions)(_.take(2).toList))
        }
      }
      assertEquals(all.runSync().distinct.size, 1)

  test("Topic (3644): what was published with success has come to all, though it was closed"):
    for _ <- 1 to Tier(100, 5_000) do
      val all = Topic[String].flatMap { topic =>
        Resource.parSequence(List.fill(20)(topic.subscription(2))).use { subscriptions =>
          for
            (isPublished, _) <- topic.publish("foo").both(topic.close)
            got <- Task.traverse(subscriptions)(_.toList)
          yield (isPublished, got)
        }
      }
      val (isPublished, got) = all.runSync()
      if isPublished then assert(got.forall(_ == List("foo")), got)
      else assert(got.forall(values => values == Nil || values == List("foo")), got)

  test("Topic (3642): a subscription that begins while the topic is closed ends"):
    for _ <- 1 to Tier(300, 10_000) do
      val topic = Topic.unsafe[Int]
      val both = topic.subscribe(1).toList.both(topic.close)
      assertEquals(both.runSync(), (Nil, true))

  test("Signal: a watcher comes to the latest of changes that are fast"):
    for values <- List(List(3L), (1L to 200L).toList) do
      val signal = Signal.unsafe(0L)
      val watch = signal.discrete.evalTap(_ => Task.sleep(10.millis)).takeThrough(_ != values.last)
      val (last, _) = TestRuntime.run(watch.last.both(Task.foreach(values)(signal.set)))
      assertEquals(last, Some(values.last))

  test("Signal: waitUntil is woken once, by the value that it waits for"):
    val signal = Signal.unsafe(0)
    val ticks = Stream.iterate(0)(_ + 1).metered(100.millis).evalForeach(signal.set)
    def poll(rounds: Int): Task[Int] = signal.get.flatMap(n =>
      if n > 5 then Task.pure(rounds) else signal.waitUntil(_ > 5).flatMap(_ => poll(rounds + 1))
    )
    assertEquals(TestRuntime.run(ticks.background.use(_ => poll(0))), 1)

  test("broadcastThrough: all pipes see all elements, also where one is interrupted at once"):
    for items <- some; pipes <- List(1, 2, 7); stops <- List(false, true); _ <- 1 to repeats do
      val all = (0 until pipes).map { i => (s: Stream[Int]) =>
        val mine = s.map((i, _))
        if stops && i == 0 then mine.interruptWhen(Task.sleep(1.nano)) else mine
      }
      val got = Stream.emits(items).broadcastThrough(all*).toList.runSync()
      for i <- (if stops then 1 else 0) until pipes do
        assertEquals(got.collect { case (`i`, item) => item }, items)

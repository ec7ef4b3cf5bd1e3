package weir
package stream

import java.util.concurrent.TimeoutException
import java.util.concurrent.atomic.AtomicInteger
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import scala.concurrent.duration.*
import weir.testkit.TestRuntime

/** The common properties of all operators with fibers of their own, checked for each of them. */
class ConcurrentOperatorsSuite extends munit.ScalaCheckSuite, StreamTests:

  private final case class Form(name: String, make: Stream[Int] => Stream[Int])

  /** Forms that give back the elements of an upstream that is not faster than its consumer. */
  private val same = List(
    Form("groupWithin", _.groupWithin(3, 1.hour).mapConcat(identity)),
    Form(
      "groupWeightedWithin",
      _.groupWeightedWithin(9, 1.hour, size = 3)(_.toLong).mapConcat(identity)
    ),
    Form("metered", _.metered(1.nano)),
    Form("throttle", _.throttle(1000, 1.milli, 1000)),
    Form("throttleEnforcing", _.throttleEnforcing(1000, 1.milli, 1_000_000)),
    Form("concurrently", _.concurrently(Stream.never)),
    Form("interruptWhen", _.interruptWhen(Task.never)),
    Form("interruptWhenTrue", _.interruptWhenTrue(Stream.emits(List(false, false)))),
    Form("timeout", _.timeout(1.hour)),
    Form("idleTimeout", _.idleTimeout(1.hour)),
    Form("broadcastThrough", _.broadcastThrough(identity[Stream[Int]])),
    Form("mergeHaltLeft", _.mergeHaltLeft(Stream.never)),
    Form("mergeHaltRight", Stream.never.mergeHaltRight(_)),
    Form("mergeHaltBoth", _.mergeHaltBoth(Stream.never)),
    Form("mergePreferred", _.mergePreferred(Stream.empty)),
    Form("mergePreferred, on the right", Stream.empty.mergePreferred(_)),
    Form("parEvalMapUnbounded", _.parEvalMapUnbounded(i => Task.cede.as(i))),
    Form("parJoinUnbounded", s => Stream.emit(s).parJoinUnbounded),
    Form("parZip", _.parZip(Stream.repeatEval(Task.unit)).map(_._1)),
    Form("parZip, on the right", Stream.repeatEval(Task.unit).parZip(_).map(_._2)),
    Form("batch", _.batch(3, _ => 1)(Vector(_))(_ :+ _).mapConcat(identity)),
    Form("conflate", _.map(Vector(_)).conflate(_ ++ _).mapConcat(identity)),
    Form("buffer", _.buffer(1000, Overflow.DropOldest)),
    Form("keepAlive", _.keepAlive(1.hour, -1)),
    Form("spaced", _.spaced(1.nano)),
    Form("balance", _.balance(identity[Stream[Int]]))
  )

  private val all = same ++ List(
    Form("debounce", _.debounce(1.nano)),
    Form("sample", _.sample(1.nano)),
    Form("zipLatest", _.zipLatest(Stream.emit(0)).map(_._1)),
    Form("switchMap", _.switchMap(Stream.emit)),
    Form("switchMap, inside", s => Stream.emit(0).switchMap(_ => s)),
    Form("expand", _.expand(Iterator(_)))
  )

  for form <- same do
    property(s"${form.name}: the elements in order, then the end, then the error"):
      forAll(Gen.listOf(Gen.choose(0, 9))) { items =>
        val boom = Boom()
        val source = Stream.emits(items).evalTap(i => if i < 3 then Task.cede else Task.unit)
        assertEquals(form.make(source).toList.runSync(), items)
        assertEquals(seen(form.make(source ++ Stream.fail(boom))).runSync(), items :+ boom)
      }

  for form <- all do
    test(s"${form.name}: a finalizer upstream runs once, before the stream has ended"):
      val boom = Boom()
      def released(use: Stream[Int] => Task[Any]): Unit =
        val acquired, released = AtomicInteger()
        val source = Stream
          .bracket(Task(acquired.incrementAndGet()))(_ =>
            Task.cede.andThen(Task(released.incrementAndGet()).void)
          )
          .flatMap(_ => Stream.emits(1 to 5))
        use(source).attempt.runSync(): Unit
        assertEquals((acquired.get, released.get), (1, 1))
      for _ <- 1 to 5 do
        released(s => form.make(s).drain)
        released(s => form.make(s).take(1).drain)
        released(s =>
          form.make(s.evalTap(i => if i == 3 then Task.fail(boom) else Task.unit)).drain
        )
        released(s => form.make(s).evalMap(_ => Task.fail(boom)).drain)

    test(s"${form.name}: cancelled while upstream waits, and while it blocks"):
      for wait <- List(Task.never, Task(Thread.sleep(3_600_000))) do
        val log = Log()
        val begun = Deferred.unsafe[Unit]
        val source =
          log.resource("a")(Stream.eval(begun.complete(()).andThen(wait).as(1)))
        val fiber = form.make(source).drain.start.runSync()
        begun.get.andThen(fiber.cancel).runSync()
        assertEquals(log.lines, List("+a", "-a"))

    test(s"${form.name}: cancelled while the consumer waits"):
      val log = Log()
      val begun = Deferred.unsafe[Unit]
      val source = log.resource("a")(Stream.emit(1) ++ Stream.never)
      val consumer = form.make(source).evalMap(_ => begun.complete(()).andThen(Task.never)).drain
      val kept = Set("groupWithin", "groupWeightedWithin", "debounce")(form.name)
      if !kept then
        val fiber = consumer.start.runSync()
        begun.get.andThen(fiber.cancel).runSync()
        assertEquals(log.lines, List("+a", "-a"))

    test(s"${form.name}: a masked consumer gets what comes, and its cancel waits for that"):
      val begun, goOn = Deferred.unsafe[Unit]
      val source = Stream.eval(begun.complete(()).andThen(goOn.get).as(1))
      val got = Ref.unsafe(List.empty[Int])
      val consumer = Task.uncancelable(_ => form.make(source).toList.flatMap(got.set))
      val fiber = consumer.start.runSync()
      begun.get.runSync()
      val cancel = startCancel(fiber)
      goOn.complete(()).andThen(cancel.join).runSync(): Unit
      assertEquals(got.get.runSync(), List(1))

    test(s"${form.name}: an upstream that cancels itself is an error"):
      val error = form
        .make(Stream.eval(Task.canceled.as(1)))
        .drain
        .attempt
        .start
        .flatMap(_.join)
        .runSync()
      error match
        case Outcome.Succeeded(Left(_: java.util.concurrent.CancellationException)) => ()
        case Outcome.Canceled => () // on the fiber of the consumer
        case other => fail(s"$other")

  test("an error of a finalizer is suppressed under the error of the stream"):
    for form <- all do
      val first, second = Boom()
      val source = Stream.fail(first).onFinalize(Task.fail(second))
      assertEquals(form.make(source).drain.attempt.runSync(), Left(first), form.name)
      assertEquals(first.getSuppressed.toList, List(second), form.name)

  test("concurrently: its failure is the stream's, while upstream waits"):
    val boom = Boom()
    val log = Log()
    val waits = Deferred.unsafe[Unit]
    val background = log.resource("b")(Stream.eval(waits.get.andThen(Task.fail(boom))))
    val foreground = log.resource("a")(Stream.exec(waits.complete(()).void) ++ Stream.never)
    assertEquals(foreground.concurrently(background).drain.attempt.runSync(), Left(boom))
    assertEquals(log.lines.sorted, List("+a", "+b", "-a", "-b"))

  test("concurrently: the background ends with the stream, and its end changes nothing"):
    TestRuntime.forAllSeeds(5) {
      val log = Log()
      val background = log.resource("b")(Stream.never)
      val three = Stream.emits(1 to 3).evalTap(_ => Task.cede)
      for
        got <- three.concurrently(background).toList
        _ = assertEquals(got, List(1, 2, 3))
        _ = assert(log.lines == List("+b", "-b") || log.lines.isEmpty, log.lines)
        short <- three.concurrently(Stream.emit(1)).toList
        _ = assertEquals(short, List(1, 2, 3))
      yield ()
    }

  test("interruptWhen: ends in the middle of an effect, with its finalizers"):
    val log = Log()
    val source = log.resource("a")(
      Stream.emits(1 to 9).evalTap(_ => Task.sleep(1.second))
    )
    val (took, got) = TestRuntime.timed(source.interruptWhen(Task.sleep(2500.millis)).toList)
    assertEquals((got, took), (List(1, 2), 2500.millis))
    assertEquals(log.lines, List("+a", "-a"))
    val flag = Stream.emits(List(false, true)).evalTap(_ => Task.sleep(1250.millis))
    assertEquals(
      TestRuntime.timed(source.interruptWhenTrue(flag).toList),
      (2500.millis, List(1, 2))
    )

  test("interruptWhen: fails as its task"):
    val boom = Boom()
    assertEquals(Stream.never.interruptWhen(Task.fail(boom)).drain.attempt.runSync(), Left(boom))
    val flag = Stream.fail(boom)
    assertEquals(Stream.never.interruptWhenTrue(flag).drain.attempt.runSync(), Left(boom))

  test("timeout: of the whole stream, however often an element comes"):
    val slow = Stream.repeatEval(Task.sleep(1.second))
    val (took, got) = TestRuntime.timed(slow.timeout(3500.millis).count.attempt)
    assertEquals(took, 3500.millis)
    assert(got.left.exists(_.isInstanceOf[TimeoutException]), got)

  test("idleTimeout: the wait for one element, not the consumer's time"):
    val source = Stream.emits(List(1, 2, 7)).evalTap(i => Task.sleep(i.seconds))
    def run(limit: FiniteDuration) = TestRuntime.timed(
      seen(source.idleTimeout(limit).evalTap(_ => Task.sleep(1.hour)))
    )
    assertEquals(run(7500.millis)._2, List(1, 2, 7))
    val (took, got) = run(3.seconds)
    assertEquals(got.take(2), List(1, 2))
    assert(got(2).isInstanceOf[TimeoutException], got)
    assertEquals(took, 2.hours + 6.seconds)

  test("keepAlive: a filler for each idle time, until the element is there"):
    val source = Stream.emits(List(1, 2)).evalTap(_ => Task.sleep(2500.millis))
    assertEquals(
      TestRuntime.timed(source.keepAlive(1.second, 0).toList),
      (5.seconds, List(0, 0, 1, 0, 0, 2))
    )

  test("groupWithin: groups by size, by time from the first, and what is left"):
    def at(millis: Int*) = Stream
      .emits(millis.zip(0 +: millis))
      .evalMap((now, before) => Task.sleep((now - before).millis).as(now))
    val source = at(100, 200, 300, 400, 1900, 2000, 4500, 4600)
    val (took, got) =
      TestRuntime.timed(source.groupWithin(3, 1.second).toList)
    assertEquals(
      got,
      List(Vector(100, 200, 300), Vector(400), Vector(1900, 2000), Vector(4500, 4600))
    )
    assertEquals(took, 4600.millis)

  test("groupWithin: upstream is at most one group and one element ahead"):
    val runtime = TestRuntime(carriers = 1, mayLeak = true)
    val made = AtomicInteger()
    val source = Stream.repeatEval(Task(made.incrementAndGet()))
    val waiting = source.groupWithin(4, 1.hour).evalMap(_ => Task.never).drain
    val started = runtime.start(waiting)
    runtime.awaitQuiet()
    assertEquals(made.get, 9)
    runtime.run(started.fiber.cancel)
    runtime.close()

  test("groupWithin: take(n) makes no more than n groups"):
    for n <- 1 to 5 do
      val made = AtomicInteger()
      val source = Stream.repeatEval(Task(made.incrementAndGet()))
      assertEquals(source.groupWithin(4, 1.hour).take(n).count.runSync(), n.toLong)
      assertEquals(made.get, 4 * n)

  test("metered, throttle, spaced: the times of the elements"):
    def times(stream: Stream[Int]) = TestRuntime.run(
      for
        start <- Task.monotonic
        times <- stream.evalMap(_ => Task.monotonic).toList
      yield times.map(t => (t - start).toMillis)
    )
    val five = Stream.emits(1 to 4)
    assertEquals(times(five.metered(1.second)), List(0L, 1000L, 2000L, 3000L))
    assertEquals(times(five.throttle(2, 1.second)), List(0L, 500L, 1000L, 1500L))
    assertEquals(times(five.throttle(1, 1.second, 3)), List(0L, 0L, 0L, 1000L))
    val slow = five.spaced(1.second).evalTap(_ => Task.sleep(1.second))
    assertEquals(times(slow), List(1000L, 3000L, 5000L, 7000L))

  test("throttleEnforcing: fails where throttle would wait"):
    val result = seen(Stream.emits(1 to 4).throttleEnforcing(1, 1.second, 2))
    val got = TestRuntime.run(result)
    assertEquals(got.take(2), List(1, 2))
    assert(got(2).isInstanceOf[RateExceeded], got)
    assertEquals(got.size, 3)

  test("sizes and times that make no sense are refused, in the name of the operator"):
    val s = Stream.emits(1 to 3)
    val absurd = 100000.days
    for (name, bad) <- List[(String, () => Any)](
        "chunkN" -> (() => s.chunkN(0)),
        "prefetchN" -> (() => s.prefetchN(0)),
        "prefetchBytes" -> (() => s.prefetchBytes(0)(identity)),
        "parJoin" -> (() => s.map(Stream.emit).parJoin(0)),
        "parEvalMap" -> (() => s.parEvalMap(0)(Task.pure)),
        "parEvalMapUnordered" -> (() => s.parEvalMapUnordered(0)(Task.pure)),
        "parEvalMapBy" -> (() => s.parEvalMapBy(0)(identity)(Task.pure)),
        "groupWithin" -> (() => s.groupWithin(0, 1.second)),
        "groupWithin" -> (() => s.groupWithin(1, 0.seconds)),
        "groupWeightedWithin" -> (() => s.groupWeightedWithin(0, 1.second)(_ => 1)),
        "groupWeightedWithin" -> (() => s.groupWeightedWithin(1, 1.second, size = 0)(_ => 1)),
        "groupWeightedWithin" -> (() => s.groupWeightedWithin(1, 0.seconds)(_ => 1)),
        "metered" -> (() => s.metered(0.seconds)),
        "metered" -> (() => s.metered(absurd)),
        "throttle" -> (() => s.throttle(0, 1.second)),
        "throttle" -> (() => s.throttle(1, absurd)),
        "throttleEnforcing" -> (() => s.throttleEnforcing(1, 1.second, 0)),
        "throttleEnforcing" -> (() => s.throttleEnforcing(1, absurd)),
        "idleTimeout" -> (() => s.idleTimeout(0.seconds)),
        "broadcastThrough" -> (() => s.broadcastThrough[Int]()),
        "balance" -> (() => s.balance[Int]()),
        "debounce" -> (() => s.debounce(0.seconds)),
        "sample" -> (() => s.sample(0.seconds)),
        "buffer" -> (() => s.buffer(0, Overflow.Fail)),
        "batch" -> (() => s.batch(0, _ => 1)(identity)(_ + _)),
        "keepAlive" -> (() => s.keepAlive(0.seconds, 1)),
        "spaced" -> (() => s.spaced(0.seconds)),
        "range" -> (() => Stream.range(0, 1, 0)),
        "rangeLong" -> (() => Stream.rangeLong(0, 1, 0)),
        "awakeEvery" -> (() => Stream.awakeEvery(0.seconds)),
        "fixedRate" -> (() => Stream.fixedRate(0.seconds)),
        "fixedDelay" -> (() => Stream.fixedDelay(0.seconds))
      )
    do
      val message = intercept[IllegalArgumentException](bad()).getMessage
      assert(message.contains(s"Stream.$name: "), message)

  test("broadcastThrough: each pipe gets all elements in order, from one run of the source"):
    val runs = AtomicInteger()
    val source = Stream.eval(Task(runs.incrementAndGet())).flatMap(_ => Stream.emits(1 to 100))
    def pipe(name: String)(s: Stream[Int]) =
      s.evalTap(i => if i % 7 == 0 then Task.cede else Task.unit).map((name, _))
    val got = source.broadcastThrough(pipe("a"), pipe("b"), pipe("c")).toList.runSync()
    for name <- List("a", "b", "c") do
      assertEquals(got.collect { case (`name`, i) => i }, (1 to 100).toList)
    assertEquals(runs.get, 1)

  test("broadcastThrough: a pipe that ends early holds up no other"):
    val source = Stream.emits(1 to 1000)
    val got = source.broadcastThrough(_.take(2), _.take(0), _.map(-_)).toList.runSync()
    assertEquals(got.filter(_ > 0), List(1, 2))
    assertEquals(got.filter(_ < 0), (1 to 1000).map(-_).toList)
    assertEquals(
      Stream.repeatEval(Task.pure(1)).broadcastThrough(_.take(2), _.take(3)).count.runSync(),
      5L
    )

  test("broadcastThrough: a pipe that fails cancels the others and the source"):
    val boom = Boom()
    val log = Log()
    val source = log.resource("source")(Stream.repeatEval(Task.cede))
    val other = (s: Stream[Unit]) => log.resource("other")(s)
    val failing = (s: Stream[Unit]) => s.drop(100).evalMap(_ => Task.fail(boom))
    assertEquals(source.broadcastThrough(other, failing).drain.attempt.runSync(), Left(boom))
    assertEquals(log.lines.filter(_.startsWith("-")).sorted, List("-other", "-source"))

  test("broadcastThrough: the slowest pipe sets the pace"):
    val made = AtomicInteger()
    val runtime = TestRuntime(carriers = 1, mayLeak = true)
    val source = Stream.repeatEval(Task(made.incrementAndGet()))
    val slow = (s: Stream[Int]) => s.evalMap(_ => Task.never)
    val started = runtime.start(source.broadcastThrough(_.drop(Long.MaxValue), slow).drain)
    runtime.awaitQuiet()
    assertEquals(made.get, 1 + FanOutStage.bufferSize + 1)
    runtime.run(started.fiber.cancel)
    runtime.close()

  test("balance: each element goes to one pipe, and a slow pipe gets fewer"):
    val source = Stream.emits(1 to 100)
    val slow = (s: Stream[Int]) => s.evalTap(_ => Task.sleep(1.hour)).map(i => ("slow", i))
    val fast = (s: Stream[Int]) => s.evalTap(_ => Task.sleep(1.second)).map(i => ("fast", i))
    val got = TestRuntime.run(source.balance(slow, fast).toList)
    assertEquals(got.map(_._2).sorted, (1 to 100).toList)
    assertEquals(got.count(_._1 == "slow"), 1)

  test("mergeHalt: which side ends it"):
    val short = Stream.emits(1 to 3)
    assertEquals(short.mergeHaltLeft(Stream.never).toList.runSync(), List(1, 2, 3))
    assertEquals(Stream.empty.mergeHaltRight(short).toList.runSync(), List(1, 2, 3))
    assertEquals(Stream.never.mergeHaltBoth(Stream.empty).toList.runSync(), Nil)
    val long = Stream.repeatEval(Task.cede.as(0))
    assertEquals(long.mergeHaltRight(short).toList.runSync().filter(_ > 0), List(1, 2, 3))

  test("mergePreferred: this first, where both have elements"):
    val left = Stream.emits(1 to 5)
    val right = Stream.emits(11 to 15)
    val slow = left.mergePreferred(right).evalTap(_ => Task.sleep(1.second))
    val got = TestRuntime.run(slow.toList)
    assertEquals(got.filter(_ > 10), (11 to 15).toList)
    assertEquals(got.filter(_ < 10), (1 to 5).toList)

  test("parZip: both sides make their elements at the same time"):
    val side = Stream.emits(1 to 3).evalTap(_ => Task.sleep(1.second))
    assertEquals(
      TestRuntime.timed(side.parZip(side).toList),
      (3.seconds, List((1, 1), (2, 2), (3, 3)))
    )
    val boom = Boom()
    assertEquals(Stream.never.parZip(Stream.fail(boom)).drain.attempt.runSync(), Left(boom))

  test("zipLatest: a pair for each new element, once both have one"):
    def every(period: FiniteDuration, items: Int*) =
      Stream.emits(items).evalTap(_ => Task.sleep(period))
    val left = every(1.second, 1, 2, 3, 4)
    val right = every(1600.millis, 10, 20)
    assertEquals(
      TestRuntime.run(left.zipLatest(right).toList),
      List((1, 10), (2, 10), (3, 10), (3, 20), (4, 20))
    )
    assertEquals(Stream.never.zipLatest(Stream.empty).toList.runSync(), Nil)

  test("debounce: the last of those that come close together"):
    val source = Stream.emits(List(1, 1, 5, 1, 1, 9, 1)).zipWithIndex.evalMap { (pause, i) =>
      Task.sleep(pause.seconds).as(i)
    }
    assertEquals(
      TestRuntime.timed(source.debounce(2.seconds).toList),
      (19.seconds, List(1L, 4L, 6L))
    )

  test("sample: the latest of each period, and the last"):
    val source = Stream.emits(1 to 7).evalTap(_ => Task.sleep(350.millis))
    assertEquals(
      TestRuntime.timed(source.sample(1.second).toList),
      (2450.millis, List(2, 5, 7))
    )

  test("buffer: what is dropped, where the consumer is slow"):
    def run(overflow: Overflow) =
      TestRuntime.run(
        seen(Stream.emits(1 to 9).buffer(3, overflow).evalTap(_ => Task.sleep(1.second)))
      )
    assertEquals(run(Overflow.DropOldest).takeRight(3), List(7, 8, 9))
    assertEquals(run(Overflow.DropNewest).take(3), List(1, 2, 3))
    val failed = run(Overflow.Fail)
    assertEquals(failed.take(3), List(1, 2, 3))
    assert(failed.last.isInstanceOf[BufferOverflow], failed)

  test("conflate and batch: what came while the consumer was busy"):
    val source = Stream.emits(1 to 10).evalTap(_ => Task.sleep(1.second))
    def slow[A](s: Stream[A]) =
      TestRuntime.run(s.evalTap(_ => Task.sleep(3300.millis)).toList)
    assertEquals(slow(source.conflate(_ + _)), List(1, 2 + 3 + 4, 5 + 6 + 7, 8 + 9 + 10))
    val batched = source.batch(4, i => if i == 3 then 9 else 2)(Vector(_))(_ :+ _)
    assertEquals(
      slow(batched).flatten,
      (1 to 10).toList
    )
    assertEquals(slow(batched).find(_.contains(3)), Some(Vector(3)))

  test("conflate and batch: an error of the function comes after what was combined before"):
    val boom = Boom()
    val source = Stream.emits(1 to 3).evalTap(_ => Task.sleep(1.second))
    val failing = source.conflate((a, b) => if b == 3 then throw boom else a + b)
    val got = TestRuntime.run(seen(failing.evalTap(_ => Task.sleep(3300.millis))))
    assertEquals(got, List(1, 2, boom))
    val priced = source.batch(9, i => if i == 2 then -1 else 1)(identity)(_ + _)
    val prices = TestRuntime.run(seen(priced))
    assertEquals(prices.head, 1)
    assert(prices(1).isInstanceOf[IllegalArgumentException], prices)

  test("expand: more of the latest element while the next one is not there"):
    val source = Stream.emits(List(1, 2)).evalTap(_ => Task.sleep(2500.millis))
    val got = source.expand(i => Iterator.continually(i)).evalTap(_ => Task.sleep(1.second))
    val (_, items) = TestRuntime.timed(got.toList)
    assertEquals(items.filter(_ == 1).size, 4)
    assertEquals(items.distinct, List(1, 2))
    val none = Stream.emits(1 to 100_000).expand(i => Iterator.empty[Int].take(i))
    assertEquals(none.toList.runSync(), Nil)

  test("switchMap: the stream of the element before is closed, then the next one begins"):
    val log = Log()
    val source =
      Stream.emits(1 to 3).evalTap(i => if i == 1 then Task.unit else Task.sleep(2500.millis))
    val switched = source.switchMap(i =>
      log.resource(s"$i")(
        Stream.emits(1 to 4).evalMap(j => Task.sleep(1.second).as(10 * i + j))
      )
    )
    assertEquals(
      TestRuntime.timed(switched.toList),
      (9.seconds, List(11, 12, 21, 22, 31, 32, 33, 34))
    )
    assertEquals(log.lines, List("+1", "-1", "+2", "-2", "+3", "-3"))

  test("switchMap: nothing of the stream before comes after the switch"):
    TestRuntime.forAllSeeds(5) {
      val source = Stream.emits(1 to 5).evalTap(_ => Task.cede)
      source
        .switchMap(i => Stream.emits(1 to 5).evalMap(_ => Task.cede.as(i)))
        .toList
        .map(got => assertEquals(got, got.sorted))
    }

package weir
package stream

import java.util.SplittableRandom
import java.util.concurrent.ConcurrentLinkedQueue
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.fiber.TaskFiber
import weir.runtime.Pause
import weir.testkit.TestRuntime

class SwitchMapSuite extends StreamTests:

  /** Elements 1, 2, ..., each after its time from the start. */
  private def at(times: FiniteDuration*): Stream[Int] =
    Stream
      .emits((Duration.Zero +: times).zip(times).zipWithIndex)
      .evalMap { case ((before, time), i) => Task.sleep(time - before).as(i + 1) }

  test("a busy consumer does not hold up the switch"):
    val log = ConcurrentLinkedQueue[String]()
    val task = Task.monotonic.flatMap { start =>
      def note(event: String): Task[Unit] =
        Task.monotonic.map(time => log.add(s"$event ${(time - start).toMillis}"): Unit)
      at(100.millis, 1000.millis, 2000.millis)
        .switchMap(i =>
          Stream
            .resource(Resource.make(note(s"open $i"))(_ => note(s"close $i")))
            .flatMap(_ => Stream.emit(i) ++ Stream.never)
        )
        .evalMap(i => Task.sleep(3300.millis).as(i))
        .take(2)
        .toList
    }
    assertEquals(TestRuntime.run(task), List(1, 3))
    assertEquals(
      log.asScala.toList,
      List("open 1 100", "close 1 1000", "open 2 1000", "close 2 2000", "open 3 2000") ++
        List("close 3 6700")
    )

  test("an element that waits for a busy consumer is dropped at the switch"):
    val got = at(100.millis, 1000.millis)
      .switchMap(i => Stream.emits(1 to 3).map(10 * i + _) ++ Stream.never)
      .evalMap(n => Task.sleep(2.seconds).as(n))
      .take(3)
      .toList
    assertEquals(TestRuntime.run(got), List(11, 21, 22))

  test("nothing of the old stream comes after the switch, which waits for its finalizers"):
    val got = at(100.millis, 1000.millis)
      .switchMap(i =>
        (Stream.emit(i) ++ Stream.repeatEval(Task.uncancelable(_ => Task.sleep(700.millis).as(-i))))
          .onFinalize(Task.sleep(500.millis))
      )
      .evalMap(n => Task.monotonic.map((n, _)))
      .takeThrough(_._1 != 2)
      .toList
    assertEquals(TestRuntime.run(got).map(_._1), List(1, -1, 2))

  test("an element that the old stream puts after the switch has begun is dropped"):
    // Its fiber is masked as it puts, in place of one that the cancel has not reached yet.
    val old = new PlainSource:
      private var isMasked = false
      def next(fiber: TaskFiber): Any =
        if isMasked then
          fiber.removeMask()
          fiber.checkpoint()
        fiber.addMask()
        isMasked = true
        fiber.await(Task.sleep(2.seconds))
        -1
    val got = at(100.millis, 1000.millis).switchMap { i =>
      if i == 1 then Stream.of[Int](() => old) else Stream.emit(i)
    }
    assertEquals(TestRuntime.run(got.toList), List(2))

  test("stress: an element that comes as the switch begins is dropped"):
    val seed = Tier.seed("weir.stress.seed")
    val pauses = SplittableRandom(seed)
    val rounds = Tier(3_000, 100_000)
    val asked, begun = Vector.fill(rounds + 1)(Deferred.unsafe[Unit])
    @volatile var latest = 0
    val source = Stream.range(0, rounds).evalTap(i => asked(i).get)
    def inner(i: Int): Stream[Int] =
      latest = i
      Stream.eval(begun(i).complete(())).flatMap(_ => Stream.constant(i)).map { i =>
        Pause.nanos(pauses.nextInt(10_000))
        i
      }
    // The consumer continues only when the next stream has begun: so the next element is of that
    // stream.
    val used = source.switchMap(inner).evalMap { i =>
      assertEquals(latest, i, s"-Dweir.stress.seed=$seed")
      asked(i + 1).complete(()).andThen(begun(i + 1).get)
    }
    val last = Task(assertEquals(latest, rounds - 1))
    asked(0)
      .complete(())
      .andThen(begun(rounds).complete(()))
      .andThen(used.take(rounds).drain)
      .andThen(last)
      .runSync()

  test("the inner stream is closed, and then upstream, however the stream ends"):
    val boom = Boom()
    val failsLater = Stream.eval(Task.sleep(1.second).andThen(Task.fail(boom)))
    val ends = List[(String, Stream[Int], Stream[Int], Stream[Int] => Task[Any])](
      ("at its end", Stream.empty, Stream.empty, _.drain),
      ("before its end", Stream.never, Stream.never, _.head),
      ("as upstream fails", failsLater, Stream.never, _.drain),
      ("as the inner stream fails", Stream.never, failsLater, _.drain),
      ("as the consumer fails", Stream.never, Stream.never, _.evalForeach(_ => Task.fail(boom))),
      ("as it is cancelled", Stream.never, Stream.never, _.drain.timeout(1.second))
    )
    for (end, outer, inner, use) <- ends do
      val closed = ConcurrentLinkedQueue[String]()
      def closes(name: String): Task[Unit] =
        Task.sleep(1.second).andThen(Task(closed.add(name): Unit))
      val stream = (Stream.emit(1) ++ outer)
        .onFinalize(closes("upstream"))
        .switchMap(i => (Stream.emit(i) ++ inner).onFinalize(closes("inner")))
      TestRuntime.run(use(stream).attempt): Unit
      assertEquals(closed.asScala.toList, List("inner", "upstream"), end)

  test("no stream begins for an element that comes as the stage closes"):
    @volatile var begun = false
    val late = Stream.eval(Task.uncancelable(_ => Task.sleep(1.second)))
    val never = late.switchMap { _ =>
      begun = true
      Stream.never
    }
    TestRuntime.run(never.drain.timeout(500.millis).attempt): Unit
    assert(!begun)

  test("no stream begins after a failure, though the consumer has not come to it"):
    val boom = Boom()
    var begun = List.empty[Int]
    val fails = at(100.millis, 1000.millis).switchMap { i =>
      begun = i :: begun
      Stream.emit(i) ++ Stream.fail(boom)
    }
    val slow = fails.evalMap(_ => Task.sleep(2.seconds))
    assertEquals(TestRuntime.run(slow.drain.attempt), Left(boom))
    assertEquals(begun, List(1))

  test("a resource is open until its last element has been used"):
    @volatile var isOpen = false
    val resource = Resource.make(Task { isOpen = true })(_ => Task { isOpen = false })
    val used = Stream
      .emit(1)
      .switchMap(i => Stream.resource(resource).as(i))
      .evalMap(_ => Task.sleep(1.second).andThen(Task(isOpen)))
      .toList
    assertEquals(TestRuntime.run(used), List(true))
    assert(!isOpen)

  test("finalizers are told a cancel at a switch, else how the use has ended"):
    val ends = ConcurrentLinkedQueue[String]()
    def inner(i: Int): Stream[Int] =
      (Stream.emit(i) ++ Stream.never)
        .onFinalizeCase(end => Task(ends.add(s"$i ${end.toString.takeWhile(_.isLetter)}"): Unit))
    def told(task: Stream[Int] => Task[Any]): List[String] =
      ends.clear()
      TestRuntime.run(task(at(100.millis, 1000.millis).switchMap(inner)).attempt): Unit
      ends.asScala.toList
    assertEquals(told(_.take(2).drain), List("1 Canceled", "2 Succeeded"))
    val boom = Boom()
    val fails = told(_.evalMap(i => if i == 2 then Task.fail(boom) else Task.unit).drain)
    assertEquals(fails, List("1 Canceled", "2 Failed"))
    assertEquals(told(_.drain.timeout(500.millis)), List("1 Canceled"))

  test("errors of finalizers are not lost: at a switch, at the end, at a close"):
    val boom = Boom()
    def inner(i: Int) = (Stream.emit(i) ++ Stream.never).onFinalize(Task.fail(boom))
    val switches = at(100.millis, 1000.millis).switchMap(inner)
    assertEquals(TestRuntime.run(switches.drain.attempt), Left(boom))
    assertEquals(TestRuntime.run(at(100.millis).switchMap(inner).take(1).drain.attempt), Left(boom))
    val ends = Stream.emit(1).switchMap(i => Stream.emit(i).onFinalize(Task.fail(boom)))
    assertEquals(TestRuntime.run(ends.drain.attempt), Left(boom))

  test("the error of a finalizer that a switch waits for while the stream is closed is not lost"):
    val boom = Boom()
    val got = at(100.millis, 1000.millis)
      .switchMap(i =>
        (Stream.emit(i) ++ Stream.never).onFinalize(Task.sleep(1.second) >> Task.fail(boom))
      )
      .evalMap(_ => Task.sleep(1500.millis)) // the finalizer runs until 2000, the close is at 1600
      .take(1)
    assertEquals(TestRuntime.run(got.drain.attempt), Left(boom))

  test("an error comes to a slow consumer although elements after it never end"):
    val boom = Boom()
    val endless = Stream.repeatEval(Task.sleep(100.millis).as(7))
    val fails = Stream.emit(1) ++ Stream.exec(Task.sleep(100.millis)) ++ Stream.fail(boom)
    val forms = List[Stream[Int]](
      (Stream.emit(1) ++ Stream.exec(Task.sleep(1.second)) ++ Stream.fail(boom))
        .switchMap(_ => endless),
      at(100.millis, 1000.millis).switchMap(i => if i == 1 then fails else endless)
    )
    for form <- forms do
      val got = form.evalMap(_ => Task.sleep(2.seconds)).take(50)
      assertEquals(TestRuntime.run(got.drain.attempt), Left(boom))

  test("what fails first is thrown: the function, an inner stream, the source"):
    val boom = Boom()
    val forms = List[Stream[Int]](
      Stream.emit(1).switchMap(_ => throw boom),
      Stream.emit(1).switchMap(_ => Stream.fail(boom)),
      (Stream.emit(1) ++ Stream.fail(boom)).switchMap(_ => Stream.never),
      Stream.emit(1).switchMap(_ => Stream.emit(1) ++ Stream.fail(boom))
    )
    for form <- forms do assertEquals(form.drain.attempt.runSync(), Left(boom))

  test("an inner stream that cancels itself fails the consumer"):
    val cancels = Stream.emit(1).switchMap(_ => Stream.eval(Task.canceled))
    intercept[java.util.concurrent.CancellationException](cancels.drain.runSync()): Unit

  test("random switches, ends, errors and cancels: elements in order, each finalizer once"):
    val seed = java.lang.Long.getLong("weir.test.seed", Tier(1L, System.nanoTime()))
    val random = SplittableRandom(seed)
    for round <- 1 to Tier(300, 10_000) do
      val opened, closed = java.util.concurrent.atomic.AtomicInteger()
      def pause(): Task[Unit] = random.nextInt(4) match
        case 0 => Task.unit
        case 1 => Task.cede
        case n => Task.sleep((n * 20).micros)
      val pauses = Vector.fill(8)(pause())
      val failsAt = random.nextInt(200)
      def inner(i: Int): Stream[Int] = Stream
        .resource(
          Resource.make(Task(opened.incrementAndGet()))(_ => Task(closed.incrementAndGet()).void)
        )
        .flatMap(_ => Stream.emits(1 to 4))
        .evalMap(j => pauses((i + j) % 8).as(10 * i + j))
        .evalTap(n => if n == failsAt then Task.fail(Boom()) else Task.unit)
      val all = Stream.emits(0 to 5).evalTap(i => pauses(i)).switchMap(inner)
      val limit = random.nextInt(3) match
        case 0 => all
        case 1 => all.take(random.nextInt(6))
        case _ => all.timeout((random.nextInt(300) + 1).micros)
      val got = ConcurrentLinkedQueue[Int]()
      val end = limit.evalTap(_ => pauses(7)).evalMap(n => Task(got.add(n))).drain.attempt.runSync()
      val seen = got.asScala.toList
      assertEquals(seen, seen.sorted, s"seed $seed, round $round")
      assertEquals(closed.get, opened.get, s"seed $seed, round $round: $end")

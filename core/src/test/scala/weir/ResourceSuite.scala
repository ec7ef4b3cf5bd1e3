package weir

import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, TimeoutException}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.testkit.TestRuntime

/** Resources: whatever was acquired is released once, in reverse order. */
class ResourceSuite extends WeirSuite:

  override def limit: FiniteDuration = 30.seconds

  /** The log of events, in order. */
  private final class Log:
    private val lines = ConcurrentLinkedQueue[String]()
    def say(line: String): Task[Unit] = Task(lines.add(line)).void
    def all: List[String] = lines.asScala.toList

    /** A resource that notes when it is acquired, and when it is released and with which outcome.
      */
    def resource(name: String): Resource[String] =
      Resource.makeCase(Task.cede.andThen(say(s"+$name")).as(name))((_, outcome) =>
        Task.cede.andThen(say(s"-$name ${how(outcome)}"))
      )

  private def how(outcome: Outcome[Any]): String = outcome match
    case Outcome.Succeeded(_) => "succeeded"
    case Outcome.Failed(error) => s"failed: ${error.getMessage}"
    case Outcome.Canceled => "canceled"

  private def outcome[A](task: Task[A]): Outcome[A] = task.start.flatMap(_.join).runSync()

  test("use gives the value, and releases in reverse order"):
    val log = Log()
    val all = for
      a <- log.resource("a")
      b <- log.resource("b").map(_ + a)
      c <- Resource.eval(log.say("eval").as(b + "c"))
      d <- log.resource("d").evalMap(d => log.say("map").as(c + d)).evalTap(_ => log.say("tap"))
    yield d
    assertEquals(all.use(value => log.say("use").as(value)).runSync(), "bacd")
    val acquired = List("+a", "+b", "eval", "+d", "map", "tap", "use")
    assertEquals(log.all, acquired ++ List("d", "b", "a").map(n => s"-$n succeeded"))

  test("releases are told how the use has ended: value, failure, cancel"):
    val uses = List[(Task[Unit], String)](
      Task.unit -> "succeeded",
      Task.fail(Boom()) -> "failed: boom",
      Task.canceled -> "canceled",
      Task.cede.andThen(Task.canceled).andThen(Task.never) -> "canceled"
    )
    for (use, expected) <- uses do
      val log = Log()
      outcome(log.resource("a").flatMap(_ => log.resource("b")).use(_ => use)): Unit
      assertEquals(log.all, List("+a", "+b", s"-b $expected", s"-a $expected"))

  test("a resource that is used twice is acquired anew each time"):
    val log = Log()
    val twice = log.resource("a")
    twice.use(_ => twice.use(_ => Task.unit)).runSync()
    assertEquals(log.all, List("+a", "+a", "-a succeeded", "-a succeeded"))

  test("where a later resource cannot be acquired, the earlier ones are released with its error"):
    val log = Log()
    val boom = Boom()
    val failing = List[String => Resource[String]](
      _ => Resource.make(Task.fail(boom))(_ => log.say("never")),
      _ => Resource.eval(Task.cede.andThen(Task.fail(boom))),
      _ => throw boom,
      _ => Resource.pure("b").map(_ => throw boom),
      _ => Resource.pure("b").evalTap(_ => Task.fail(boom))
    )
    for resource <- failing do
      val task = log.resource("a").flatMap(resource).use(_ => log.say("used"))
      assertEquals(task.attempt.runSync(), Left(boom))
    assertEquals(log.all, failing.flatMap(_ => List("+a", "-a failed: boom")))

  test("the first error of releasing is thrown, all other releases run, and are told of it"):
    val log = Log()
    val first, second = Boom("release")
    def bad(error: Throwable) = Resource.make(Task.unit)(_ => Task.fail(error))
    val all = log.resource("a").flatMap(_ => bad(second)).flatMap(_ => bad(first))
    assertEquals(all.use(_ => Task.unit).attempt.runSync(), Left(first))
    assertEquals(first.getSuppressed.toList, List(second))
    assertEquals(log.all, List("+a", "-a failed: release"))

  test("errors of releasing are suppressed under the error of the use"):
    val boom = Boom()
    val late = Boom("release")
    val resource = Resource.make(Task.unit)(_ => Task.defer(throw late))
    assertEquals(resource.use(_ => Task.fail(boom)).attempt.runSync(), Left(boom))
    assertEquals(boom.getSuppressed.toList, List(late))

  test("a cancel while acquiring waits for that, skips the use, and releases"):
    for blocking <- List(true, false) do
      val begun, gate = CountDownLatch(1)
      val log = Log()
      val wait =
        if blocking then Task(gate.await()) else Task.fromFuture(Task(gate.await()).toFuture())
      val slow = Resource.make(Task(begun.countDown()).andThen(wait).andThen(log.say("+b")))(_ =>
        log.say("-b")
      )
      val all = log.resource("a").flatMap(_ => slow).flatMap(_ => log.resource("c"))
      val fiber = all.use(_ => log.say("used")).start.runSync()
      await(begun)
      val canceling = startCancel(fiber)
      gate.countDown()
      canceling.joinOrFail.runSync()
      assertEquals(log.all, List("+a", "+b", "-b", "-a canceled"))

  test("makeFull: what poll is given may be cancelled, and then nothing is released"):
    val begun = CountDownLatch(1)
    val log = Log()
    val waits = Resource.makeFull(poll =>
      Task(begun.countDown()).andThen(poll(Task.never)).guarantee(log.say("left"))
    )((_, _) => log.say("released"))
    val fiber = waits.use(_ => Task.unit).start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals(log.all, List("left"))

  test("makeFull: what was acquired after the poll is released, however soon a cancel comes"):
    for _ <- 1 to 2000 do
      val acquired, released = AtomicInteger()
      val resource =
        Resource.makeFull(poll => poll(Task.cede).andThen(Task(acquired.incrementAndGet())))(
          (_, _) => Task(released.incrementAndGet()).void
        )
      val fiber = resource.use(_ => Task.cede).start.runSync()
      fiber.cancel.runSync()
      assertEquals(released.get, acquired.get)

  test("a task that is lifted may be cancelled, and what came before is released"):
    for make <- List[Task[Unit] => Resource[Unit]](
        Resource.eval,
        task => Resource.unit.evalMap(_ => task),
        task => Resource.unit.evalTap(_ => task)
      )
    do
      val begun = CountDownLatch(1)
      val log = Log()
      val all =
        log.resource("a").flatMap(_ => make(Task(begun.countDown()).andThen(Task.never)))
      val fiber = all.use(_ => Task.unit).start.runSync()
      await(begun)
      fiber.cancel.runSync()
      assertEquals(log.all, List("+a", "-a canceled"))

  test("a cancel while releasing waits for it, and each release runs once"):
    val begun, gate = CountDownLatch(1)
    val log = Log()
    val slow = Resource.make(Task.unit)(_ =>
      Task(begun.countDown()).andThen(Task(gate.await())).andThen(Task.cede).andThen(log.say("-b"))
    )
    val fiber = log.resource("a").flatMap(_ => slow).use(_ => Task.unit).start.runSync()
    await(begun)
    val canceling = startCancel(fiber)
    gate.countDown()
    canceling.joinOrFail.runSync()
    assertEquals(log.all, List("+a", "-b", "-a succeeded"))

  test("cancelled at random times, each that was acquired is released once"):
    val random = scala.util.Random(17)
    for round <- 1 to 3000 do
      val acquired, released = AtomicInteger()
      val one = Resource.make(Task.cede.andThen(Task(acquired.incrementAndGet())))(_ =>
        Task.cede.andThen(Task(released.incrementAndGet()).void)
      )
      val all = Resource.both(one.flatMap(_ => one), Resource.parSequence(List(one, one)))
      val fiber = one.flatMap(_ => all).use(_ => Task.cede).start.runSync()
      val until = System.nanoTime() + random.nextInt(60_000)
      while System.nanoTime() < until do Thread.onSpinWait()
      fiber.cancel.runSync()
      assertEquals(released.get, acquired.get, s"round $round")

  test("both are acquired at the same time, and released at the same time"):
    def meeting(count: Int) =
      val latch = CountDownLatch(count)
      Task(latch.countDown()).andThen(Task(latch.await()))
    val acquire, release = meeting(2)
    val one = Resource.make(acquire.as(1))(_ => release)
    assertEquals(Resource.both(one, one).use(Task.pure).runSync(), (1, 1))
    val acquireTen, releaseTen = meeting(10)
    val ten =
      Resource.parSequence((1 to 10).map(i => Resource.make(acquireTen.as(i))(_ => releaseTen)))
    assertEquals(ten.use(Task.pure).runSync(), (1 to 10).toList)

  test("a parallel acquire that fails releases what was acquired, and cancels what is under way"):
    val boom = Boom()
    for left <- List(true, false) do
      val begun = CountDownLatch(2)
      val log = Log()
      val waits = log.resource("a").evalTap(_ => Task(begun.countDown())).evalTap(_ => Task.never)
      val done = log.resource("b").evalTap(_ => Task(begun.countDown()))
      val fails = Resource.make(Task(begun.await()).andThen(Task.fail(boom)))(_ => log.say("no"))
      val others = Resource.both(waits, done)
      val all: Resource[Any] =
        if left then Resource.both(fails, others) else Resource.both(others, fails)
      assertEquals(all.use(_ => log.say("used")).attempt.runSync(), Left(boom))
      assertEquals(log.all.take(2).sorted, List("+a", "+b"))
      assertEquals(log.all.drop(2).sorted, List("-a failed: boom", "-b failed: boom"))

  test("releases at the same time that fail keep none from running"):
    val first = Boom("first")
    val second = Boom("second")
    val released = AtomicInteger()
    val gate = CountDownLatch(1)
    val releases = List(
      Task.fail(first).guarantee(Task(gate.countDown())),
      Task(gate.await()).andThen(Task.fail(second)),
      Task(gate.await()).andThen(Task.cede).andThen(Task(released.incrementAndGet())).void
    )
    val all = Resource.parSequence(releases.map(release => Resource.make(Task.unit)(_ => release)))
    assertEquals(all.use(_ => Task.unit).attempt.runSync(), Left(first))
    assertEquals((first.getSuppressed.toList, released.get), (List(second), 1))

  test(
    "a release that cancels itself runs to its end, as do the others; then the use is cancelled"
  ):
    val released = AtomicInteger()
    val count = Task(released.incrementAndGet()).void
    for release <- List(
        Task.canceled.andThen(count),
        Task.cede.andThen(count).andThen(Task.canceled)
      )
    do
      released.set(0)
      val one = Resource.make(Task.unit)(_ => release)
      val many = Resource.parSequence(List.fill(100)(one))
      val all = many.flatMap(_ => one).onFinalize(count)
      assertEquals(outcome(all.use(_ => Task.unit).andThen(Task.cede)), Outcome.Canceled)
      assertEquals(released.get, 102)

  test("allocated: nothing is released before its release is run, which runs once"):
    val log = Log()
    val (value, release) = log.resource("a").flatMap(_ => log.resource("b")).allocated.runSync()
    assertEquals((value, log.all), ("b", List("+a", "+b")))
    Task.both(release, release).andThen(release).runSync()
    assertEquals(log.all, List("+a", "+b", "-b succeeded", "-a succeeded"))

  test("allocatedCase: the release is told what it is given, and is masked"):
    val log = Log()
    val (_, release) = log.resource("a").allocatedCase.runSync()
    outcome(Task.uncancelable(_ => Task.canceled.andThen(release(Outcome.Canceled)))): Unit
    assertEquals(log.all, List("+a", "-a canceled"))

  test(
    "the error of a release that has cancelled itself before is not lost, in parallel either"
  ):
    val boom = Boom()
    val bad = Resource.make(Task.unit)(_ => Task.canceled.andThen(Task.fail(boom)))
    for resource <- List[Resource[Any]](bad, Resource.both(bad, Resource.eval(Task.unit))) do
      var seen: Either[Throwable, Unit] | Null = null
      val masked =
        Task.uncancelable(_ => resource.use(_ => Task.unit).attempt.map(result => seen = result))
      masked.start.flatMap(_.join).runSync(): Unit
      assertEquals(seen, Left(boom))

  test("allocated that fails or is cancelled half-way releases what it has"):
    val log = Log()
    val boom = Boom()
    val fails = log.resource("a").flatMap(_ => Resource.eval(Task.fail(boom)))
    assertEquals(fails.allocated.attempt.runSync(), Left(boom))
    val begun = CountDownLatch(1)
    val waits =
      log
        .resource("b")
        .evalTap(_ => Task(begun.countDown()))
        .flatMap(_ => Resource.eval(Task.never))
    val fiber = waits.allocated.start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals(log.all, List("+a", "-a failed: boom", "+b", "-b canceled"))

  test("onFinalize runs after the release, and also where there was nothing to release"):
    val log = Log()
    log.resource("a").onFinalize(log.say("after")).use(_ => Task.unit).runSync()
    Resource
      .eval(Task.fail(Boom()))
      .onFinalizeCase(o => log.say(how(o)))
      .use(_ => Task.unit)
      .attempt
      .runSync(): Unit
    assertEquals(log.all, List("+a", "-a succeeded", "after", "failed: boom"))

  test("fromAutoCloseable closes, useEval runs what it is given, useForever holds until a cancel"):
    val closed = AtomicBoolean()
    val begun = CountDownLatch(1)
    val resource = Resource.fromAutoCloseable(Task[AutoCloseable](() => closed.set(true)))
    assertEquals(resource.as("value").runSync(), "value")
    assert(closed.getAndSet(false))
    val fiber = resource.evalTap(_ => Task(begun.countDown())).useForever.start.runSync()
    await(begun)
    assert(!closed.get)
    fiber.cancel.runSync()
    assert(closed.get)

  extension [A](resource: Resource[A])
    private def as[B](value: B): Task[B] = resource.map(_ => Task.pure(value)).useEval

  test("handleErrorWith releases what the first had acquired, and is not for errors of the use"):
    val log = Log()
    val boom = Boom()
    val first = log.resource("a").flatMap(_ => Resource.eval(Task.fail(boom)))
    val handled = first.handleErrorWith(error => log.resource("b").map(_ => error.getMessage))
    assertEquals(handled.use(Task.pure).runSync(), "boom")
    assertEquals(log.all, List("+a", "-a failed: boom", "+b", "-b succeeded"))
    assertEquals(first.attempt.use(Task.pure).runSync(), Left(boom))
    assertEquals(log.resource("c").attempt.use(_ => Task.fail(boom)).attempt.runSync(), Left(boom))

  test("flatMaps nest very deep, to the left and to the right, and so do releases"):
    val deep = Tier(200_000, 1_000_000)
    val left =
      (1 to deep).foldLeft(Resource.pure(0))((r, _) => r.flatMap(n => Resource.pure(n + 1)))
    assertEquals(left.use(Task.pure).runSync(), deep)
    def go(n: Int): Resource[Int] =
      if n == deep then Resource.pure(n) else Resource.pure(n).flatMap(i => go(i + 1))
    assertEquals(go(0).use(Task.pure).runSync(), deep)
    val maps = (1 to deep).foldLeft(Resource.pure(0))((r, _) => r.map(_ + 1))
    assertEquals(maps.use(Task.pure).runSync(), deep)
    val released = AtomicInteger()
    val one = Resource.make(Task.unit)(_ => Task(released.incrementAndGet()).void)
    def many(left: Int): Resource[Unit] =
      if left == 0 then Resource.unit else one.flatMap(_ => many(left - 1))
    many(deep).use(_ => Task(assertEquals(released.get, 0))).runSync()
    assertEquals(released.get, deep)

  test("background runs beside the use, and is cancelled, finalizers included, at its end"):
    val begun = CountDownLatch(1)
    val released = AtomicBoolean()
    val beside = Task(begun.countDown())
      .andThen(Task.never)
      .guarantee(Task.cede.andThen(Task(released.set(true))))
    val result = beside.background.use(_ => Task(begun.await()).andThen(Task(released.get)))
    assertEquals(result.map((_, released.get)).runSync(), (false, true))

  test("background: the fiber's value is there for the use, and a cancel of the use cancels it"):
    assertEquals(Task.cede.as(7).background.use(_.joinOrFail).runSync(), 7)
    val begun = CountDownLatch(1)
    val released = AtomicInteger()
    val beside =
      Task(begun.countDown()).andThen(Task.never).guarantee(Task(released.incrementAndGet()).void)
    val fiber = beside.background.use(_.join).start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals(released.get, 1)

  test("both, as a method: acquired and released at the same time, at each run"):
    for _ <- 1 to 2 do
      val begun = CountDownLatch(2)
      val log = Log()
      def meets(name: String) =
        Resource.make(Task(begun.countDown()).andThen(Task(begun.await())).as(name))(n =>
          log.say(n)
        )
      val both = meets("a").both(meets("b"))
      assertEquals(both.use(pair => log.say("used").as(pair)).runSync(), ("a", "b"))
      assertEquals((log.all.head, log.all.tail.sorted), ("used", List("a", "b")))

  private def timesOut(task: Task[Any]): Unit = task.attempt
    .map {
      case Left(e: TimeoutException) =>
        assertEquals(e.getMessage, "The resource was not acquired within 1 s.")
      case other => fail(s"$other")
    }
    .runSync()

  /** On virtual time. */
  private def timed[A](task: Task[A]): (FiniteDuration, Either[Throwable, A]) =
    TestRuntime.timed(task.attempt)

  test("timeout: what is acquired in time is used for as long as it takes, at each run"):
    val log = Log()
    val slow = Resource.eval(Task.sleep(500.millis)).flatMap(_ => log.resource("a"))
    val use = slow.timeout(1.second).use(a => Task.sleep(1.hour).as(a))
    for _ <- 1 to 2 do assertEquals(timed(use), (1.hour + 500.millis, Right("a")))
    val once = List("+a", "-a succeeded")
    assertEquals(log.all, once ++ once)

  test("timeout: an acquiring that waits is cancelled, and what came before it is released"):
    val log = Log()
    val waits = log.resource("a").flatMap(_ => Resource.eval(Task.never.onCancel(log.say("left"))))
    val (took, result) = timed(waits.timeout(1.second).use(_ => log.say("used")))
    assertEquals((result.isLeft, took), (true, 1.second))
    timesOut(Task.fromEither(result))
    assertEquals(log.all.map(_.takeWhile(_ != ':')), List("+a", "left", "-a failed"))

  test("timeout: what a masked acquiring has acquired too late is released, and not used"):
    for rest <- List[Resource[String] => Resource[Any]](
        identity,
        _.map(_ + "!"),
        _.evalTap(_ => Task.unit),
        Resource.both(_, Resource.unit),
        _.onFinalize(Task.unit)
      )
    do
      val log = Log()
      val late = Resource.make(Task.sleep(3.seconds).as("a"))(a => log.say(s"-$a"))
      val (took, result) = timed(rest(late).timeout(1.second).use(_ => log.say("used")))
      timesOut(Task.fromEither(result))
      assertEquals((took, log.all), (3.seconds, List("-a")))

  test("timeout: also where a platform thread that has called runSync acquires"):
    for wait <- List(Task.sleep(50.millis), Task(Thread.sleep(50))) do
      val acquired, released, used = AtomicInteger()
      val late = Resource.make(wait.andThen(Task(acquired.incrementAndGet())))(_ =>
        Task(released.incrementAndGet()).void
      )
      // None is acquired if the limit is over before the acquiring has begun.
      for _ <- 1 to 20 do
        late.timeout(1.milli).use(_ => Task(used.incrementAndGet())).attempt.runSync(): Unit
      assertEquals((used.get, released.get), (0, acquired.get))
      assert(acquired.get > 0)

  test("timeout: an error of acquiring in time is the error"):
    val boom = Boom()
    val fails = Resource.eval(Task.fail(boom)).timeout(1.second)
    assertEquals(timed(fails.use(_ => Task.unit)), (Duration.Zero, Left(boom)))

  test("timeout: a cancel from outside reaches the acquiring, and waits for what it releases"):
    val begun = CountDownLatch(1)
    val log = Log()
    val waits = log.resource("a").evalTap(_ => Task(begun.countDown()).andThen(Task.never))
    val fiber = waits.timeout(1.hour).use(_ => log.say("used")).start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals(log.all, List("+a", "-a canceled"))

  test("timeout, cancelled at random times: each that was acquired is released once"):
    val random = scala.util.Random(29)
    for round <- 1 to 2000 do
      val acquired, released = AtomicInteger()
      val one = Resource.make(Task.cede.andThen(Task(acquired.incrementAndGet())))(_ =>
        Task.cede.andThen(Task(released.incrementAndGet()).void)
      )
      val limited = one.both(one).flatMap(_ => one).timeout(random.nextInt(60_000).nanos)
      val fiber = limited.use(_ => Task.cede).attempt.start.runSync()
      val until = System.nanoTime() + random.nextInt(60_000)
      while System.nanoTime() < until do Thread.onSpinWait()
      fiber.cancel.runSync()
      assertEquals(released.get, acquired.get, s"round $round")

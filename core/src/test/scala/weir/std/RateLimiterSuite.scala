package weir.std

import java.util.concurrent.ConcurrentLinkedQueue
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.Random
import weir.{Fiber, HandTimers, Outcome, StreamTests, Task, Tier, WeirRuntime}

class RateLimiterSuite extends StreamTests:

  /** A limiter by a clock that is moved by hand, and when each permit was given. */
  private final class Hand(permits: Int, per: FiniteDuration, burst: Int):
    val clock: HandTimers = HandTimers(RateLimiterSuite.this)
    given runtime: WeirRuntime = clock.runtime
    val limiter: RateLimiter = RateLimiter.unsafe(permits, per, burst)
    private val begin = clock.nanoTime
    private val permitLog = ConcurrentLinkedQueue[(String, FiniteDuration)]()

    def now: FiniteDuration = (clock.nanoTime - begin).nanos
    def log: List[(String, FiniteDuration)] = permitLog.asScala.toList
    def times: List[FiniteDuration] = log.map(_._2)

    /** A fiber that acquires, and waits by now if it must. */
    def acquiring(name: String, count: Int = 1): Fiber[Unit] =
      val task = if count == 1 then limiter.acquire else limiter.acquireN(count)
      val fiber = task.map(_ => permitLog.add((name, now)): Unit).start.runSync()
      clock.still()
      fiber

  test("with a burst of 1, permits come evenly spaced, in order, however many wait"):
    val hand = Hand(10, 1.second, 1)
    for i <- 1 to 5 do hand.acquiring(s"$i"): Unit
    hand.clock.pass(1000.millis)
    assertEquals(hand.log, (1 to 5).toList.map(i => (s"$i", ((i - 1) * 100).millis)))
    assertEquals(hand.clock.size, 0)

  test("after a pause, as many as the burst come at once"):
    val hand = Hand(10, 1.second, 3)
    hand.clock.pass(1.hour)
    val start = hand.now
    for i <- 1 to 5 do hand.acquiring(s"$i"): Unit
    hand.clock.pass(500.millis)
    assertEquals(hand.times.map(_ - start), List(0, 0, 0, 100, 200).map(_.millis))

  test("times that do not divide are exact: 3 a second are 3,000 in 1,000 s"):
    val hand = Hand(3, 1.second, 1)
    var count = 0
    import hand.given
    for _ <- 1 to 10_000 do
      hand.clock.pass(100.millis)
      if hand.limiter.tryAcquire.runSync() then count += 1
    // One was there at the start, and one comes every fourth or third step.
    assert(count >= 2499 && count <= 3001, count)
    val steady = Hand(3, 1.second, 3000)
    for _ <- 1 to 3000 do assert(steady.limiter.tryAcquire.runSync()(using steady.runtime))
    for _ <- 1 to 10_000 do
      steady.clock.pass(100.millis)
      steady.limiter.tryAcquire.void.runSync()(using steady.runtime)
    // 3,000 have come, and all of them were taken.
    assert(!steady.limiter.tryAcquire.runSync()(using steady.runtime))

  test("tryAcquire takes a permit that is there, and none that a fiber waits for"):
    val hand = Hand(10, 1.second, 2)
    import hand.given
    assert(hand.limiter.tryAcquire.runSync())
    assert(hand.limiter.tryAcquire.runSync())
    assert(!hand.limiter.tryAcquire.runSync())
    hand.clock.pass(100.millis)
    assert(hand.limiter.tryAcquire.runSync())
    val waiting = hand.acquiring("two", 2)
    hand.clock.pass(150.millis)
    assert(!hand.limiter.tryAcquire.runSync())
    hand.clock.pass(50.millis)
    waiting.joinOrFail.runSync()
    assertEquals(hand.times, List(300.millis))

  test("a fiber that wants many permits is not overtaken by those that want few"):
    val hand = Hand(10, 1.second, 5)
    hand.acquiring("first", 5): Unit
    hand.acquiring("many", 5): Unit
    hand.acquiring("one"): Unit
    hand.clock.pass(700.millis)
    assertEquals(
      hand.log,
      List("first" -> Duration.Zero, "many" -> 500.millis, "one" -> 600.millis)
    )

  test("a fiber that is cancelled while it waits takes none, and those behind move up"):
    val hand = Hand(10, 1.second, 4)
    import hand.given
    hand.acquiring("all", 4): Unit
    val many = hand.acquiring("many", 4)
    val first = hand.acquiring("first")
    val second = hand.acquiring("second")
    hand.clock.pass(100.millis)
    first.cancel.runSync()
    // The permit that has gathered for it goes to the next at once.
    many.cancel.runSync()
    second.joinOrFail.runSync()
    assertEquals(hand.log.tail, List("second" -> 100.millis))
    assertEquals(hand.clock.size, 0)

  test("when all waiting fibers are cancelled, no alarm is left, and the next goes on as usual"):
    val hand = Hand(10, 1.second, 1)
    import hand.given
    hand.acquiring("first"): Unit
    val waiting = (1 to 3).map(i => hand.acquiring(s"$i"))
    for fiber <- waiting do fiber.cancel.runSync()
    assertEquals(hand.clock.size, 0)
    hand.acquiring("last"): Unit
    hand.clock.pass(100.millis)
    assertEquals(hand.log, List("first" -> Duration.Zero, "last" -> 100.millis))

  test("cancelled before it begins, acquire takes nothing"):
    val hand = Hand(1, 1.second, 1)
    import hand.given
    val fiber = Task.uncancelable(poll => Task.canceled.andThen(poll(hand.limiter.acquire))).start
    assertEquals(fiber.flatMap(_.join).runSync(), Outcome.Canceled)
    assert(hand.limiter.tryAcquire.runSync())

  test("limit runs the task once there is a permit, and fails as it does"):
    val hand = Hand(10, 1.second, 1)
    import hand.given
    assertEquals(hand.limiter.limit(Task(hand.now)).runSync(), Duration.Zero)
    val fiber = hand.limiter.limit(Task(hand.now)).start.runSync()
    hand.clock.still()
    hand.clock.pass(100.millis)
    assertEquals(fiber.joinOrFail.runSync(), 100.millis)
    hand.clock.pass(100.millis)
    intercept[Boom](hand.limiter.limit(Task.fail(Boom())).runSync()): Unit

  test("alarms that ring late lose no permit, as long as they are less than one permit late"):
    val hand = Hand(1000, 1.second, 1)
    for i <- 0 to 100 do hand.acquiring(s"$i"): Unit
    for _ <- 1 to 125 do hand.clock.passLate(800.micros)
    assertEquals(hand.log.size, 101)
    assert(hand.times.last <= 101.millis, hand.times.last)

  test("after an alarm that rings very late no more come at once than the burst and one"):
    val hand = Hand(1000, 1.second, 3)
    for i <- 1 to 100 do hand.acquiring(s"$i"): Unit
    assertEquals(hand.log.size, 3)
    hand.clock.passLate(1.second)
    assertEquals(hand.log.size, 7)

  test("in any time there are at most burst + 1 + the rate, whatever fibers come and go"):
    for seed <- 1 to Tier(6, 20) do
      val random = Random(seed)
      val burst = 1 + random.nextInt(5)
      val hand = Hand(1 + random.nextInt(20), 1.second, burst)
      import hand.given
      val rate = hand.limiter.awaitedAs
      var waiting = List.empty[Fiber[Unit]]
      var granted = List.empty[(Int, FiniteDuration)]
      for _ <- 1 to 200 do
        random.nextInt(3) match
          case 0 =>
            val count = 1 + random.nextInt(burst)
            waiting ::= hand.acquiring(s"$count", count)
          case 1 if waiting.nonEmpty =>
            waiting(random.nextInt(waiting.size)).cancel.runSync()
          case _ =>
            val step = random.nextInt(300).millis
            if random.nextBoolean() then hand.clock.pass(step) else hand.clock.passLate(step)
      granted = hand.log.map((count, at) => (count.toInt, at))
      val permits = rate.takeWhile(_ != ',').dropWhile(!_.isDigit).toInt
      for (_, from) <- granted; (_, to) <- granted if to >= from do
        val within = granted.filter((_, at) => at >= from && at <= to).map(_._1).sum
        val most = burst + 1 + (to - from).toNanos * permits / 1e9
        assert(within <= most + 1e-6, s"seed $seed: $within in ${to - from}, at most $most")
      for fiber <- waiting do fiber.cancel.runSync()
      assertEquals(hand.clock.size, 0, s"seed $seed")

  test("by the machine's clock, 1,000 a second are 1,000 a second"):
    val limiter = RateLimiter(1000, 1.second).runSync()
    val (_, took) = timed(Task.parForeachN(8)(1 to 200)(_ => limiter.acquire).runSync())
    assert(took > 195.millis && took < Tier(10.seconds, 2.seconds), s"took $took")

  for (permits, per, burst) <- List((0, 1.second, 1), (1, 0.seconds, 1), (1, 1.second, 0)) do
    test(s"$permits permits per $per with a burst of $burst are refused with the rule"):
      val error =
        intercept[IllegalArgumentException](RateLimiter(permits, per, burst).runSync())
      assert(error.getMessage.contains("All three must be positive"), error.getMessage)

  test("a burst that cannot be counted, and a count above the burst, are refused"):
    val large = intercept[IllegalArgumentException](
      RateLimiter(999_999_937, 36500.days, Int.MaxValue).runSync()
    )
    assert(large.getMessage.contains("Take a smaller burst"), large.getMessage)
    val limiter = RateLimiter.unsafe(1, 1.second, 2)
    for count <- List(0, 3) do
      val error = intercept[IllegalArgumentException](limiter.acquireN(count).runSync())
      assert(error.getMessage.contains(s"the count was $count"), error.getMessage)

  test("a fiber that waits says for what"):
    val hand = Hand(10, 1.second, 1)
    import hand.given
    hand.acquiring("first"): Unit
    val fiber = hand.acquiring("second")
    assertEquals(
      weir.fiber.Waits.of(fiber).awaitedAs,
      "RateLimiter(10, 1 s, 1), for a permit"
    )
    fiber.cancel.runSync()

  test("tens of thousands of cancelled waits leave nothing behind"):
    given WeirRuntime = smallRuntime()
    val limiter = RateLimiter.unsafe(1, 1.hour)
    limiter.acquire.runSync()
    def round() =
      val fibers = (1 to 1000).map(_ => limiter.acquire.start.runSync())
      eventually("all wait")(summon[WeirRuntime].scheduler.isQuiet)
      Task.foreach(fibers)(_.cancel).runSync()
    val grown = growth(for _ <- 1 to Tier(20, 50) do round())
    assert(grown < megabyte / 2, s"grew by $grown bytes")

package weir
package stream

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import org.scalacheck.Gen
import org.scalacheck.Prop.forAllNoShrink
import scala.concurrent.duration.*
import weir.testkit.TestRuntime

/** The groups of `groupWeightedWithin`. The elements are their own weights. */
class GroupWeightedWithinSuite extends munit.ScalaCheckSuite, StreamTests:

  override def scalaCheckTestParameters =
    super.scalaCheckTestParameters.withMinSuccessfulTests(Tier(15, 1000))

  private def grouped(source: Stream[Long], limit: Long): Stream[Vector[Long]] =
    source.groupWeightedWithin(limit, 1.hour)(identity)

  /** The same elements: made one by one, all ready, and ready in pieces. */
  private def forms(items: List[Long]): List[Stream[Long]] = List(
    Stream.fromIterable(items).evalMap(n => Task.cede.as(n)),
    Stream.fromIterable(items),
    Stream.fromIterable(items.grouped(3).toList).flatMap(Stream.fromIterable)
  )

  private def groups(items: Long*)(limit: Long, size: Int = Int.MaxValue): List[Vector[Long]] =
    val all = forms(items.toList).map(
      _.groupWeightedWithin(limit, 1.hour, size)(identity).toList.runSync()
    )
    all.tail.foreach(assertEquals(_, all.head))
    all.head

  private def of(weights: Long*): Vector[Long] = weights.toVector

  /** Each element at its time. */
  private def at(elements: (Int, Long)*): Stream[Long] =
    val times = elements.map(_._1)
    Stream.emits(elements.zip(0 +: times)).evalMap { case ((time, weight), before) =>
      Task.sleep((time - before).millis).as(weight)
    }

  /** The groups, each with the time at which it came, and with the time of the end. */
  private def timed(groups: Stream[Vector[Long]]): (FiniteDuration, List[(Vector[Long], Long)]) =
    TestRuntime.timed(
      Task.monotonic.flatMap(start =>
        groups.evalMap(group => Task.monotonic.map(now => (group, (now - start).toMillis))).toList
      )
    )

  // ---- by weight ----

  test("a group ends with the element that fills it, and before one that does not fit"):
    assertEquals(groups(2, 3, 4, 2, 1)(5), List(of(2, 3), of(4), of(2, 1)))
    assertEquals(groups(5, 5)(5), List(of(5), of(5)))
    assertEquals(groups()(5), Nil)

  test("an element that is heavier than the limit is a group of its own"):
    assertEquals(groups(1, 9, 1)(5), List(of(1), of(9), of(1)))
    assertEquals(groups(9, 9, 0)(5), List(of(9), of(9), of(0)))
    assertEquals(groups(0, 9)(5), List(of(0), of(9)))

  test("elements of weight 0 fit into each group that is not full, and count for the size"):
    assertEquals(groups(0, 0, 5, 0, 0)(5), List(of(0, 0, 5), of(0, 0)))
    assertEquals(groups(4, 0, 0, 1)(5), List(of(4, 0, 0, 1)))
    assertEquals(groups(0, 0, 0, 0, 0)(5, size = 2), List(of(0, 0), of(0, 0), of(0)))

  test("a group has at most size elements"):
    assertEquals(groups(1, 1, 1, 4, 1)(5, size = 2), List(of(1, 1), of(1, 4), of(1)))
    assertEquals(groups(1, 2)(5, size = 1), List(of(1), of(2)))

  test("sums do not overflow"):
    val most = Long.MaxValue
    assertEquals(groups(most, most, 1)(most), List(of(most), of(most), of(1)))
    assertEquals(groups(1, most, most - 1, 1)(most).map(_.size), List(1, 1, 2))

  // ---- by time ----

  test("a heavy element and a full group come at once, others by time from their first"):
    val source = at(
      100 -> 2L, // ended by the next one
      300 -> 4L, // fills its group with the next one
      400 -> 1L,
      500 -> 9L,
      600 -> 1L, // ended by its time
      1500 -> 1L,
      1700 -> 1L // ended by the end
    )
    val (end, got) = timed(source.groupWeightedWithin(5, 1.second)(identity))
    assertEquals(
      got,
      List(
        (Vector(2L), 300L),
        (Vector(4L, 1L), 400L),
        (Vector(9L), 500L),
        (Vector(1L, 1L), 1600L),
        (Vector(1L), 1700L)
      )
    )
    assertEquals(end, 1700.millis)

  test("the time of a group with an element that waited begins when it is added"):
    val late = at(0 -> 5L, 100 -> 3L, 200 -> 4L) ++ Stream.sleep(1.hour).as(0L)
    val (_, got) = timed(
      late
        .groupWeightedWithin(5, 1.second)(identity)
        .take(3)
        .evalTap(group => Task.when(group == Vector(5L))(Task.sleep(10.seconds)))
    )
    // The second group is taken at 10 s: only then is there room for the third element.
    assertEquals(got, List((Vector(5L), 10000L), (Vector(3L), 10000L), (Vector(4L), 11000L)))

  // ---- the weight ----

  test("the weight is asked for once for each element, in their order"):
    for source <- forms((1L to 200L).toList) do
      val asked = Log()
      val sum = source
        .groupWeightedWithin(50, 1.hour) { n =>
          asked.write(s"$n")
          n
        }
        .fold(0)(_ + _.size)
      assertEquals(sum.runSync(), 200)
      assertEquals(asked.lines, (1 to 200).map(_.toString).toList)

  test("a weight that fails is the error, after the elements before"):
    val boom = Boom()
    for source <- forms((1L to 20L).toList); failing <- 1L to 10L do
      val weighed = source
        .groupWeightedWithin(6, 1.hour)(n => if n == failing then throw boom else n)
      assertEquals(
        seen(weighed.mapConcat(identity)).runSync(),
        List.range(1L, failing) :+ boom: List[Any]
      )

  test("a weight below 0 is an error that says so, after the elements before"):
    for source <- forms(List(1, 2, -3, 4)) do
      seen(grouped(source, 9)).runSync() match
        case List(Vector(1L, 2L), error: IllegalArgumentException) =>
          assertEquals(
            error.getMessage,
            "Stream.groupWeightedWithin: the weight of an element was -3. It must be at least 0."
          )
        case other => fail(s"$other")

  // ---- the producer and its consumer ----

  /** Checks how many elements are made while the consumer uses the first group, and each later one.
    */
  private def ahead(weights: Long => Long, limit: Long, size: Int)(counts: Int*): Unit =
    val made = AtomicInteger()
    val source = Stream.repeatEval(Task(weights(made.getAndIncrement())))
    val goOn = Queue.unsafe[Unit](1)
    val slow =
      source.groupWeightedWithin(limit, 1.hour, size)(identity).evalMap(_ => goOn.take).drain
    val runtime = TestRuntime(carriers = 1, mayLeak = true)
    try
      val started = runtime.start(slow)
      for count <- counts do
        runtime.awaitQuiet()
        assertEquals(made.get, count)
        runtime.run(goOn.offer(()))
      runtime.run(started.fiber.cancel)
    finally runtime.close()

  test("upstream is at most one group and one element ahead"):
    ahead(_ => 1, limit = 4, Int.MaxValue)(4 + 4 + 1, 8 + 4 + 1, 12 + 4 + 1)
    ahead(_ => 3, limit = 4, Int.MaxValue)(1 + 1 + 1, 2 + 1 + 1, 3 + 1 + 1)
    ahead(_ => 9, limit = 4, Int.MaxValue)(1 + 1 + 1, 2 + 1 + 1, 3 + 1 + 1)
    ahead(_ => 0, limit = 4, size = 3)(3 + 3 + 1, 6 + 3 + 1)
    ahead(i => if i % 2 == 0 then 1 else 4, limit = 4, Int.MaxValue)(3, 4, 5)

  test("take(n) makes no more elements than n groups of the size"):
    for n <- 1 to 4 do
      val made = AtomicInteger()
      val source = Stream.repeatEval(Task(made.incrementAndGet().toLong))
      val groups = source.groupWeightedWithin(Long.MaxValue, 1.hour, size = 4)(identity)
      assertEquals(groups.take(n).count.runSync(), n.toLong)
      assertEquals(made.get, 4 * n)
    assertEquals(grouped(Stream.constant(3L), 5).take(3).toList.runSync(), List.fill(3)(of(3)))

  test("nothing runs before the first group is asked for, nor for take(0)"):
    val made = AtomicInteger()
    val source = Stream.repeatEval(Task(made.incrementAndGet().toLong))
    assertEquals(TestRuntime.run(grouped(source, 5).take(0).toList), Nil)
    assertEquals(made.get, 0)

  test("a producer that ends a group, and waits for room, has woken its consumer"):
    val reached = CountDownLatch(1)
    val source = Stream.emits(List(3L, 4L)).evalMap(n => Task.cede.as(n)) ++
      Stream.eval(Task { await(reached); 1L })
    val got = grouped(source, 5).evalTap(_ => Task(reached.countDown())).toList
    assertEquals(within(10.seconds)(got.runSync()), List(of(3), of(4, 1)))

  test("cancelled while an element waits for room, and while its weight blocks"):
    val log = Log()
    val taken = Deferred.unsafe[Unit]
    val source = log.resource("a")(Stream.repeatEval(Task.pure(3L)))
    val busy = grouped(source, 5).evalMap(_ => taken.complete(()) >> Task.never).drain
    val fiber = busy.start.runSync()
    taken.get.andThen(fiber.cancel).runSync()
    assertEquals(log.lines, List("+a", "-a"))
    for source <- forms(List(1, 2, 3)) do
      val (log, weighs) = (Log(), CountDownLatch(1))
      val blocked = log.resource("a")(source).groupWeightedWithin(5, 1.hour) { n =>
        if n == 2 then
          weighs.countDown()
          Thread.sleep(3_600_000)
        n
      }
      val fiber = blocked.drain.start.runSync()
      await(weighs)
      fiber.cancel.runSync()
      assertEquals(log.lines, List("+a", "-a"))

  // ---- laws ----

  private val weights = Gen.listOf(Gen.frequency(1 -> Gen.const(0L), 6 -> Gen.choose(1L, 12L)))
  private val limits = Gen.choose(1L, 15L)
  private val sizes = Gen.frequency(1 -> Gen.const(Int.MaxValue), 2 -> Gen.choose(1, 5))

  /** No element comes just at the end of a window: which is first would be undefined. */
  private val window = 100.millis + 500.micros

  private final case class Element(gapMillis: Int, weight: Long)

  private val elements = Gen.listOf(
    for
      gap <- Gen.frequency(4 -> Gen.const(0), 3 -> Gen.choose(0, 60), 1 -> Gen.choose(90, 400))
      weight <- Gen.frequency(1 -> Gen.const(0L), 6 -> Gen.choose(1L, 12L))
    yield Element(gap, weight)
  )

  /** The number of elements of the first group, apart from its time, and true if it is full. */
  private def first(weights: List[Long], limit: Long, size: Int): (Int, Boolean) =
    val sums = weights.scanLeft(0L)(_ + _).tail.take(size)
    val fitting = math.max(1, sums.takeWhile(_ <= limit).size)
    val filling = sums.indexWhere(_ >= limit) + 1
    val count = if filling > 0 then math.min(fitting, filling) else fitting
    (count, count == size || sums(count - 1) >= limit)

  private def expected(weights: List[Long], limit: Long, size: Int): List[List[Long]] =
    if weights.isEmpty then Nil
    else
      val (group, rest) = weights.splitAt(first(weights, limit, size)._1)
      group :: expected(rest, limit, size)

  /** The groups, each with the time at which it is complete, of elements with their times. */
  private def expectedAt(
      elements: List[(Long, Long)],
      limit: Long,
      size: Int
  ): List[(List[Long], Duration)] = elements match
    case Nil => Nil
    case (firstTime, _) :: _ =>
      val windowEnd = firstTime.millis + window
      val inTime = elements.takeWhile(_._1.millis <= windowEnd)
      val (count, isFull) = first(inTime.map(_._2), limit, size)
      val (group, rest) = elements.splitAt(count)
      val complete =
        if isFull then group.last._1.millis
        else if rest.isEmpty then windowEnd.min(group.last._1.millis)
        else windowEnd.min(rest.head._1.millis)
      (group.map(_._2), complete) :: expectedAt(rest, limit, size)

  private def source(elements: List[Element]): Stream[Long] =
    Stream.fromIterable(elements).evalMap { element =>
      if element.gapMillis == 0 then Task.pure(element.weight)
      else Task.sleep(element.gapMillis.millis).as(element.weight)
    }

  property("each group is complete when it is full, ended by the next element, or its time is up"):
    forAllNoShrink(elements, limits, sizes) { (elements, limit, size) =>
      val times = elements.scanLeft(0L)(_ + _.gapMillis).tail
      val groups = source(elements).groupWeightedWithin(limit, window, size)(identity)
      val (_, got) = timed(groups)
      val model = expectedAt(times.zip(elements.map(_.weight)), limit, size)
      assertEquals(
        got.map((group, time) => (group.toList, time)),
        model.map((group, time) => (group, time.toMillis))
      )
    }

  property("with a slow consumer nothing is lost, and no group is empty, too heavy or too large"):
    forAllNoShrink(elements, limits, sizes, Gen.choose(0, 200)) { (elements, limit, size, pause) =>
      val groups = source(elements).groupWeightedWithin(limit, window, size)(identity)
      val got = TestRuntime.run(groups.evalTap(_ => Task.sleep(pause.millis)).toList)
      assertEquals(got.flatten, elements.map(_.weight))
      for group <- got do
        assert(group.nonEmpty && group.size <= size, group)
        assert(group.size == 1 || group.sum <= limit, group)
    }

  property(
    "without an end by time, the groups depend neither on the consumer nor on what is ready"
  ):
    forAllNoShrink(weights, limits, sizes, Gen.choose(0, 2)) { (items, limit, size, pause) =>
      for source <- forms(items) do
        val groups = source.groupWeightedWithin(limit, 1.day, size)(identity)
        val got = TestRuntime.run(groups.evalTap(_ => Task.sleep(pause.seconds)).toList)
        assertEquals(got.map(_.toList), expected(items, limit, size))
    }

  property("with the weight 1 it is groupWithin, with and without a slow consumer"):
    forAllNoShrink(elements, Gen.choose(1, 5), Gen.oneOf(0, 30, 200)) { (elements, size, pause) =>
      def run(groups: Stream[Long] => Stream[Vector[Long]]) =
        timed(groups(source(elements)).evalTap(_ => Task.sleep(pause.millis)))
      val counted = run(_.groupWithin(size, window))
      assertEquals(run(_.groupWeightedWithin(size, window)(_ => 1)), counted)
      assertEquals(run(_.groupWeightedWithin(1, window, size)(_ => 0)), counted)
    }

  property("without an end by time it is chunkWeighted, if no weight is 0"):
    forAllNoShrink(weights, limits) { (items, limit) =>
      val positive = items.filter(_ > 0)
      for source <- forms(positive) do
        assertEquals(
          grouped(source, limit).toList.runSync(),
          Stream.fromIterable(positive).chunkWeighted(limit)(identity).toList.runSync()
        )
    }

  test("no element of many is lost, whose groups are ended by weight and by time"):
    val n = Tier(10_000, 1_000_000)
    val groups = Stream.range(0, n).map(_.toLong).groupWeightedWithin(4096, 100.micros)(_ % 300)
    var next = 0L
    for group <- groups.toList.runSync() do
      assert(group.nonEmpty && group.map(_ % 300).sum <= 4096, group)
      assertEquals(group.toList, List.range(next, next + group.size))
      next += group.size
    assertEquals(next, n.toLong)

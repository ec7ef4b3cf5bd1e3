package weir.std

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.Random
import weir.std.KeyedQueue.Next
import weir.sync.KeyedLines
import weir.testkit.TestRuntime
import weir.{Deferred, Queue, StreamTests, Task, Tier, WeirRuntime}

/** `KeyedQueue`: limits for each key, fairness, delays, holds, the end, and what a cancel keeps. */
class KeyedQueueSuite extends StreamTests:

  /** The values are (key, number). */
  private type Values = KeyedQueue[String, (String, Int)]

  private def queue(
      perKey: Int = 1,
      capacity: Int = 1000,
      priority: ((String, Int)) => Long = _ => 0L
  )(using WeirRuntime): Values =
    KeyedQueue.unsafe(capacity, _._1, _ => perKey, priority)

  private def closedWith(queue: Values, values: (String, Int)*)(using WeirRuntime): Values =
    (queue.offerAll(values) >> queue.close).runSync(): Unit
    queue

  private def done(value: (String, Int)): Task[Next[(String, Int), (String, Int)]] =
    Task.pure(Next.Done(value))

  private def made(perKey: Int = 1, capacity: Int = 1000): Task[Values] =
    KeyedQueue(capacity, _._1, _ => perKey)

  /** Returns the results, and the time at which each value began, in milliseconds. `f` is called
    * with the value and the number of times that it has begun.
    */
  private def timed(values: Values, parallel: Int)(
      f: (Int, Int) => Next[(String, Int), Int]
  ): Task[(List[Int], List[(Int, Int)])] =
    val times = ConcurrentHashMap[Int, Integer]()
    val begun = ConcurrentLinkedQueue[(Int, Int)]()
    for
      start <- Task.monotonic
      results <- values
        .process(parallel)(value =>
          Task.monotonic.map { now =>
            begun.add((value._2, (now - start).toMillis.toInt)): Unit
            f(value._2, times.merge(value._2, 1, (a, b) => a + b))
          }
        )
        .toList
    yield (results, begun.asScala.toList)

  /** A key of whose methods one fails for the number 0. */
  private final case class OddKey(number: Int):
    override def hashCode: Int = if number == 0 then throw Boom() else number

  test("keys take turns, however many values they have"):
    val values = closedWith(queue(), (1 to 3).map("a" -> _)*)
    assertEquals(values.process(1)(done).toList.runSync().map(_._2), List(1, 2, 3))
    val fair = closedWith(queue(), "a" -> 1, "a" -> 2, "a" -> 3, "b" -> 4, "c" -> 5, "b" -> 6)
    assertEquals(fair.process(1)(done).toList.runSync().map(_._2), List(1, 4, 5, 2, 6, 3))

  test("the highest priority of a key begins first, then what came first"):
    val values = queue(priority = _._2 % 10)
    closedWith(values, List(11, 5, 21, 9, 15).map("a" -> _)*): Unit
    assertEquals(values.process(1)(done).toList.runSync().map(_._2), List(9, 5, 15, 11, 21))

  test("no more of a key are under way than its limit, and other keys go on"):
    val values = queue(perKey = 2)
    val inside = ConcurrentHashMap[String, AtomicInteger]()
    val most = AtomicInteger()
    val offered = for i <- 0 until 500 yield s"${i % 7}" -> i
    closedWith(values, offered*): Unit
    val results = values
      .process(16) { value =>
        val count = inside.computeIfAbsent(value._1, _ => AtomicInteger())
        Task(most.accumulateAndGet(count.incrementAndGet(), math.max(_, _)): Unit) >>
          Task.cede >> Task(count.decrementAndGet(): Unit).as(Next.Done(value._2))
      }
      .toList
      .runSync()
    assertEquals(results.sorted, (0 until 500).toList)
    assertEquals(most.get, 2)
    assertEquals(values.keys.runSync(), 0)

  test("a key whose place is taken holds up its own values only"):
    val values = closedWith(queue(), "a" -> 1, "a" -> 2, "b" -> 3)
    val first = Deferred.unsafe[Unit]
    val ended = ConcurrentLinkedQueue[Int]()
    val run = values
      .process(8)(value =>
        Task.when(value._2 == 1)(first.get) >> Task {
          ended.add(value._2): Unit
          Next.Done(value._2)
        }
      )
      .toList
      .start
      .runSync()
    eventually("only the first value of the key is under way"):
      (values.size.runSync(), values.underWay.runSync()) == (1, 1)
    assertEquals(ended.asScala.toList, List(3))
    first.complete(()).runSync(): Unit
    assertEquals(run.joinOrFail.runSync(), List(3, 1, 2))

  test("with one at a time the results of a key come in the order of its values"):
    val values = closedWith(queue(capacity = 4000), (1 to 4000).map(i => s"${i % 4}" -> i)*)
    val results = values.process(8)(value => Task.cede >> done(value)).toList.runSync()
    for (key, ofKey) <- results.groupMap(_._1)(_._2) do assertEquals(ofKey, ofKey.sorted, key)
    assertEquals(results.size, 4000)

  test("a value comes back after its delay, before new ones, and its key goes on meanwhile"):
    val run = for
      values <- made()
      _ <- values.offerAll(List("a" -> 1, "a" -> 2, "a" -> 3)) >> values.close
      result <- timed(values, 1)((i, times) =>
        if i == 1 && times < 3 then Next.Again("a" -> 1, 100.millis) else Next.Done(i)
      )
    yield result
    val (results, begun) = TestRuntime.run(run)
    assertEquals(results, List(2, 3, 1))
    assertEquals(begun, List((1, 0), (2, 0), (3, 0), (1, 100), (1, 200)))

  test("a value that comes back at once goes before those that were never under way"):
    val values = closedWith(queue(), "a" -> 1, "a" -> 2)
    val begun = ConcurrentLinkedQueue[Int]()
    values
      .process(1) { value =>
        begun.add(value._2): Unit
        Task.pure(if begun.size == 1 then Next.Again(value) else Next.Done(()))
      }
      .drain
      .runSync()
    assertEquals(begun.asScala.toList, List(1, 1, 2))

  test("a hold keeps all values of its key, the longest counts, and others go on"):
    val run = for
      values <- made(perKey = 2)
      _ <- values.offerAll(List("a" -> 1, "a" -> 2, "b" -> 3)) >> values.close
      _ <- values.hold("a", 10.millis) >> values.hold("a", 5.millis)
      result <- timed(values, 1)((i, times) =>
        if i == 1 && times == 1 then Next.Hold("a" -> 1, 50.millis) else Next.Done(i)
      )
      keys <- values.keys
    yield (result, keys)
    val ((results, begun), keys) = TestRuntime.run(run)
    assertEquals(results, List(3, 1, 2))
    assertEquals(begun, List((3, 0), (1, 10), (1, 60), (2, 60)))
    assertEquals(keys, 0)

  test("a key that is held and has no value is forgotten when the hold is over"):
    val run = for
      values <- made()
      _ <- values.hold("a", 10.millis)
      held <- values.keys
      _ <- Task.sleep(20.millis)
      _ <- values.offer("b" -> 1) >> values.close >> values.process(1)(done).drain
      after <- values.keys
    yield (held, after)
    assertEquals(TestRuntime.run(run), (1, 0))

  test("the end comes when it is closed, nothing waits, and nothing is under way"):
    val run = for
      values <- made()
      _ <- values.offer("a" -> 1)
      close = Task.sleep(1.minute) >> values.close
      result <- close.both(
        timed(values, 2)((i, times) =>
          if times == 1 then Next.Again("a" -> i, 1.hour) else Next.Done(i)
        )
      )
    yield result._2
    val (took, result) = TestRuntime.timed(run)
    assertEquals(result, (List(1), List((1, 0), (1, 3_600_000))))
    assertEquals(took, 1.hour)

  test("a run that waits with nothing in the queue ends with the close"):
    val run = for
      values <- made()
      fiber <- values.process(4)(done).toList.start
      _ <- Task.sleep(1.minute)
      before <- fiber.poll
      closed <- values.close
      again <- values.close
      results <- fiber.joinOrFail
    yield (before, closed, again, results)
    assertEquals(TestRuntime.run(run), (None, true, false, Nil))

  test("a run that is cancelled while values are delayed leaves no alarm"):
    val runtime = TestRuntime()
    val values = made().flatTap(values =>
      values.offer("a" -> 1) >>
        values
          .process(1)(value => Task.pure(Next.Again(value, 1.hour)))
          .drain
          .timeoutTo(1.minute, Task.unit)
    )
    val queue = runtime.run(values)
    assertEquals(runtime.nextAlarm, None)
    assertEquals(queue.size.runSync(), 1)
    runtime.close()

  test("what is found on the way is added beyond the capacity, also after the close"):
    val values = closedWith(queue(capacity = 1), "a" -> 1)
    val results = values
      .process(4)(value =>
        val i = value._2
        val found = if i < 500 then List("a" -> 2 * i, "b" -> (2 * i + 1)) else Nil
        Task.pure(Next.Done(i, found))
      )
      .toList
      .runSync()
    assertEquals(results.sorted, (1 to 999).toList)

  test("an offer waits while as many as the capacity wait, in order"):
    val values = queue(capacity = 2)
    values.offerAll(List("a" -> 1, "a" -> 2)).runSync()
    val offers = (3 to 5).toList.map(i => parked(values.offer("a" -> i)))
    val goOn = Queue.unsafe[Unit](9)
    val ended = ConcurrentLinkedQueue[Int]()
    val run = values
      .process(1)(value => goOn.take.as(Next.Done(value._2)))
      .evalForeach(i => Task(ended.add(i): Unit))
      .start
      .runSync()
    offers.head.joinOrFail.runSync()
    offers(1).cancel.runSync()
    assert(isWaiting(offers(2)))
    assertEquals((values.size.runSync(), values.underWay.runSync()), (2, 1))
    goOn.offer(()).runSync()
    offers(2).joinOrFail.runSync()
    (values.close >> goOn.offerAll(List.fill(3)(()))).runSync()
    run.joinOrFail.runSync()
    assertEquals(ended.asScala.toList, List(1, 2, 3, 5))

  test("an offer after the close fails, as does one that waits"):
    val values = queue(capacity = 1)
    values.offer("a" -> 1).runSync()
    val waits = values.offer("a" -> 2).start.runSync()
    eventually("it waits")(isWaiting(waits))
    values.close.runSync(): Unit
    val error = intercept[IllegalStateException](waits.joinOrFail.runSync())
    assert(error.getMessage.startsWith("KeyedQueue.offer: the queue is closed,"), error.getMessage)
    intercept[IllegalStateException](values.offer("a" -> 3).runSync()): Unit
    assertEquals(values.process(1)(done).toList.runSync(), List("a" -> 1))

  test("what was under way when a run failed or was cancelled is in the queue again, in front"):
    val values = closedWith(queue(perKey = 9), "a" -> 1, "a" -> 2, "a" -> 3)
    val failed = values.process(2)(value => if value._2 == 2 then Task.fail(Boom()) else Task.never)
    intercept[Boom](failed.drain.runSync())
    assertEquals((values.size.runSync(), values.underWay.runSync()), (3, 0))
    val begun = CountDownLatch.unsafe(2)
    val run = values.process(2)(_ => begun.release >> Task.never).drain.start.runSync()
    begun.await.runSync()
    assertEquals((values.size.runSync(), values.underWay.runSync()), (1, 2))
    run.cancel.runSync()
    assertEquals((values.size.runSync(), values.underWay.runSync()), (3, 0))
    assertEquals(values.process(1)(done).toList.runSync().map(_._2), List(1, 2, 3))

  test("two runs share the values, and both end"):
    val values = closedWith(queue(perKey = 3), (1 to 300).map(i => s"${i % 5}" -> i)*)
    val run = values.process(4)(value => Task.cede.as(Next.Done(value._2))).toList
    val (first, second) = run.both(run).runSync()
    assertEquals((first ++ second).sorted, (1 to 300).toList)

  test("errors of the user's functions reach the caller, and change nothing"):
    val odd = KeyedQueue.unsafe[Int, Int](9, i => if i == 0 then throw Boom() else i, _ => 1)
    intercept[Boom](odd.offer(0).runSync())
    odd.offer(1).runSync()
    val none = KeyedQueue.unsafe[Int, Int](9, identity, _ => 0)
    val error = intercept[IllegalArgumentException](none.offer(7).runSync())
    assert(error.getMessage.contains("perKey was 0 for the key 7"), error.getMessage)
    intercept[Boom](odd.process(1)(i => Task.pure(Next.Done(i, List(0)))).drain.runSync())
    odd.close.runSync(): Unit
    assertEquals(odd.process(1)(i => Task.pure(Next.Done(i))).toList.runSync(), List(1))
    for wrong <- List(0, -1) do
      intercept[IllegalArgumentException](
        KeyedQueue[Int, Int](wrong, identity, _ => 1).runSync()
      ): Unit
      intercept[IllegalArgumentException](odd.process(wrong)(_ => Task.never)): Unit

  test("a dump says what there is"):
    val values = queue()
    val run = values.process(1)(done).drain.start.runSync()
    eventually("it waits")(
      WeirRuntime.default.dump().contains("KeyedQueue, with 0 values that wait and 0 under way")
    )
    run.cancel.runSync()

  for (name, answer) <- List[(String, Next[Int, Int])](
      "a found value" -> Next.Done(1, List(2, 0)),
      "a value that comes back" -> Next.Again(0),
      "a value that comes back later" -> Next.Again(0, 1.nano),
      "a value whose key is to be held" -> Next.Hold(0, 1.hour)
    )
  do
    test(s"if hashCode of a key throws, of $name, the run fails, and nothing is changed"):
      val odd = KeyedQueue.unsafe[OddKey, Int](9, OddKey(_), _ => 1)
      intercept[Boom](odd.offer(0).runSync())
      odd.offer(1).runSync()
      intercept[Boom](odd.process(1)(_ => Task.pure(answer)).drain.runSync())
      odd.close.runSync(): Unit
      assertEquals(
        (odd.size.runSync(), odd.underWay.runSync(), odd.keys.runSync()),
        (1, 0, 1)
      )
      assertEquals(odd.process(1)(i => Task.pure(Next.Done(i))).toList.runSync(), List(1))

  test("an offer fails at once if hashCode of its key throws; one that gives up leaves no key"):
    val odd = KeyedQueue.unsafe[OddKey, Int](1, OddKey(_), _ => 1)
    odd.offer(1).runSync()
    intercept[Boom](odd.offer(0).runSync())
    val waits = List(2, 3).map(i => parked(odd.offer(i)))
    assertEquals(odd.keys.runSync(), 3)
    waits.head.cancel.runSync()
    assertEquals(odd.keys.runSync(), 2)
    odd.close.runSync(): Unit
    intercept[IllegalStateException](waits(1).joinOrFail.runSync())
    assertEquals(odd.keys.runSync(), 1)

  test("a key whose values are delayed counts; one that was held does not, once that is over"):
    val run = for
      values <- made()
      _ <- values.offer("a" -> 1) >> values.hold("b", 1.second)
      again = values.process(1)(value => Task.pure(Next.Again(value, 1.hour)))
      _ <- again.drain.timeoutTo(100.millis, Task.unit)
      before <- values.keys
      _ <- Task.sleep(1.second)
      after <- values.keys
    yield (before, after)
    assertEquals(TestRuntime.run(run), (2, 1))

  test("what comes back with another key holds that key"):
    val run = for
      values <- made()
      _ <- values.offerAll(List("a" -> 1, "a" -> 2)) >> values.close
      result <- timed(values, 1)((i, times) =>
        if i == 1 && times == 1 then Next.Hold("b" -> 3, 50.millis) else Next.Done(i)
      )
    yield result
    assertEquals(TestRuntime.run(run), (List(2, 3), List((1, 0), (2, 0), (3, 50))))

  test("of the values of a key that come back, that goes first whose delay has ended first"):
    val run = for
      values <- made(perKey = 2)
      _ <- values.offerAll(List("a" -> 1, "a" -> 2)) >> values.close
      hold = Task.sleep(5.millis) >> values.hold("a", 200.millis)
      result <- hold.both(timed(values, 1) { (i, times) =>
        if times == 1 then Next.Again("a" -> i, if i == 1 then 100.millis else 10.millis)
        else Next.Done(i)
      })
    yield result._2._2
    assertEquals(TestRuntime.run(run), List((1, 0), (2, 0), (2, 205), (1, 205)))

  test("a hold that is made longer again and again costs one alarm, and one entry"):
    val lines = KeyedLines[String, Int]()
    for due <- 1 to 1000 do lines.hold("a", 1, due)
    lines.wake(1)
    assertEquals(lines.nextNanos, 1000L)
    lines.wake(1000)
    assertEquals((lines.hasLater, lines.keys), (false, 0))

  test("random runs with cancels, failures, delays and holds lose nothing and obey the limits"):
    val rounds = Tier.size("weir.stress.keyed", 200, 20_000)
    for round <- 0 until rounds do
      val seed = Tier.seed("weir.stress.seed") + round
      val random = Random(seed)
      val count = 50
      val limit = 1 + random.nextInt(3)
      val values = KeyedQueue.unsafe[Int, Int](
        1 + random.nextInt(60),
        _ % 5,
        _ => limit,
        i => if random.nextBoolean() then 0L else i.toLong
      )
      val inside = Array.fill(5)(AtomicInteger())
      val over = AtomicInteger()
      val answered = ConcurrentHashMap.newKeySet[Int]()
      val next = java.util.SplittableRandom(seed)
      def choice(n: Int): Int = next.synchronized(next.nextInt(n))
      def f(i: Int): Task[Next[Int, Int]] =
        val key = inside(i % 5)
        val body = Task.when(choice(3) == 0)(Task.cede) >> Task {
          choice(12) match
            case 0 => throw Boom()
            case 1 | 2 => Next.Again(i, choice(200).micros)
            case 3 => Next.Hold(i, choice(200).micros)
            case _ =>
              answered.add(i): Unit
              Next.Done(i)
        }
        Task
          .bracket(Task(if key.incrementAndGet() > limit then over.incrementAndGet(): Unit))(_ =>
            body
          )(_ => Task(key.decrementAndGet(): Unit))
      val run = values.process(1 + random.nextInt(6))(f).drain.attempt.void
      val cancelled = Task.race(run, Task.sleep(random.nextInt(400).micros)).void
      val produce = Task.foreach(0 until count)(values.offer) >> values.close
      val runs = Task.foreach(0 until 30)(_ => if choice(2) == 0 then run else cancelled)
      val rest = values.process(4)(f).drain.attempt.iterateUntil(_.isRight)
      printed(produce.both(runs.both(runs) >> rest).timeout(60.seconds).runSync(): Unit): Unit
      assertEquals(over.get, 0, s"seed $seed")
      assertEquals(answered.size, count, s"seed $seed")
      assertEquals(
        (values.size.runSync(), values.underWay.runSync()),
        (0, 0),
        s"seed $seed"
      )

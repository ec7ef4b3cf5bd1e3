package weir
package stream

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import scala.concurrent.duration.*
import weir.testkit.TestRuntime

class PrefetchSuite extends munit.ScalaCheckSuite, StreamTests:

  private val kinds = Gen.choose(0, 60).flatMap(n => Gen.listOfN(n, Gen.choose(0, 3)))
  private val counted: AtomicInteger => Stream[Int] = n =>
    Stream.repeatEval(Task(n.incrementAndGet()))

  private def yields(kind: Int): Task[Unit] = if kind == 1 then Task.cede else Task.unit

  property("the same elements, whichever side is faster") {
    forAll(kinds, Gen.choose(1, 9)) { (kinds, n) =>
      val source = Stream.emits(kinds).evalTap(yields)
      for ahead <- List(
          source.prefetchN(n),
          source.prefetchBytes(n)(k => 2 * k),
          source.prefetchStrict
        )
      do assertEquals(ahead.evalTap(k => yields(3 - k)).toList.runSync(), kinds)
      assertEquals(
        Stream.emits(kinds).chunkN(n).flatMap(Stream.emits).prefetchN(n).toList.runSync(),
        kinds
      )
    }
  }

  for n <- List(1, 2, 16, 64, 1000) do
    test(
      s"of $n effects three quarters or more run ahead of a waiting consumer, at most ${n + 1}"
    ):
      val produced = AtomicInteger()
      val gates = Array.fill(4)(Deferred.unsafe[Unit])
      val at = AtomicInteger()
      val consumer =
        counted(produced)
          .prefetchN(n)
          .evalMap(i => Task(at.set(i)).andThen(gates(i - 1).get).as(i))
          .takeWhile(_ < 4)
      val fiber = consumer.drain.start.runSync()
      for taken <- 1 to 4 do
        eventually(s"$taken taken")(at.get == taken)
        val ahead = steady(taken + n - n / 4)(produced.get) - taken
        assert(ahead <= n + 1, s"$ahead ahead, with $taken taken")
        gates(taken - 1).complete(()).runSync(): Unit
      fiber.joinOrFail.runSync()
      assert(produced.get <= 4 + n + 1, s"${produced.get} produced")

  test("prefetchStrict makes no element after the last one that is taken"):
    val made = AtomicInteger()
    val taken = counted(made).prefetchStrict.take(3).evalMap(i => Task.sleep(1.second).as(i))
    assertEquals(TestRuntime.run(taken.toList), List(1, 2, 3))
    assertEquals(made.get, 3)

  for n <- List(1, 8) do
    test(s"producer and consumer append to one list in a legal order, size $n"):
      val log = Log()
      val stream = Stream.emits(1 to 300).evalTap(i => log(s"p$i")).prefetchN(n)
      stream.evalTap(i => log(s"c$i").andThen(yields(i % 2))).drain.runSync()
      val counts = log.lines.scanLeft((0, 0)) {
        case ((p, c), s"p$i") =>
          assertEquals(i.toInt, p + 1)
          (p + 1, c)
        case ((p, c), line) =>
          assertEquals(line, s"c${c + 1}")
          (p, c + 1)
      }
      assertEquals(counts.last, (300, 300))
      // The consumer may hold one that it has not yet written.
      for (p, c) <- counts do assert(p >= c && p - c <= n + 2, s"$p produced, $c consumed")

  test("a rate-limited producer does not make the consumer wait for a full buffer"):
    val gates = Array.fill(20)(Deferred.unsafe[Unit])
    gates(0).complete(()).runSync(): Unit
    val limited = Stream.emits(0 until 20).evalTap(i => gates(i).get)
    // Each element lets out the next: it would hang if any were held back.
    val stream = limited.prefetchN(8).evalTap { i =>
      if i < 19 then gates(i + 1).complete(()) else Task.unit
    }
    assertEquals(stream.toList.runSync(), List.range(0, 20))
    val ticks = Stream.emits(0 until 20).evalTap(_ => Task.sleep(1.hour)).prefetchN(8)
    assertEquals(TestRuntime.timed(ticks.toList), (20.hours, List.range(0, 20)))

  for blocking <- List(false, true) do
    test(s"the source works while the consumer does${if blocking then ", both blocking" else ""}"):
      val crowd = Crowd(2)
      val upstream =
        Stream.emits(1 to 4).evalTap(i => if i == 3 then crowd.meet(blocking) else Task.unit)
      val downstream =
        upstream.prefetchN(2).evalTap(i => if i == 2 then crowd.meet(blocking) else Task.unit)
      assertEquals(downstream.toList.runSync(), List(1, 2, 3, 4))

  for n <- List(1, 2, 8) do
    test(
      s"an exception thrown ahead of where the consumer is comes after the elements before it, $n"
    ):
      val boom = Boom()
      val gate = Deferred.unsafe[Unit]
      // With a size of 1 the producer holds the second, and has not come to the third.
      val ahead = CountDownLatch(if n == 1 then 0 else 1)
      val source = Stream.emits(1 to 5).map { i =>
        if i == 3 then
          ahead.countDown()
          throw boom
        else i
      }
      val stream = source.prefetchN(n).evalTap(_ => Task(ahead.await()).andThen(gate.get))
      val fiber = seen(stream).start.runSync()
      await(ahead)
      gate.complete(()).runSync(): Unit
      assertEquals(fiber.joinOrFail.runSync(), List(1, 2, boom))

  test("a consumer that goes away stops the producer, and its finalizers have run by then"):
    for wait <- List(Task.never, Task(Thread.sleep(3_600_000)), Task.cede.forever); _ <- 1 to 5 do
      val log = Log()
      val reached = CountDownLatch(1)
      val source =
        log.resource("a")(Stream.emit(1) ++ Stream.eval(Task(reached.countDown()).andThen(wait)))
      source.prefetchN(1).evalTap(_ => Task(reached.await())).takeWhile(_ => false).drain.runSync()
      assertEquals(log.lines, List("+a", "-a"))

  test("an error of the producer's finalizers is not lost when the consumer goes away"):
    val boom, first = Boom()
    val source = Stream.unfold(0)(i => Some((i, i + 1))).onFinalize(Task.fail(boom))
    assertEquals(source.prefetchN(1).take(1).drain.attempt.runSync(), Left(boom))
    val downstream = source.prefetchN(1).evalMap(_ => Task.fail(first)).drain.attempt.runSync()
    assertEquals(downstream, Left(first))
    assertEquals(first.getSuppressed.toList, List(boom))

  test("the resource upstream is released when the source has ended, or with the consumer"):
    val log = Log()
    val source = log.resource("a")(log.resource("b")(Stream.emits(1 to 3)))
    for take <- List(0, 1, 2, 3, 4) do source.prefetchN(1).take(take).drain.runSync()
    log.assertNested()

  test("a size of nothing is refused, with its value and the rule"):
    for (make, message) <- List[(() => Stream[Int], String)](
        (
            () => Stream.emit(1).prefetchN(0)
        ) -> "Stream.prefetchN: the size was 0. It must be at least 1.",
        (() => Stream.emit(1).prefetchBytes(0)(_ => 1)) ->
          "Stream.prefetchBytes: the limit was 0. It must be at least 1."
      )
    do
      val error = intercept[IllegalArgumentException](make())
      assert(error.getMessage.contains(message), error.getMessage)

  test("an element whose size is below 0, or throws, fails in its place"):
    val boom = Boom()
    val source = Stream.emits(1 to 5)
    assertEquals(
      seen(source.prefetchBytes(10)(i => if i == 3 then throw boom else i)).runSync(),
      List(1, 2, boom)
    )
    seen(source.prefetchBytes(10)(i => if i == 3 then -7 else i)).runSync() match
      case List(1, 2, error: IllegalArgumentException) =>
        assert(error.getMessage.contains("was -7. It must be at least 0."), error.getMessage)
      case other => fail(other.toString)

  test("very many elements leave nothing behind"):
    val many = Tier(100_000L, 500_000L)
    val stream = Stream.unfold(0)(i => Some((i, i + 1))).prefetchN(64).take(many)
    val grown = growth(assertEquals(stream.count.runSync(), many))
    assert(grown < megabyte, s"grew by $grown bytes")

package weir
package stream

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import scala.concurrent.duration.*
import weir.std.Signal
import weir.testkit.TestRuntime

/** `parEvalMap` with a signal of the parallelism. */
class ResizedSuite extends munit.ScalaCheckSuite, StreamTests:

  private type Run = (Stream[Int], Signal[Int], Int) => (Int => Task[Int]) => Stream[Int]
  private val both = List[(String, Run)](
    "parEvalMap" -> ((s, n, b) => f => s.parEvalMap(n, b)(f)),
    "parEvalMapUnordered" -> ((s, n, b) => f => s.parEvalMapUnordered(n, b)(f))
  )

  private val sizes = Gen.choose(1, 12).flatMap(n => Gen.listOfN(n, Gen.choose(0, 6)))

  // First, since without it all others hang.
  for (name, run) <- both do
    test(s"$name: a larger size begins more effects, though none ends"):
      val crowd = Crowd(3)
      val resized = Signal.of(0).flatMap { size =>
        run(Stream.emits(0 until 9), size, 4)(i => crowd.meet(false).as(i)).drain
          .both(Task.foreach(List(1, 3))(n => Task.sleep(1.second) >> size.set(n)))
      }
      TestRuntime.run(resized): Unit
      assertEquals((crowd.peak, crowd.now), (3, 0))

  for (name, run) <- both do
    property(s"$name: every element once, whatever the sizes are meanwhile") {
      forAll(sizes, Gen.choose(0, 5)) { (sizes, buffer) =>
        val size = Signal.unsafe(sizes.head)
        val changes = Task.foreach(sizes)(n => Task.cede.andThen(size.set(n)))
        val resizing = Stream.exec(changes.andThen(size.set(2))) ++ Stream.never
        val stream = run(Stream.emits(0 until 60), size, buffer)(i => Task.cede.as(i))
        val result = stream.concurrently(resizing).toList.runSync()
        assertEquals(if name == "parEvalMap" then result else result.sorted, (0 until 60).toList)
      }
    }

    for buffer <- List(0, 64) do
      test(s"$name, a buffer of $buffer: as many run as the signal says, more and fewer"):
        val size = Signal.unsafe(2)
        val (running, ended) = (AtomicInteger(), AtomicInteger())
        val begun = ConcurrentHashMap.newKeySet[Int]()
        val gates = Vector.fill(200)(Deferred.unsafe[Unit])
        def effect(i: Int) = Task.bracket(Task {
          begun.add(i)
          running.incrementAndGet()
        })(_ => gates(i).get)(_ =>
          Task {
            running.decrementAndGet()
            ended.incrementAndGet(): Unit
          }
        )
        val fiber = run(Stream.emits(0 until 200), size, buffer)(i => effect(i).as(i)).drain.start
          .runSync()
        var finished = 0
        // In their order, since an effect that ends before an earlier one has its place until that
        // has ended.
        def finish(n: Int): Unit =
          for _ <- 1 to n do
            eventually(s"$finished has begun")(begun.contains(finished))
            gates(finished).complete(()).runSync(): Unit
            finished += 1
            eventually(s"$finished have ended, not ${ended.get}")(ended.get == finished)
        // A change is seen a little later: an effect that ends before that is followed by another.
        def shrinkTo(n: Int): Unit = eventually(s"$n, not ${running.get}") {
          if running.get > n then finish(1)
          Thread.sleep(2)
          running.get == n && { Thread.sleep(30); running.get == n }
        }
        assertEquals(steady(2)(running.get), 2)
        size.set(7).runSync()
        assertEquals(steady(7)(running.get), 7)
        finish(20)
        assertEquals(steady(7)(running.get), 7)
        size.set(3).runSync()
        assertEquals(steady(7)(running.get), 7) // running effects continue
        shrinkTo(3)
        finish(10)
        assertEquals(steady(3)(running.get), 3)
        size.set(0).runSync()
        shrinkTo(0)
        size.set(5).runSync()
        assertEquals(steady(5)(running.get), 5)
        finish(200 - finished)
        fiber.joinOrFail.runSync()

    test(s"$name: a negative size fails the stream, and cancels what runs"):
      val size = Signal.unsafe(3)
      val ended = AtomicInteger()
      val running = AtomicInteger()
      val effect = Task(running.incrementAndGet())
        .andThen(Task.never)
        .guarantee(Task(ended.incrementAndGet()).void)
      val fiber =
        run(Stream.emits(0 until 9), size, 4)(i => effect.as(i)).drain.attempt.start.runSync()
      eventually("three")(running.get == 3)
      size.set(-1).runSync()
      val result = fiber.joinOrFail.runSync()
      assert(result.left.exists(_.isInstanceOf[IllegalArgumentException]), result)
      assert(result.left.exists(_.getMessage.contains("was -1")), result)
      assertEquals(ended.get, 3)

    test(s"$name: a size of 0 that never changes waits; the cancel ends it"):
      val stream = run(Stream.emits(0 until 9), Signal.unsafe(0), 4)(Task.pure)
      val waited = TestRuntime.run(stream.toList.timeoutTo(1.hour, Task.pure(List(-1))))
      assertEquals(waited, List(-1))

    test(s"$name: every schedule of a stream that is resized while it runs"):
      TestRuntime.forAllSeeds(Tier(50, 2_000)) {
        Signal.of(1).flatMap { size =>
          val stream = run(Stream.emits(0 until 12), size, 1)(i => Task.cede.as(i))
          val resizing = Task.foreach(List(3, 0, 2))(n => Task.cede.andThen(size.set(n)))
          stream.toList
            .both(resizing)
            .map((result, _) => assertEquals(result.sorted, (0 until 12).toList))
        }
      }

  test("an error of the function of a mapped signal fails the stream, at once and later"):
    val boom = Boom()
    for first <- List(0, 1) do
      val task = Signal.of(first).flatMap { size =>
        val mapped = size.map(n => if n == 1 then 1 else throw boom)
        Stream
          .emits(1 to 100)
          .parEvalMap(mapped, 4)(_ => Task.sleep(1.second))
          .drain
          .attempt
          .both(Task.sleep(2500.millis) >> size.set(0))
          .map(_._1)
          .timeout(1.hour)
      }
      assertEquals(TestRuntime.run(task), Left(boom))

  test("a buffer below 0 is refused"):
    val error = intercept[IllegalArgumentException](
      Stream(1).parEvalMap(Signal.unsafe(1), -1)(Task.pure)
    )
    assert(error.getMessage.contains("-1"), error)

package weir
package stream

import java.util.concurrent.atomic.AtomicInteger
import munit.ScalaCheckSuite
import org.scalacheck.Gen
import org.scalacheck.Prop.*
import org.scalacheck.rng.Seed
import scala.concurrent.duration.*
import weir.testkit.TestRuntime

/** The operators that stay on one fiber do the same as the operation on a `List`, also for a
  * consumer that stops early. An error keeps its place, and the source that they read from is
  * closed once.
  */
class OperatorsSuite extends StreamTests, ScalaCheckSuite:
  override def limit = 60.seconds

  override def scalaCheckInitialSeed =
    System.getProperty("weir.stream.seed", Tier(Seed(1).toBase64, super.scalaCheckInitialSeed)).nn
  override def scalaCheckTestParameters =
    super.scalaCheckTestParameters.withMinSuccessfulTests(Tier(40, 5_000))

  for ListOperator(name, onStream, onList) <- ListOperator.all do
    property(s"$name does what it does on a list, and closes its source once"):
      forAll(Gen.listOf(Gen.choose(-9, 9)), Gen.choose(0, 4), Gen.choose(0, 12)) {
        (items, n, count) =>
          val opened, closed = AtomicInteger()
          val source = Stream
            .bracket(Task(opened.incrementAndGet()))(_ => Task(closed.incrementAndGet()).void)
            .flatMap(_ => Stream.emits(items))
          val runs = name.startsWith("repeat")
          assertEquals(onStream(source, n).toList.runSync(), onList(items, n))
          assert(runs || opened.get == closed.get && opened.get <= 1, s"closed ${closed.get} times")
          closed.set(opened.getAndSet(0) - closed.get)
          assertEquals(
            onStream(source, n).take(count).toList.runSync(),
            onList(items, n).take(count)
          )
          assertEquals(closed.get, opened.get)
          // `flatMap` drops the stage before it with the last element, if nothing is to be closed.
          val mapped = onStream(source, n).flatMap(Stream.emit)
          assertEquals(mapped.toList.runSync(), onList(items, n))
          assertEquals(closed.get, opened.get)
      }

    test(s"$name: an error of the source is the stream's, after which it is closed"):
      val (boom, closed) = (Boom(), AtomicInteger())
      val source =
        (Stream(1, 2, 3) ++ Stream.fail(boom)).onFinalize(Task(closed.incrementAndGet()).void)
      val result = onStream(source, 3).toList.attempt.runSync()
      name match
        case "attempt" => assertEquals(result.map(_.last), Right(Left(boom)))
        case "orElse" => assertEquals(result, Right(List(1, 2, 3, 3)))
        case "adaptError" => assertEquals(result.left.map(_.getMessage), Left("other"))
        case "unNoneTerminate" | "takeWhile" => assertEquals(result, Right(List(1, 2)))
        case "takeThrough" => assertEquals(result, Right(List(1, 2, 3)))
        case _ => assertEquals(result, Left(boom))
      assert(closed.get == 1, s"closed ${closed.get} times")

  property("chunkWeighted fills each group to the limit, and leaves nothing out"):
    forAll(Gen.listOf(Gen.choose(0, 9)), Gen.choose(1, 12)) { (items, limit) =>
      val groups = Stream.emits(items).chunkWeighted(limit)(_.toLong).toList.runSync()
      assertEquals(groups.flatten, items)
      assert(groups.forall(group => group.size == 1 || group.sum <= limit && group.nonEmpty))
      for case List(group, next) <- groups.sliding(2) do assert(group.sum + next.head > limit)
    }

  test("chunkWeighted: weights whose sum is larger than a Long fill groups of their own"):
    val heavy = Stream.emits(List(Long.MaxValue, 1L, Long.MaxValue))
    for limit <- List(1L, Long.MaxValue) do
      val groups = heavy.chunkWeighted(limit)(identity).toList.runSync()
      assertEquals(groups, List(Vector(Long.MaxValue), Vector(1L), Vector(Long.MaxValue)))

  for (name, value, operator) <- List[(String, String, Stream[Int] => Stream[Any])](
      ("batch", "cost", _.batch(9, _.toLong)(identity)(_ + _)),
      ("chunkWeighted", "weight", _.chunkWeighted(9)(_.toLong)),
      ("groupWeightedWithin", "weight", _.groupWeightedWithin(9, 1.hour)(_.toLong)),
      ("prefetchBytes", "size", _.prefetchBytes(9)(identity))
    )
  do
    test(s"$name: a $value below 0 is an error that says so"):
      val items = Stream.emits(List(1, -3, 4))
      for source <- List(items, items.evalTap(_ => Task.unit)) do
        seen(operator(source)).runSync().last match
          case error: IllegalArgumentException =>
            assertEquals(
              error.getMessage,
              s"Stream.$name: the $value of an element was -3. It must be at least 0."
            )
          case other => fail(s"$other")

  property("the ends of a stream give what a list gives, and ask for no more than they need"):
    forAll(Gen.listOf(Gen.choose(-9, 9)), Gen.choose(0, 4)) { (items, n) =>
      var asked = 0
      val stream = Stream.emits(items).map { x =>
        asked += 1; x
      }
      def run[A](task: Task[A]): A =
        asked = 0
        task.runSync()
      assertEquals(run(stream.head), items.headOption)
      assert(asked <= 1)
      assertEquals(run(stream.last), items.lastOption)
      assertEquals(run(stream.find(_ > n)), items.find(_ > n))
      assertEquals(asked, items.indexWhere(_ > n) match { case -1 => items.size; case i => i + 1 })
      assertEquals(
        run(stream.collectFirst { case x if x < n => x * 2 }),
        items.collectFirst {
          case x if x < n => x * 2
        }
      )
      assertEquals(run(stream.exists(_ == n)), items.contains(n))
      assertEquals(run(stream.forall(_ < n)), items.forall(_ < n))
      assertEquals(run(stream.reduce(_ - _)), items.reduceLeftOption(_ - _))
      assertEquals(run(stream.evalFold(n)((a, b) => Task(a - b))), items.foldLeft(n)(_ - _))
      assertEquals(run(stream.toVector), items.toVector)
      assertEquals(run(stream.toCollection(Set)), items.toSet)
      assertEquals(run(stream.map(x => x -> x).toCollection(Map)), items.map(x => x -> x).toMap)
      assertEquals(run(stream.sum), items.sum)
      assertEquals(run(stream.mkString(", ")), items.mkString(", "))
      assertEquals(run(stream.to(_.count)), items.size.toLong)
      val seen = List.newBuilder[Int]
      run(stream.evalForeach(x => Task(seen += x)))
      assertEquals(seen.result(), items)
    }

  test("retry begins anew as its schedule says, and fails with the last error"):
    val runs = AtomicInteger()
    val flaky = Stream.suspend {
      val run = runs.incrementAndGet()
      Stream.emit(run) ++ (if run < 3 then Stream.fail(Boom(s"$run")) else Stream.empty)
    }
    assertEquals(flaky.retry(Schedule.recurs(5)).toList.runSync(), List(1, 2, 3))
    runs.set(0)
    val error = intercept[Boom](flaky.retry(Schedule.recurs(1)).toList.runSync(): Unit)
    assertEquals(error.getMessage, "2")

  test("retry with resetAfter keeps a stream up whose errors are far apart"):
    val runs = AtomicInteger()
    def connection(length: FiniteDuration) = Stream.suspend {
      val run = runs.incrementAndGet()
      Stream.emit(run) ++ Stream.sleep(length).flatMap(_ => Stream.fail(Boom(s"$run")))
    }
    val schedule = Schedule.spaced(1.second).times(2).resetAfter(1.minute)
    def seenOf(length: FiniteDuration): List[Int | Throwable] =
      runs.set(0)
      TestRuntime.run(seen(connection(length).retry(schedule).take(50)))
    assertEquals(seenOf(1.minute), (1 to 50).toList)
    assertEquals(seenOf(59.seconds).init, List(1, 2, 3))

  test("onError runs its task for an error of its case, and keeps the error"):
    val told = AtomicInteger()
    val stream = Stream.fail(Boom("first")).onError { case _: Boom =>
      Task(told.incrementAndGet()).andThen(Task.fail(Boom("second")))
    }
    val error = intercept[Boom](stream.drain.runSync())
    assertEquals((error.getMessage, told.get), ("first", 1))
    assertEquals(error.getSuppressed.toList.map(_.getMessage), List("second"))

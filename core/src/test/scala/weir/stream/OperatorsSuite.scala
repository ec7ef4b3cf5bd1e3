package weir
package stream

import java.util.concurrent.atomic.AtomicInteger
import munit.ScalaCheckSuite
import org.scalacheck.Gen
import org.scalacheck.Prop.*
import org.scalacheck.rng.Seed
import scala.concurrent.duration.*
import weir.testkit.TestRuntime

/** The operators that stay on one fiber do what the same operation on a `List` does, also for a
  * consumer that stops early; an error keeps its place; and what they read from is closed once.
  */
class OperatorsSuite extends StreamTests, ScalaCheckSuite:
  override def limit = 60.seconds

  override def scalaCheckInitialSeed =
    System.getProperty("weir.stream.seed", Tier(Seed(1).toBase64, super.scalaCheckInitialSeed)).nn
  override def scalaCheckTestParameters =
    super.scalaCheckTestParameters.withMinSuccessfulTests(Tier(100, 5_000))

  private def windows(items: List[Int], size: Int, step: Int): List[Vector[Int]] =
    items.sliding(size, step).map(_.toVector).toList match
      // A window that is not full repeats elements only where the whole list is smaller.
      case all if all.size > 1 && all.last.size <= math.max(0, size - step) => all.init
      case all => all

  private def adjacent(items: List[Int])(key: Int => Int): List[(Int, Vector[Int])] =
    items
      .foldLeft(List.empty[(Int, Vector[Int])]) {
        case ((k, group) :: rest, x) if k == key(x) => (k, group :+ x) :: rest
        case (groups, x) => (key(x), Vector(x)) :: groups
      }
      .reverse

  private def sections(items: List[Int])(at: Int => Boolean): List[Vector[Int]] =
    val all = items.foldLeft(List(Vector.empty[Int]))((groups, x) =>
      if at(x) then Vector.empty :: groups else (groups.head :+ x) :: groups.tail
    )
    (if all.head.isEmpty then all.tail else all).reverse

  /** An operator with a number, and the same on a list. */
  private val operators =
    List[(String, (Stream[Int], Int) => Stream[Any], (List[Int], Int) => List[Any])](
      ("filterNot", (s, n) => s.filterNot(_ % 3 == n), (l, n) => l.filterNot(_ % 3 == n)),
      (
        "evalFilter",
        (s, n) => s.evalFilter(x => Task(x % 3 == n)),
        (l, n) => l.filter(_ % 3 == n)
      ),
      (
        "evalCollect",
        (s, n) => s.evalCollect(x => Task.cede.as(Option.when(x > n)(x + 1))),
        (l, n) => l.collect { case x if x > n => x + 1 }
      ),
      ("evalScan", (s, n) => s.evalScan(n)((a, b) => Task(a - b)), (l, n) => l.scanLeft(n)(_ - _)),
      (
        "evalMapAccumulate",
        (s, n) => s.evalMapAccumulate(n)((a, b) => Task((a + 1, a * b))),
        (l, n) => l.zipWithIndex.map((b, i) => (n + i) * b)
      ),
      ("unNone", (s, n) => s.map(x => Option.when(x > n)(x)).unNone, (l, n) => l.filter(_ > n)),
      (
        "unNoneTerminate",
        (s, n) => s.map(x => Option.when(x != n)(x)).unNoneTerminate,
        (l, n) => l.takeWhile(_ != n)
      ),
      ("rethrow", (s, _) => s.map(Right(_): Either[Throwable, Int]).rethrow, (l, _) => l),
      ("attempt", (s, _) => s.attempt, (l, _) => l.map(Right(_))),
      ("as", (s, n) => s.as(n), (l, n) => l.map(_ => n)),
      ("void", (s, _) => s.void, (l, _) => l.map(_ => ())),
      ("flatten", (s, n) => s.map(x => Stream(x, n)).flatten, (l, n) => l.flatMap(List(_, n))),
      ("prepend", (s, n) => s.prepend(n), (l, n) => n :: l),
      ("ifEmpty", (s, n) => s.ifEmpty(Stream(n)), (l, n) => if l.isEmpty then List(n) else l),
      ("repeatN", (s, n) => s.repeatN(n), (l, n) => List.fill(n)(l).flatten),
      (
        "repeat",
        (s, n) => s.prepend(7).repeat.take(n * 5),
        (l, n) => LazyList.continually(7 :: l).flatten.take(n * 5).toList
      ),
      ("takeRight", (s, n) => s.takeRight(n), (l, n) => l.takeRight(n)),
      ("dropRight", (s, n) => s.dropRight(n), (l, n) => l.dropRight(n)),
      (
        "changesBy",
        (s, n) => s.changesBy(_ / (n + 1)),
        (l, n) => adjacent(l)(_ / (n + 1)).map(_._2.head)
      ),
      ("distinct", (s, _) => s.distinct, (l, _) => l.distinct),
      ("distinctBy", (s, n) => s.distinctBy(_ % (n + 1)), (l, n) => l.distinctBy(_ % (n + 1))),
      (
        "zipWith",
        (s, n) => s.zipWith(Stream.range(0, n))(_ * _),
        (l, n) => l.zip(0 until n).map(_ * _)
      ),
      (
        "zipAll",
        (s, n) => s.zipAll(Stream.range(0, n))(-1, -2),
        (l, n) => l.zipAll(0 until n, -1, -2)
      ),
      (
        "zipAllWith",
        (s, n) => s.zipAllWith(Stream.range(0, n * 2))(-1, -2)(_ * _),
        (l, n) => l.zipAll(0 until n * 2, -1, -2).map(_ * _)
      ),
      ("zipWithNext", (s, _) => s.zipWithNext, (l, _) => l.zipAll(l.drop(1).map(Some(_)), 0, None)),
      ("zipWithPrevious", (s, _) => s.zipWithPrevious, (l, _) => (None :: l.map(Some(_))).zip(l)),
      (
        "interleave",
        (s, n) => s.interleave(Stream.range(0, n)),
        (l, n) => l.zip(0 until n).flatMap((a, b) => List(a, b))
      ),
      ("intersperse", (s, n) => s.intersperse(n), (l, n) => l.flatMap(x => List(n, x)).drop(1)),
      ("sliding", (s, n) => s.sliding(n + 1), (l, n) => windows(l, n + 1, 1)),
      ("sliding by steps", (s, n) => s.sliding(3, n + 1), (l, n) => windows(l, 3, n + 1)),
      (
        "groupAdjacentBy",
        (s, n) => s.groupAdjacentBy(_ / (n + 1)),
        (l, n) => adjacent(l)(_ / (n + 1))
      ),
      ("split", (s, n) => s.split(_ % 4 == n), (l, n) => sections(l)(_ % 4 == n)),
      ("through", (s, n) => s.through(_.map(_ + n)), (l, n) => l.map(_ + n)),
      ("orElse", (s, n) => s.orElse(Stream(n)), (l, _) => l),
      ("onError", (s, _) => s.onError { case _ => Task.unit }, (l, _) => l),
      ("adaptError", (s, _) => s.adaptError { case _ => Boom("other") }, (l, _) => l)
    )

  for (name, onStream, onList) <- operators do
    property(s"$name does what it does on a list, and closes its source once"):
      forAll(Gen.listOf(Gen.choose(-9, 9)), Gen.choose(0, 4), Gen.choose(0, 12)) {
        (items, n, count) =>
          val opened, closed = AtomicInteger()
          val source = Stream
            .bracket(Task(opened.incrementAndGet()))(_ => Task(closed.incrementAndGet()).void)
            .flatMap(_ => Stream.emits(items))
          val runs = name.startsWith("repeat")
          assertEquals(onStream(source, n).toList.runSync(), onList(items, n))
          assert(runs || opened.get == 1 && closed.get == 1, s"closed ${closed.get} times")
          closed.set(opened.getAndSet(0) - closed.get)
          assertEquals(
            onStream(source, n).take(count).toList.runSync(),
            onList(items, n).take(count)
          )
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
        case "unNoneTerminate" => assertEquals(result, Right(List(1, 2)))
        case _ => assertEquals(result, Left(boom))
      assert(closed.get == 1, s"closed ${closed.get} times")

  property("chunkWeighted fills each group to the limit, and leaves nothing out"):
    forAll(Gen.listOf(Gen.choose(0, 9)), Gen.choose(1, 12)) { (items, limit) =>
      val groups = Stream.emits(items).chunkWeighted(limit)(_.toLong).toList.runSync()
      assertEquals(groups.flatten, items)
      assert(groups.forall(group => group.size == 1 || group.sum <= limit && group.nonEmpty))
      for case List(group, next) <- groups.sliding(2) do assert(group.sum + next.head > limit)
    }

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

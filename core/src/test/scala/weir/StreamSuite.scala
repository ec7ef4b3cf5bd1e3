package weir

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import org.scalacheck.{Gen, Prop}
import org.scalacheck.Prop.forAllNoShrink
import scala.concurrent.duration.*

class StreamSuite extends munit.ScalaCheckSuite, StreamTests:

  private val items: Gen[List[Int]] =
    Gen.choose(0, 20).flatMap(n => Gen.listOfN(n, Gen.choose(-9, 9)))

  /** Ways to make a stream of these elements. */
  private def ways(items: List[Int]): List[Stream[Int]] = List(
    Stream.fromIterable(items),
    Stream.emits(items.toVector),
    Stream.fromIterator(items.iterator),
    Stream.unfold(items)(rest => rest.headOption.map((_, rest.tail))),
    items.foldLeft[Stream[Int]](Stream.empty)((all, i) => all ++ Stream.emit(i)),
    items.foldRight[Stream[Int]](Stream.empty)((i, all) => Stream.emit(i) ++ all),
    Stream.fromIterable(items).chunkN(3).flatMap(Stream.fromIterable),
    Stream.fromIterable(items).flatMap(i => Stream.eval(Task.cede.as(i)))
  )

  private val source: Gen[(List[Int], Stream[Int])] =
    items.flatMap(list => Gen.oneOf(ways(list)).map((list, _)))

  private def law(name: String)(body: => Prop): Unit = property(s"as List: $name")(body)

  private def same[A](stream: Stream[A], list: List[A]): Unit =
    assertEquals(stream.toList.runSync(), list)

  law("every way to make a stream")(forAllNoShrink(source)((list, s) => same(s, list)))
  law("map")(forAllNoShrink(source)((list, s) => same(s.map(_ * 2), list.map(_ * 2))))
  law("filter")(forAllNoShrink(source)((list, s) => same(s.filter(_ > 0), list.filter(_ > 0))))
  law("evalMap")(
    forAllNoShrink(source)((list, s) => same(s.evalMap(i => Task(i + 1)), list.map(_ + 1)))
  )
  law("flatMap")(forAllNoShrink(source, Gen.choose(0, 7)) { case ((list, s), way) =>
    def some(i: Int) = List.tabulate(math.abs(i) % 4)(_ + i)
    same(s.flatMap(i => ways(some(i))(way)), list.flatMap(some))
  })
  law("take, drop")(forAllNoShrink(source, Gen.choose(-1, 22)) { case ((list, s), n) =>
    same(s.take(n), list.take(n))
    same(s.drop(n), list.drop(n))
    same(s.drop(2).take(n) ++ s.take(n).drop(2), list.drop(2).take(n) ++ list.take(n).drop(2))
  })
  law("takeWhile")(
    forAllNoShrink(source)((list, s) => same(s.takeWhile(_ < 5), list.takeWhile(_ < 5)))
  )
  law("chunkN")(forAllNoShrink(source, Gen.choose(1, 22)) { case ((list, s), n) =>
    same(s.chunkN(n), list.grouped(n).map(_.toVector).toList)
  })
  law("scan")(
    forAllNoShrink(source)((list, s) => same(s.scan("")(_ + _), list.scanLeft("")(_ + _)))
  )
  law("zip")(forAllNoShrink(source, source) { case ((list, s), (list2, s2)) =>
    same(s.zip(s2), list.zip(list2))
  })
  law("++")(forAllNoShrink(source, source, source) { case ((list, s), (list2, s2), (list3, s3)) =>
    same((s ++ s2) ++ s3, list ++ list2 ++ list3)
    same(s ++ (s2 ++ s3), list ++ list2 ++ list3)
  })
  law("fold, count")(forAllNoShrink(source) { (list, s) =>
    assertEquals(s.fold("")(_ + _).runSync(), list.foldLeft("")(_ + _))
    assertEquals(s.count.runSync(), list.size.toLong)
  })

  private type Step = (List[Int] => List[Int], Stream[Int] => Stream[Int])
  private val steps = List[Step](
    (_.map(_ + 1), _.map(_ + 1)),
    (_.filter(_ % 3 != 0), _.filter(_ % 3 != 0)),
    (_.take(9), _.take(9)),
    (_.drop(1), _.drop(1)),
    (_.takeWhile(_ < 8), _.takeWhile(_ < 8)),
    (_.scanLeft(0)(_ + _), _.scan(0)(_ + _)),
    (l => l.zip(l.drop(1)).map(_ - _), s => s.zip(s.drop(1)).map(_ - _)),
    (_.grouped(2).map(_.sum).toList, _.chunkN(2).map(_.sum)),
    (_.flatMap(i => List(i, -i)), _.flatMap(i => Stream.emits(List(i, -i)))),
    (l => l ++ l.take(2), s => s ++ s.take(2)),
    (identity, _.evalMap(i => Task.cede.as(i))),
    (identity, _.prefetchN(1)),
    (identity, _.parEvalMap(2, 1)(Task.pure))
  )
  law("any pipe of up to ten stages, run twice") {
    forAllNoShrink(source, Gen.choose(0, 10).flatMap(Gen.listOfN(_, Gen.oneOf(steps)))) {
      case ((list, s), steps) =>
        val stream = steps.foldLeft(s)((s, step) => step._2(s))
        val expected = steps.foldLeft(list)((l, step) => step._1(l))
        same(stream, expected)
        same(stream, expected)
    }
  }

  /** Returns the number of times that the effect of an endless source ran, once the stream that
    * `pipe` returns for it has ended.
    */
  private def effects(pipe: Stream[Int] => Stream[Any]): Int =
    val runs = AtomicInteger()
    pipe(Stream.repeatEval(Task(runs.incrementAndGet()))).drain.runSync()
    runs.get

  test("upstream of a take does no work for a further element"):
    assertEquals(effects(_.take(2)), 2)
    assertEquals(effects(_.take(0)), 0)
    assertEquals(effects(_.take(7).take(3)), 3)
    assertEquals(effects(_.map(_ + 1).filter(_ % 2 == 0).take(2)), 3)
    assertEquals(effects(_.flatMap(i => Stream.emits(List(i, i, i))).take(4)), 2)
    assertEquals(effects(_.chunkN(3).take(2)), 6)
    assertEquals(effects(_.scan(0)(_ + _).take(3)), 2)
    assertEquals(effects(_.drop(2).take(1)), 3)
    assertEquals(effects(_.takeWhile(_ < 3)), 3)
    assertEquals(effects(s => Stream.emits(List(1, 2)).zip(s)), 2)
    assertEquals(effects(s => s.take(2) ++ Stream.emit(0)), 2)
    assertEquals(effects(s => Stream.emit(0).flatMap(_ => s).take(3)), 3)
    assertEquals(effects(_.handleErrorWith(_ => Stream.empty).take(3)), 3)

  test("take 2 of a stream that launches missiles launches 2, also before parallel stages"):
    assertEquals(effects(_.take(2).parEvalMap(4)(Task.pure)), 2)
    assertEquals(effects(_.take(2).prefetchN(8)), 2)
    assertEquals(effects(_.take(2).map(Stream.emit).parJoin(4)), 2)

  test("what follows ++ is not made before it is asked for"):
    def never: Stream[Int] = fail("made")
    assertEquals((Stream.emit(1) ++ never).take(1).toList.runSync(), List(1))

  test("handleErrorWith goes on after the elements before the error, of effects and of functions"):
    val boom = Boom()
    def crash(i: Int): Int = if i == 3 then throw boom else i
    val three = Stream.emits(List(1, 2, 3, 4))
    val failing = List[Stream[Int]](
      Stream.emits(List(1, 2)) ++ Stream.fail(boom),
      three.map(crash),
      three.filter(i => crash(i) > 0),
      three.takeWhile(i => crash(i) > 0),
      three.evalMap(i => Task(crash(i))),
      three.evalMap(i => Task.pure(crash(i))),
      three.flatMap(i => Stream.emit(crash(i))),
      three.flatMap(i => Stream.eval(Task.cede.as(i).map(crash))),
      Stream.fromIterator(Iterator(1, 2, 3).map(crash)),
      Stream.unfold(1)(i => Some((crash(i), i + 1))),
      Stream.emits(List(1, 2)) ++ (throw boom)
    )
    for (stream, i) <- failing.zipWithIndex do
      assertEquals(seen(stream).runSync(), List(1, 2, boom), s"stream $i")
      assertEquals(stream.toList.attempt.runSync(), Left(boom), s"stream $i")

  test("handleErrorWith leaves later errors and those of its own stream alone"):
    val first, second = Boom()
    val handled = Stream.fail(first).handleErrorWith(_ => Stream.emit(1) ++ Stream.fail(second))
    assertEquals(seen(handled).runSync(), List(1, second))
    val throws = Stream.fail(first).handleErrorWith(_ => throw second)
    assertEquals(throws.drain.attempt.runSync(), Left(second))
    val downstream = Stream.emit(1).handleErrorWith(_ => Stream.emit(2)).map(_ => throw first)
    assertEquals(downstream.drain.attempt.runSync(), Left(first))

  private val endless: List[(String, Stream[Int])] = List(
    "pure" -> Stream.unfold(0)(i => Some((i, i + 1))),
    "an iterator" -> Stream.fromIterator(Iterator.from(0)),
    "effects" -> Stream.repeatEval(Task(1)),
    "effects that yield" -> Stream.repeatEval(Task.cede.as(1)),
    "inner streams" -> Stream.repeatEval(Task(1)).flatMap(_ => Stream.empty)
  )
  for (name, source) <- endless do
    test(s"an endless filter(_ => false) of $name can be cancelled and timed out"):
      val reached = CountDownLatch(1)
      val stream = source.map(i => { reached.countDown(); i }).filter(_ => false)
      val nothing = if name == "inner streams" then source.filter(_ => false) else stream
      intercept[java.util.concurrent.TimeoutException](nothing.drain.timeout(20.millis).runSync())
      val fiber = nothing.drain.start.runSync()
      if name != "inner streams" then await(reached)
      fiber.cancel.runSync()
      assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("sizes that make no sense are refused with their value and the rule"):
    val one = Stream.emit(1)
    for (value, make) <- List[(Int, () => Any)](
        (0, () => one.chunkN(0)),
        (-1, () => one.prefetchN(-1)),
        (0, () => one.parEvalMap(0)(Task.pure)),
        (-2, () => one.parEvalMapUnordered(1, -2)(Task.pure)),
        (0, () => one.map(Stream.emit).parJoin(0))
      )
    do
      val message = intercept[IllegalArgumentException](make()).getMessage
      assert(message.contains(s" $value") && message.contains("at least"), message)

package weir

import java.util.concurrent.TimeoutException
import java.util.concurrent.atomic.AtomicInteger
import java.util.stream.{Collector, Collectors}
import scala.concurrent.duration.*
import weir.testkit.TestRuntime

/** The lines that the pages docs/coming-from-*.md give for stream operators without a counterpart
  * do the same as those operators.
  */
class ComingFromStreamsSuite extends StreamTests:
  private val boom = Boom()

  /** The elements, and the error after them if there is one, on virtual time. */
  private def run[A](s: Stream[A]): (List[A], Option[Throwable]) =
    val all = TestRuntime.run(s.attempt.toList)
    (all.collect { case Right(a) => a }, all.collectFirst { case Left(error) => error })

  private def elements[A](s: Stream[A]): List[A] =
    val (all, error) = run(s)
    assertEquals(error, None)
    all

  // ---- Pekko ----

  private def zipN[A](streams: List[Stream[A]]): Stream[Vector[A]] =
    streams.map(_.map(Vector(_))).reduce((a, b) => a.zipWith(b)(_ ++ _))

  private def limit[A](s: Stream[A], max: Long): Stream[A] = s.zipWithIndex.evalMap { (a, n) =>
    if n < max then Task.pure(a) else Task.fail(boom)
  }

  private def splitWhen[A](s: Stream[A])(begins: A => Boolean): Stream[Vector[A]] =
    s.mapAccumulate(0L) { (group, a) =>
      val now = if begins(a) then group + 1 else group
      (now, (now, a))
    }.groupAdjacentBy(_._1)
      .map((_, group) => group.map(_._2))

  test("Pekko: zipN, limit, splitWhen, foldWhile, takeUntil, collectWhile, orElse"):
    val three = List(Stream(1, 2, 3), Stream(4, 5), Stream(6, 7, 8))
    assertEquals(elements(zipN(three)), List(Vector(1, 4, 6), Vector(2, 5, 7)))
    assertEquals(run(limit(Stream(1, 2, 3), 2)), (List(1, 2), Some(boom)))
    assertEquals(run(limit(Stream(1, 2), 2)), (List(1, 2), None))
    val groups = List(Vector(1, 2), Vector(9, 3), Vector(9), Vector(9))
    assertEquals(elements(splitWhen(Stream(1, 2, 9, 3, 9, 9))(_ == 9)), groups)
    val folded = Stream.iterate(1)(_ + 1).scan(0)(_ + _).takeThrough(_ < 10).last
    assertEquals(TestRuntime.run(folded), Some(10))
    assertEquals(elements(Stream(1, 2, 3, 4).takeThrough(a => !(a == 3))), List(1, 2, 3))
    val small: PartialFunction[Int, String] = { case n if n < 3 => s"$n" }
    assertEquals(
      elements(Stream(1, 2, 3, 1).takeWhile(small.isDefinedAt).collect(small)),
      List("1", "2")
    )
    assertEquals(elements(Stream.empty.ifEmpty(Stream(1))), List(1))

  test("Pekko: statefulMap has its last element where none comes after the elements"):
    val sums = (Stream(1, 2, 3).map(Some(_)) ++ Stream.emit(None))
      .mapAccumulate(0) {
        case (sum, Some(n)) => (sum + n, None)
        case (sum, None) => (sum, Some(sum))
      }
      .unNone
    assertEquals(elements(sums), List(6))

  test("Pekko: delay moves each element by that time; takeWithin, dropWithin, initialDelay"):
    val at = Stream.fixedRate(1.second).take(3).evalMap(_ => Task.monotonic)
    val moved =
      at.parEvalMap(10)(t => Task.sleep(5.seconds).as(t)).evalMap(t => Task.monotonic.map(_ - t))
    assertEquals(elements(moved), List(5.seconds, 5.seconds, 5.seconds))
    val ticks = Stream.fixedRate(1.second).zipWithIndex.map(_._2).take(6)
    assertEquals(elements(ticks.interruptWhen(Task.sleep(3500.millis))), List(0L, 1L, 2L))
    val dropped = Stream.eval(Task.monotonic).flatMap { begin =>
      ticks.evalFilter(_ => Task.monotonic.map(_ - begin >= 3500.millis))
    }
    assertEquals(elements(dropped), List(3L, 4L, 5L))
    val (time, _) = TestRuntime.timed((Stream.exec(Task.sleep(2.seconds)) ++ Stream(1)).drain)
    assertEquals(time, 2.seconds)

  test("Pekko: alsoTo is a broadcast, whose second pipe has no elements"):
    val log = Log()
    val both = Stream(1, 2, 3).broadcastThrough(
      (s: Stream[Int]) => s,
      s => Stream.exec(s.evalForeach(n => log(s"$n")))
    )
    assertEquals(elements(both), List(1, 2, 3))
    assertEquals(log.lines, List("1", "2", "3"))

  test("Pekko: RestartSource.withBackoff begins anew after the end and after an error"):
    val runs = AtomicInteger()
    val source = Stream.suspend {
      val n = runs.incrementAndGet()
      if n == 2 then Stream.emit(n) ++ Stream.fail(boom) else Stream.emit(n)
    }
    val again = (source ++ Stream.exec(Task.sleep(1.second))).repeat
    assertEquals(elements(again.retry(Schedule.recurs(5)).take(4)), List(1, 2, 3, 4))

  test("Pekko: a stream that is stopped from outside has released what it holds"):
    val log = Log()
    val endless = Stream.fixedRate(1.second).onFinalize(log("released"))
    val stopped =
      for
        stop <- Deferred[Unit]
        fiber <- endless.interruptWhen(stop.get).drain.start
        _ <- Task.sleep(3.seconds)
        _ <- stop.complete(())
        _ <- fiber.joinOrFail
      yield log.lines
    assertEquals(TestRuntime.run(stopped), List("released"))

  // ---- fs2 ----

  test("fs2: unfoldLoopEval, dropLastIf, delete, filterWithPrevious, scan1, zipWithScan"):
    def f(n: Int): Task[(Int, Option[Int])] = Task.pure((n, Option.when(n < 3)(n + 1)))
    val loop = Stream.unfoldEval(Option(1)) {
      case Some(state) => f(state).map(Some(_))
      case None => Task.pure(None)
    }
    assertEquals(elements(loop), List(1, 2, 3))
    def dropLastIf(s: Stream[Int]) =
      s.zipWithNext.collect { case (a, next) if next.nonEmpty || a != 0 => a }
    assertEquals(elements(dropLastIf(Stream(0, 1, 0))), List(0, 1))
    assertEquals(elements(dropLastIf(Stream(0, 1))), List(0, 1))
    val deleted = Stream(1, 2, 1, 2)
      .mapAccumulate(false) { (gone, a) =>
        if !gone && a == 2 then (true, None) else (gone, Some(a))
      }
      .unNone
    assertEquals(elements(deleted), List(1, 1, 2))
    val rising = Stream(1, 3, 2, 4, 4)
      .mapAccumulate(Option.empty[Int]) { (last, a) =>
        if last.forall(_ < a) then (Some(a), Some(a)) else (last, None)
      }
      .unNone
    assertEquals(elements(rising), List(1, 3, 4))
    def scan1(s: Stream[Int]) =
      s.scan(Option.empty[Int])((before, a) => Some(before.fold(a)(_ + a))).unNone
    assertEquals(elements(scan1(Stream(1, 2, 3))), List(1, 3, 6))
    assertEquals(elements(scan1(Stream.empty)), Nil)
    val withScan = Stream(1, 2, 3).mapAccumulate(0)((b, a) => (b + a, (a, b)))
    assertEquals(elements(withScan), List((1, 0), (2, 1), (3, 3)))
    val neighbours = Stream(1, 2).zipWithPrevious.zipWithNext.map { case ((before, a), next) =>
      (before, a, next.map(_._2))
    }
    assertEquals(elements(neighbours), List((None, 1, Some(2)), (Some(1), 2, None)))

  test("fs2: onComplete runs after the end and after an error, which comes last"):
    def onComplete(s: Stream[Int], that: Stream[Int]) =
      s.handleErrorWith(e => that ++ Stream.fail(e)) ++ that
    assertEquals(run(onComplete(Stream(1), Stream(2))), (List(1, 2), None))
    val fails = Stream(1) ++ Stream.fail(boom)
    assertEquals(run(onComplete(fails, Stream(2))), (List(1, 2), Some(boom)))

  test("fs2: evalFilterAsync, unfoldLoop, groupAdjacentByLimit, ranges, timeoutOnPullTo"):
    val even = Stream
      .range(0, 10)
      .parEvalMap(4)(a => Task(a % 2 == 0).map(Option.when(_)(a)))
      .unNone
    assertEquals(elements(even), List(0, 2, 4, 6, 8))
    val loop = Stream.unfold(Option(1))(_.map(n => (n, Option.when(n < 3)(n + 1))))
    assertEquals(elements(loop), List(1, 2, 3))
    val limited =
      Stream(1, 1, 1, 2).groupAdjacentBy(identity).mapConcat((k, g) => g.grouped(2).map((k, _)))
    assertEquals(elements(limited), List((1, Vector(1, 1)), (1, Vector(1)), (2, Vector(2))))
    val ranges = Stream.range(0, 5, 2).map(i => (i, (i + 2).min(5)))
    assertEquals(elements(ranges), List((0, 2), (2, 4), (4, 5)))
    val other = (Stream(1) ++ Stream.never).idleTimeout(1.second).recoverWith {
      case _: TimeoutException => Stream(2)
    }
    assertEquals(elements(other), List(1, 2))

  // ---- ZIO ----

  test("ZIO: mergeLeft, crossWith, repeatElements, schedule, runForeachWhile"):
    val log = Log()
    val left = Stream(1, 2).merge(Stream.exec(Stream(3).evalForeach(n => log(s"$n"))))
    assertEquals(elements(left), List(1, 2))
    assertEquals(log.lines, List("3"))
    val crossed = Stream(1, 2).flatMap(a => Stream("a", "b").map((a, _)))
    assertEquals(elements(crossed), List((1, "a"), (1, "b"), (2, "a"), (2, "b")))
    val repeated =
      Stream(1, 2).flatMap(a => Stream.emit(a) ++ Stream.fromSchedule(Schedule.recurs(2)).as(a))
    assertEquals(elements(repeated), List(1, 1, 1, 2, 2, 2))
    val seen = AtomicInteger()
    val whileSmall =
      Stream.range(0, 100).evalMap(n => Task(seen.incrementAndGet()).as(n < 4)).takeWhile(identity)
    TestRuntime.run(whileSmall.drain)
    assertEquals(seen.get, 5)

  // ---- Ox ----

  test("Ox: sample takes each n-th element"):
    val third = Stream.range(1, 11).zipWithIndex.collect { case (a, i) if i % 3 == 2 => a }
    assertEquals(elements(third), List(3, 6, 9))

  // ---- java.util.stream ----

  private def collect[A, S, R](s: Stream[A], collector: Collector[A, S, R]): Task[R] = Task.defer {
    val state = collector.supplier.get()
    s.fold(())((_, a) => collector.accumulator.accept(state, a))
      .map(_ => collector.finisher.apply(state))
  }

  test("java.util.stream: a collector of the JDK, toArray, max, Gatherers.scan and fold"):
    val words = Stream("a", "bb", "cc")
    val text: Stream[CharSequence] = words
    assertEquals(collect(text, Collectors.joining(", ", "[", "]")).runSync(), "[a, bb, cc]")
    val grouped =
      collect(words, Collectors.groupingBy((w: String) => w.length, Collectors.counting()))
    assertEquals(grouped.runSync().get(2), java.lang.Long.valueOf(2))
    assertEquals(words.toCollection(Array).runSync().toList, List("a", "bb", "cc"))
    assertEquals(
      words.reduce(Ordering.by[String, Int](_.length).max).runSync().map(_.length),
      Some(2)
    )
    assertEquals(elements(Stream(1, 2, 3).scan(0)(_ + _).drop(1)), List(1, 3, 6))
    assertEquals(elements(Stream(1, 2, 3).scan(0)(_ + _).takeRight(1)), List(6))

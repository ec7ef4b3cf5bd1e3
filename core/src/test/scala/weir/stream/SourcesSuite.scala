package weir
package stream

import java.util.concurrent.atomic.AtomicInteger
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import scala.concurrent.duration.*
import scala.util.{Failure, Success}
import weir.testkit.TestRuntime

class SourcesSuite extends munit.ScalaCheckSuite, StreamTests:

  /** Cancels a run of `stream` that has begun, and waits for the end of the cancel. */
  private def cancelled(stream: Stream[Any]): Unit =
    val begun = Deferred.unsafe[Unit]
    val run = (Stream.exec(begun.complete(())) ++ stream).drain.start
    val outcome = run.flatMap(fiber => begun.get >> Task.cede >> fiber.cancel >> fiber.join)
    assertEquals(outcome.runSync(), Outcome.Canceled)

  private val small = Gen.choose(-20, 20)

  test("values: apply, constant, fromEither, fromOption, fromTry"):
    val boom = Boom()
    assertEquals(Stream(1, 2, 3).toList.runSync(), List(1, 2, 3))
    assertEquals(Stream[Int]().toList.runSync(), Nil)
    assertEquals(Stream.constant(7).take(3).toList.runSync(), List(7, 7, 7))
    assertEquals(seen(Stream.fromEither(Right(1))).runSync(), List(1))
    assertEquals(seen(Stream.fromEither(Left(boom))).runSync(), List(boom))
    assertEquals(Stream.fromOption(Some(1)).toList.runSync(), List(1))
    assertEquals(Stream.fromOption(None).toList.runSync(), Nil)
    assertEquals(seen(Stream.fromTry(Success(1))).runSync(), List(1))
    assertEquals(seen(Stream.fromTry(Failure(boom))).runSync(), List(boom))

  property("range has the numbers that List.range has") {
    forAll(small, small, small.filter(_ != 0)) { (from, until, step) =>
      val expected = List.range(from, until, step)
      assertEquals(Stream.range(from, until, step).toList.runSync(), expected)
      val longs = Stream.rangeLong(from, until, step).toList.runSync()
      assertEquals(longs, expected.map(_.toLong))
    }
  }

  test("range ends where the next number would overflow, and refuses a step of 0"):
    val up = Stream.rangeLong(Long.MaxValue - 5, Long.MaxValue, 4).toList.runSync()
    assertEquals(up, List(Long.MaxValue - 5, Long.MaxValue - 1))
    val down = Stream.rangeLong(Long.MinValue + 5, Long.MinValue, -4).toList.runSync()
    assertEquals(down, List(Long.MinValue + 5, Long.MinValue + 1))
    val ints = Stream.range(Int.MaxValue - 5, Int.MaxValue, 4).toList.runSync()
    assertEquals(ints, List(Int.MaxValue - 5, Int.MaxValue - 1))
    assertEquals(Stream.range(0, 2).count.runSync(), 2L)
    assert(intercept[IllegalArgumentException](Stream.range(0, 1, 0)).getMessage.contains("was 0"))
    intercept[IllegalArgumentException](Stream.rangeLong(0, 1, 0)): Unit

  test("exec has no element, runs once, and its error is the stream's"):
    val runs = AtomicInteger()
    val exec = Stream.exec(Task(runs.incrementAndGet()))
    assertEquals((exec ++ Stream(1)).toList.runSync(), List(1))
    assertEquals(runs.get, 1)
    val boom = Boom()
    assertEquals(seen(Stream(1) ++ Stream.exec(Task.fail(boom))).runSync(), List(1, boom))

  test("evalSeq has the elements of the task's collection"):
    assertEquals(Stream.evalSeq(Task(List(1, 2))).toList.runSync(), List(1, 2))
    assertEquals(Stream.evalSeq(Task(Vector.empty[Int])).toList.runSync(), Nil)
    val boom = Boom()
    assertEquals(seen(Stream.evalSeq(Task.fail(boom))).runSync(), List(boom))

  test("iterate, iterateEval and unfoldEval call f only for what is asked for, anew each run"):
    val calls = AtomicInteger()
    def next(n: Int): Int =
      calls.incrementAndGet(): Unit
      n * 2
    val streams = List(
      Stream.iterate(1)(next),
      Stream.iterateEval(1)(n => Task(next(n))),
      Stream(1) ++ Stream.unfoldEval(1)(n => Task(next(n)).map(n => Some((n, n))))
    )
    for stream <- streams; _ <- 1 to 2 do
      calls.set(0)
      assertEquals(stream.take(4).toList.runSync(), List(1, 2, 4, 8))
      assertEquals(calls.get, 3)

  test("iterate, iterateEval and unfoldEval fail where f does"):
    val boom = Boom()
    def next(n: Int): Int = if n == 2 then throw boom else n + 1
    assertEquals(seen(Stream.iterate(0)(next)).runSync(), List(0, 1, 2, boom))
    assertEquals(seen(Stream.iterateEval(0)(n => Task(next(n)))).runSync(), List(0, 1, 2, boom))
    val unfolded = Stream.unfoldEval(0)(n => Task(next(n)).map(next => Some((n, next))))
    assertEquals(seen(unfolded).runSync(), List(0, 1, boom))

  test("unfoldEval and repeatEvalOption end at the first none"):
    val calls = AtomicInteger()
    val pages =
      Stream.unfoldEval(0)(n => Task(calls.incrementAndGet()).as(Option.when(n < 3)((n, n + 1))))
    assertEquals(pages.toList.runSync(), List(0, 1, 2))
    assertEquals(calls.get, 4)
    calls.set(0)
    val counted = Task(calls.incrementAndGet()).map(n => Option.when(n < 3)(n))
    assertEquals(Stream.repeatEvalOption(counted).toList.runSync(), List(1, 2))
    assertEquals(calls.get, 3)

  test("a cancel ends unfoldEval while its task waits"):
    cancelled(Stream.unfoldEval(0)(_ => Task.never))

  test("suspend makes its stream at each run, when the first element is asked for"):
    val made = AtomicInteger()
    val stream = Stream.suspend(Stream(made.incrementAndGet()))
    assertEquals(made.get, 0)
    assertEquals(stream.toList.runSync(), List(1))
    assertEquals(stream.toList.runSync(), List(2))
    val boom = Boom()
    assertEquals(seen(Stream.suspend[Int](throw boom)).runSync(), List(boom))

  test("a JDK stream is closed once: at its end, after take, an error, a cancel"):
    val closed = AtomicInteger()
    def stream = Stream.fromJavaStream(
      java.util.stream.Stream.of(1, 2, 3).onClose(() => closed.incrementAndGet(): Unit)
    )
    def closes[A](task: Task[A]): A =
      closed.set(0)
      val result = task.runSync()
      assertEquals(closed.get, 1)
      result
    assertEquals(closes(stream.toList), List(1, 2, 3))
    assertEquals(closes(stream.take(1).toList), List(1))
    val boom = Boom()
    assertEquals(closes(stream.evalMap(_ => Task.fail(boom)).drain.attempt), Left(boom))
    val begun = Deferred.unsafe[Unit]
    val waits = stream.evalMap(_ => begun.complete(()) >> Task.never).drain
    closes(waits.start.flatMap(fiber => begun.get >> fiber.cancel))

  test("a JDK stream whose code fails"):
    val boom = Boom()
    val failing = java.util.stream.Stream.of(1, 2).map(n => if n == 2 then throw boom else n)
    assertEquals(seen(Stream.fromJavaStream(failing)).runSync(), List(1, boom))

  // ---- time ----

  /** The times at which the elements come. */
  private def times[A](stream: Stream[A]): List[FiniteDuration] = TestRuntime.run(
    Task.monotonic.flatMap(begin => stream.evalMap(_ => Task.monotonic.map(_ - begin)).toList)
  )

  test("sleep gives one element at its time"):
    assertEquals(times(Stream.sleep(1.hour)), List(1.hour))

  test("fixedRate and awakeEvery come at multiples of the interval; those missed are left out"):
    assertEquals(times(Stream.fixedRate(1.second).take(3)), List(1.second, 2.seconds, 3.seconds))
    val elapsed = Stream.awakeEvery(1.second).take(3).toList
    assertEquals(TestRuntime.run(elapsed), List(1.second, 2.seconds, 3.seconds))
    val slow = Stream
      .awakeEvery(1.second)
      .evalTap(t => Task.sleep(if t == 1.second then 2500.millis else 0.seconds))
      .take(4)
    assertEquals(
      TestRuntime.run(slow.toList),
      List(1.second, 3500.millis, 4.seconds, 5.seconds)
    )

  test("fixedDelay waits anew after each element"):
    val slow = Stream.fixedDelay(1.second).evalTap(_ => Task.sleep(500.millis)).take(3)
    assertEquals(times(slow), List(1500.millis, 3.seconds, 4500.millis))

  test("fromSchedule has an element after each wait, and ends with the schedule"):
    val schedule = Schedule.exponential(1.second).times(3)
    assertEquals(times(Stream.fromSchedule(schedule)), List(1.second, 3.seconds, 7.seconds))
    assertEquals(times(Stream.fromSchedule(Schedule.recurs(0))), Nil)

  test("an interval of nothing is refused"):
    for make <- List(Stream.fixedRate, Stream.fixedDelay, Stream.awakeEvery) do
      val error = intercept[IllegalArgumentException](make(0.seconds))
      assert(error.getMessage.contains("was 0 ms"), error.getMessage)

  test("a cancel ends a wait for the next tick"):
    cancelled(Stream.fixedRate(1.hour))
    cancelled(Stream.fixedDelay(1.hour))

  // ---- queues ----

  test("fromQueue takes what is asked for; a cancel while it waits loses nothing"):
    val queue = Queue.unsafe[Int](10)
    queue.offerAll(1 to 5).runSync()
    assertEquals(Stream.fromQueue(queue).take(3).toList.runSync(), List(1, 2, 3))
    assertEquals(queue.takeAll.runSync(), List(4, 5))
    cancelled(Stream.fromQueue(queue))
    queue.offer(6).runSync()
    assertEquals(queue.take.runSync(), 6)

  test("fromQueueNoneTerminated ends at the first none, and leaves what comes after it"):
    val queue = Queue.unsafe[Option[Int]](10)
    queue.offerAll(List(Some(1), Some(2), None, Some(3))).runSync()
    assertEquals(Stream.fromQueueNoneTerminated(queue).toList.runSync(), List(1, 2))
    assertEquals(queue.takeAll.runSync(), List(Some(3)))

  test("fromChannel has what was sent, and the error of the close"):
    val channel = Channel.unsafe[Int](10)
    val boom = Boom()
    (channel.send(1) >> channel.send(2) >> channel.closeWithError(boom)).runSync(): Unit
    assertEquals(seen(Stream.fromChannel(channel)).runSync(), List(1, 2, boom))

  test("delay: the value of code that runs anew at each run, and may fail and block"):
    val runs = AtomicInteger()
    val s = Stream.delay(runs.incrementAndGet())
    assertEquals(runs.get, 0)
    for n <- 1 to 2 do assertEquals(s.toList.runSync(), List(n))
    assertEquals(s.take(0).toList.runSync(), Nil)
    assertEquals(runs.get, 2)
    val boom = Boom()
    assertEquals(Stream.delay(throw boom).toList.attempt.runSync(), Left(boom))
    cancelled(Stream.delay { Thread.sleep(3_600_000L); 1 })

  test("delayBy: a pause before the first element, at each run, which a cancel ends"):
    val log = Log()
    val s = Stream.exec(log("begun")) ++ Stream.range(0, 3)
    for _ <- 1 to 2 do
      assertEquals(TestRuntime.timed(s.delayBy(1.hour).toList), (1.hour, List(0, 1, 2)))
    assertEquals(log.lines, List("begun", "begun"))
    assertEquals(TestRuntime.timed(s.delayBy(Duration.Zero).take(1).toList)._1, Duration.Zero)
    val stopped = s.delayBy(1.hour).drain.timeout(1.second).attempt.map(_.isLeft)
    assertEquals(TestRuntime.timed(stopped), (1.second, true))
    assertEquals(log.lines.size, 3)

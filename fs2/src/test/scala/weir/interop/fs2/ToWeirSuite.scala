package weir.interop.fs2

import _root_.cats.effect.kernel.Resource.ExitCase
import _root_.fs2.Stream as Fs2Stream
import java.util.concurrent.{CancellationException, TimeoutException}
import java.util.concurrent.atomic.AtomicReference
import scala.concurrent.duration.*
import weir.interop.cats.given
import weir.testkit.TestRuntime
import weir.{Outcome, Task, WeirSuite}

/** fs2's streams that end, fail or are interrupted while their consumer asks for nothing: on a
  * clock that fails the test where nothing can run, and with no fiber left.
  */
class ToWeirSuite extends WeirSuite:
  private val boom = Boom()
  private val numbers: Fs2Stream[Task, Int] = Fs2Stream(1, 2, 3)
  private val endless = numbers ++ Fs2Stream.never[Task]
  private val failing = Fs2Stream.raiseError[Task](boom)

  /** The elements of a consumer that asks for the next one 300 ms after the one before. */
  private def slowly(stream: Fs2Stream[Task, Int]): List[Either[Throwable, Int]] =
    TestRuntime.run(stream.toWeir.evalMap(n => Task.sleep(300.millis).as(n)).attempt.toList)

  private val all = List(1, 2, 3).map(Right(_))

  test("interrupted while nothing is asked of it: it has ended"):
    assertEquals(slowly(endless.interruptAfter(100.millis)), all)

  test("an error of concurrently while nothing is asked of it: it has failed so"):
    val source = endless.concurrently(Fs2Stream.sleep_[Task](100.millis) ++ failing)
    assertEquals(slowly(source), all :+ Left(boom))

  test("an error of prefetchN's source while nothing is asked of it: it has failed so"):
    val source = numbers.evalTap(_ => Task.sleep(100.millis)) ++ failing
    val own = TestRuntime.run(source.prefetchN(2).attempt.compile.toList)
    assertEquals(slowly(source.prefetchN(2)).last, own.last)
    assertEquals(own.last, Left(boom))
    val atOnce = slowly((numbers ++ failing).prefetchN(2))
    assertEquals(atOnce.last, Left(boom))
    assertEquals(atOnce.init, all.take(atOnce.size - 1))

  test("a timeout while nothing is asked of it: it has failed so"):
    slowly(endless.timeout(100.millis)) match
      case values :+ Left(_: TimeoutException) => assertEquals(values, all)
      case other => fail(s"$other")

  test("interrupted while nothing is asked of it: what comes after goes on, asked for in turn"):
    val source = endless.interruptAfter(100.millis) ++ Fs2Stream(4, 5) ++ failing
    assertEquals(slowly(source), all ++ List(Right(4), Right(5), Left(boom)))

  test("interrupted while nothing is asked of it, then not consumed to the end: it is over"):
    val told = AtomicReference[ExitCase]()
    val source = Fs2Stream
      .bracketCase(Task.unit)((_, exit) => Task(told.set(exit)))
      .flatMap(_ => endless.interruptAfter(100.millis) ++ Fs2Stream.never[Task])
    for (end, exit) <- List(
        Task.unit -> ExitCase.Succeeded,
        Task.fail(boom) -> ExitCase.Errored(boom)
      )
    do
      val consumer = source.toWeir.evalMap(n => Task.when(n == 3)(Task.sleep(300.millis) >> end))
      TestRuntime.run(consumer.take(3).drain.attempt): Unit
      assertEquals(told.get, exit)

  test("a cancel, or a timeout, ends it once fs2's stream has ended by itself"):
    for
      source <- List(
        endless.interruptAfter(100.millis),
        endless.concurrently(Fs2Stream.sleep_[Task](100.millis) ++ failing),
        numbers
      )
      element <- 1 to 3
    do
      val waits = source.toWeir
        .evalMap(n => Task.when(n == element)(Task.never))
        .drain
      val (took, outcome) = TestRuntime.timed(
        waits.start.flatMap(fiber => Task.sleep(1.second) >> fiber.cancel >> fiber.join)
      )
      assertEquals((outcome, took), (Outcome.Canceled, 1.second))
      val late = TestRuntime.run(waits.timeout(1.second).attempt)
      assert(late.left.exists(_.isInstanceOf[TimeoutException]), late)

  test("a stream of fs2's that cancels itself cancels the consumer, and fails it where masked"):
    val cancels = (numbers ++ Fs2Stream.exec(Task.canceled)).toWeir.drain
    assertEquals(TestRuntime.run(cancels.start.flatMap(_.join)), Outcome.Canceled)
    val masked = Task.uncancelable(_ => cancels.attempt)
    val end = TestRuntime.run(masked)
    assert(end.left.exists(_.isInstanceOf[CancellationException]), end)

  test("an error that fs2's stream ends with while the consumer ends as well is not lost"):
    val source = numbers.onFinalize(Task.sleep(100.millis) >> Task.fail(boom))
    assertEquals(TestRuntime.run(source.toWeir.take(2).toList.attempt), Left(boom))

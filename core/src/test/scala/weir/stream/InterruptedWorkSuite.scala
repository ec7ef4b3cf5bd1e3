package weir
package stream

import java.util.concurrent.CountDownLatch
import scala.concurrent.duration.*
import weir.std.Signal
import weir.testkit.TestRuntime

/** Work on fibers of a stream's own that fails as `interruptWhen` ends the stream: its error is the
  * stream's if the consumer was waiting for that work, and would have had the error in its place.
  * In all other cases it is reported.
  */
class InterruptedWorkSuite extends StreamTests:
  override def limit: FiniteDuration = 30.seconds

  private type Form = (String, Task[Int] => Stream[Int])

  /** Streams of 1, then of the result of `work`, on fibers of their own. */
  private val forms: List[Form] = List[(String, Stream[Int] => Stream[Int])](
    "prefetchN(16)" -> (_.prefetchN(16)),
    "prefetchBytes" -> (_.prefetchBytes(100)(i => i % 60)),
    "prefetchStrict" -> (_.prefetchStrict),
    "prefetchN, twice" -> (_.prefetchN(16).map(identity).prefetchN(16)),
    "parEvalMap" -> (_.parEvalMap(1)(Task.pure)),
    "parEvalMapUnordered" -> (_.parEvalMapUnordered(1)(Task.pure)),
    "parEvalMap, resized" -> (_.parEvalMap(Signal.unsafe(1), 64)(Task.pure)),
    "merge" -> (_.merge(Stream.empty)),
    "mergePreferred" -> (_.mergePreferred(Stream.empty)),
    "mergeHaltLeft" -> (_.mergeHaltLeft(Stream.never)),
    "parZip" -> (_.parZip(Stream.constant(0)).map(_._1)),
    "parJoin" -> (stream => Stream.emit(stream).parJoin(1)),
    "idleTimeout" -> (_.idleTimeout(1.day)),
    "concurrently" -> (_.concurrently(Stream.never)),
    "interruptWhen" -> (_.prefetchN(16).interruptWhen(Task.never)),
    "groupWithin" -> (_.groupWithin(1, 1.hour).mapConcat(identity)),
    "conflate" -> (_.conflate((_, i) => i)),
    "the outer stream of switchMap" -> (_.switchMap(Stream.emit)),
    "direct" -> (s => Stream.direct(emit => for i <- s do emit(i)))
  ).map { (form, make) =>
    form -> ((work: Task[Int]) => make(Stream.emit(1) ++ Stream.eval(work)))
  } ++ List[Form](
    "an effect of parEvalMap" -> (work =>
      Stream.emits(1 to 2).parEvalMap(4)(i => if i == 1 then Task.pure(i) else work)
    ),
    "an effect of parEvalMapUnordered" -> (work =>
      Stream.emits(1 to 2).parEvalMapUnordered(4)(i => if i == 1 then Task.pure(i) else work)
    ),
    "an effect of parEvalMapBy" -> (work =>
      Stream.emits(1 to 2).parEvalMapBy(4)(identity)(i => if i == 1 then Task.pure(i) else work)
    ),
    "a further effect of parEvalMap" -> (work =>
      Stream.emits(1 to 3).parEvalMap(4) {
        case 1 => Task.pure(1)
        case 2 => Task.never
        case _ => work
      }
    ),
    "an inner stream of parJoin" -> (work =>
      Stream.emits(List(Stream.emit(1), Stream.eval(work))).parJoin(4)
    ),
    "a stream of switchMap" -> (work =>
      Stream.emit(0).switchMap(_ => Stream.emit(1) ++ Stream.eval(work))
    ),
    "a prefetch in switchMap" -> (work =>
      Stream.emit(0).switchMap(_ => (Stream.emit(1) ++ Stream.eval(work)).prefetchN(16))
    ),
    "a pipe of broadcastThrough" -> (work =>
      Stream.emit(1).broadcastThrough[Int](_ ++ Stream.eval(work))
    )
  )

  private val fork: Task[Int] => Stream[Int] =
    work => (Stream.emit(1) ++ Stream.eval(work)).prefetchN(16)

  /** Work that fails after ten seconds, also if it is cancelled. */
  private def failing(error: Throwable): Task[Int] =
    Task.uncancelable(_ => Task.sleep(10.seconds).andThen(Task.fail(error)))

  private def stopped[A](stream: Stream[A]): Stream[A] = stream.interruptWhen(Task.sleep(1.second))

  private def busy[A](stream: Stream[A]): Stream[A] = stream.evalTap(_ => Task.sleep(5.seconds))

  private def fails(stream: Throwable => Stream[Any]): Unit =
    val error = Boom("ahead")
    val text = printed {
      assertEquals(TestRuntime.run(stream(error).drain.attempt), Left(error))
    }
    assertEquals((text, error.getSuppressed.toList), ("", Nil))

  private def isReported(stream: Throwable => Stream[Any]): Unit =
    val text = printed {
      assertEquals(TestRuntime.run(stream(Boom("ahead")).drain.attempt), Right(()))
    }
    assert(
      text.contains("ahead of where its consumer stopped") && text.contains("Boom: ahead"),
      text
    )

  for (form, make) <- forms do
    test(s"$form: work that the consumer waits for fails the stream"):
      fails(error => stopped(make(failing(error))))

    test(s"$form: an error of work ahead of a busy consumer is reported"):
      // A stage without work ahead has not begun it.
      val begun = CountDownLatch(1)
      val work = (error: Throwable) => Task(begun.countDown()).andThen(failing(error))
      val text = printed {
        val stream = busy(stopped(make(work(Boom("ahead")))))
        assertEquals(TestRuntime.run(stream.drain.attempt), Right(()))
      }
      assertEquals(text.contains("Boom: ahead"), begun.getCount == 0, text)

  test("two failures of work that the consumer waits for: one is suppressed under the other"):
    val first, second = Boom()
    val works = List(failing(first), failing(second)).map(Stream.eval)
    val stream = stopped(Stream.emits(works).parJoin(2))
    val text = printed {
      val thrown = TestRuntime.run(stream.drain.attempt).left.toOption.get
      assertEquals((thrown :: thrown.getSuppressed.toList).toSet, Set[Throwable](first, second))
    }
    assertEquals(text, "")

  test("two errors that two stages have kept: one is suppressed under the other"):
    val first, second = Boom()
    val stream = stopped(fork(failing(first)).merge(fork(failing(second))))
    val text = printed {
      val thrown = TestRuntime.run(stream.drain.attempt).left.toOption.get
      assertEquals((thrown :: thrown.getSuppressed.toList).toSet, Set[Throwable](first, second))
    }
    assertEquals(text, "")

  test("a finalizer that fails adds its error to that of the work"):
    val error, later = Boom()
    val stream = stopped(fork(failing(error)).onFinalize(Task.fail(later)))
    assertEquals(
      printed {
        assertEquals(TestRuntime.run(stream.drain.attempt), Left(error))
      },
      ""
    )
    assertEquals(error.getSuppressed.toList, List(later))

  test("work that is interrupted in one of several streams fails the next of them"):
    fails(error => stopped(fork(failing(error))) ++ Stream.emit(2))
    fails(error => Stream.emit(0).flatMap(_ => stopped(fork(failing(error)))) ++ Stream.emit(2))

  private def firstHalf(stream: Stream[Int]): Stream[Int] =
    Stream
      .resource(stream.partition(_ => true))
      .flatMap((first, _) => first.handleErrorWith(_ => Stream.empty))

  /** Operators that handle an error, or that would, if it were another one. */
  private val handlers = List[(String, Stream[Int] => Stream[Any])](
    "handleErrorWith" -> (_.handleErrorWith(_ => Stream.empty)),
    "attempt" -> (_.attempt),
    "onError" -> (_.onError { case _ => Task.unit }),
    "adaptError" -> (_.adaptError { case _ => Boom("adapted") }),
    "recover, of other errors" -> (_.recover { case _: ArithmeticException => 0 }),
    "recover, and a prefetch" -> (_.recover { case _: Boom => 0 }.prefetchN(4)),
    "handleErrorWith, around more" -> (s =>
      (Stream.emit(0).flatMap(_ => s) ++ Stream.emit(2)).handleErrorWith(_ => Stream.empty)
    ),
    "a pipe that handles" -> (_.broadcastThrough[Int](_.handleErrorWith(_ => Stream.empty))),
    "a partition that handles" -> firstHalf,
    "uncons" -> (s =>
      Stream.resource(s.uncons).flatMap {
        case Some((head, tail)) => Stream.emit(head) ++ tail.handleErrorWith(_ => Stream.empty)
        case None => Stream.empty
      }
    )
  )

  for (name, handles) <- handlers do
    test(s"$name, before interruptWhen: the error of work is reported"):
      isReported(error => stopped(handles(fork(failing(error)))))

    test(s"$name, behind interruptWhen: the error of work is reported"):
      isReported(error => handles(stopped(fork(failing(error)))))

  /** Operators that end while `work` runs, before the consumer is told of the interruption. */
  private val ends = List[(String, Stream[Int] => Stream[Any])](
    "take" -> (_.take(1)),
    "takeWhile" -> (_.takeWhile(_ < 1)),
    "takeThrough" -> (_.takeThrough(_ => false)),
    "a shorter zip" -> (s => Stream.emit(0).zip(s)),
    "a shorter parZip" -> (_.parZip(Stream.emit(0))),
    "mergeHaltBoth" -> (_.mergeHaltBoth(Stream.exec(Task.sleep(700.millis))))
  )

  /** The operators that end the stream of another one by a task. */
  private val besides = List[(String, Stream[Any] => Stream[Any])](
    "interruptWhen" -> (_.interruptWhen(Task.never)),
    "interruptWhen, of a consumer that was busy" -> (s => busy(stopped(s))),
    "concurrently" -> (_.concurrently(Stream.never)),
    "timeout" -> (_.timeout(1.hour))
  )

  for (end, op) <- ends; (name, beside) <- besides; isFused <- List(false, true) do
    test(s"$end${if isFused then ", fused" else ""}, inside of $name: an error ahead is reported"):
      isReported { error =>
        // The filter tells upstream no count, and the work has begun when its element is used.
        val first = fork(failing(error)).prefetchN(16).filter(_ => true)
        val stream = op(first.evalTap(_ => Task.sleep(500.millis)))
        if isFused then for _ <- 1 to 100 do stream.open(): Unit
        beside(stream)
      }

  for isFused <- List(false, true) do
    test(s"the last element of take fails the stream${if isFused then ", fused" else ""}"):
      fails { error =>
        val stream = fork(failing(error)).take(2)
        if isFused then for _ <- 1 to 100 do stream.open(): Unit
        stopped(stream)
      }

  test("a consumer that stops has not come to the interruption that a stage has met ahead of it"):
    isReported(error => busy(stopped(fork(failing(error))).prefetchN(4)).takeThrough(_ => false))

  test("a consumer that comes to the interruption behind a stage has the error"):
    fails(error => busy(stopped(fork(failing(error))).prefetchN(4)))

  test("a stream that another one has ended is not interrupted"):
    isReported(error =>
      fork(failing(error)).parZip(Stream.emit(1) ++ Stream.exec(Task.sleep(1.second)))
    )
    isReported(error => fork(failing(error)).mergeHaltRight(Stream.sleep(1.second)))
    isReported(error =>
      Stream.emits(1 to 2).metered(1.second).switchMap {
        case 1 => fork(failing(error))
        case _ => Stream.emit(2)
      }
    )

  test("a side of parZip or zipLatest that is interrupted after the end of the stage"):
    val ends = Stream.emit(1) ++ Stream.exec(Task.sleep(1.second))
    val slow = Stream.constant(0).onFinalize(Task.sleep(5.seconds))
    def left(error: Throwable) = fork(failing(error)).interruptWhen(Task.sleep(3.seconds))
    isReported(error => left(error).parZip(ends).zip(slow))
    isReported(error =>
      left(error).parZip(ends).zipAll(Stream.emits(1 to 9).metered(1.second))((0, 0), 0)
    )
    isReported(error => left(error).zipLatest(Stream.exec(Task.sleep(1.second))).zip(slow))

  test("a side of parZip whose interruption ends the stage fails it"):
    fails(error => stopped(fork(failing(error))).parZip(Stream.emit(1) ++ Stream.never))

  test("a failure of the interrupting task comes first"):
    val first, second = Boom()
    val stream = fork(failing(second)).interruptWhen(Task.sleep(1.second).andThen(Task.fail(first)))
    assertEquals(TestRuntime.run(stream.drain.attempt), Left(first))
    assertEquals(first.getSuppressed.toList, List(second))

  test("a cancelled consumer reports the error of work that it waited for"):
    val stream = fork(failing(Boom("ahead"))).interruptWhen(Task.never)
    val text = printed {
      TestRuntime.run(stream.drain.start.flatMap(f => Task.sleep(1.second).andThen(f.cancel)))
    }
    assert(text.contains("Boom: ahead"), text)

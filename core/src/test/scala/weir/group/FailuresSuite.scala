package weir.group

import java.util.concurrent.{CountDownLatch, TimeoutException}
import scala.concurrent.duration.*
import weir.*
import weir.runtime.{Alarm, Scheduler, Timers}

/** Which errors are suppressed under the first one. */
class FailuresSuite extends WeirSuite:

  private def late(n: Int): Task[Unit] = Task.cede.andThen(Task.fail(Boom(s"late $n")))

  /** A task that fails with `error`, and then with another error on the way out. */
  private def ways(error: Throwable): List[(String, Int => Task[Any])] =
    val failing = Task.cede.andThen(Task.fail(error))
    val numbers = Stream.fromIterable(1 to 3)
    List(
      "guarantee" -> (n => failing.guarantee(late(n))),
      "bracket" -> (n => Task.unit.bracket(_ => failing)(_ => late(n))),
      "Resource" -> (n => Resource.make(Task.unit)(_ => late(n)).use(_ => failing)),
      "two children" -> { n =>
        val other = Task.uncancelable(_ => late(n))
        Task.both(other.handleErrorWith(e => Task.fail(e)), failing)
      },
      "Stream.onFinalize" -> (n => numbers.evalMap(_ => failing).onFinalize(late(n)).drain),
      "two finalizers of a prefetch" -> { n =>
        val stream = numbers.onFinalize(late(n)).prefetchN(1)
        stream.evalMap(_ => failing).onFinalize(late(-n)).drain
      },
      "Stream.handleErrorWith" -> { n =>
        val stream = numbers.evalMap(_ => failing).onFinalize(late(n))
        stream.handleErrorWith(e => Stream.fail(e)).drain
      },
      "effects of parEvalMap" -> { n =>
        numbers
          .parEvalMap(2)(i => if i == 1 then failing else Task.uncancelable(_ => late(n)))
          .drain
      }
    )

  test("an error object that is thrown again and again has at most 64 others suppressed under it"):
    for (name, _) <- ways(Boom()) do
      val error = Boom()
      val again = ways(error).toMap.apply(name)
      Task.foreach(1 to 200)(n => again(n).attempt).runSync(): Unit
      assert(error.getSuppressed.length <= 64, s"$name: ${error.getSuppressed.length}")

  test("threads that add at the same time keep within the limit"):
    val first = Boom()
    val begin = CountDownLatch(1)
    val threads = List.fill(4)(Thread.ofPlatform().start { () =>
      begin.await()
      for _ <- 1 to 500 do Failures.add(first, Boom()): Unit
    })
    begin.countDown()
    threads.foreach(_.join())
    assertEquals(first.getSuppressed.length, 64)

  test("no error is suppressed under itself, not in a circle either, and none twice"):
    val first = Boom()
    assertEquals(Failures.add(first, first), first)
    val second = Boom()
    for _ <- 1 to 2 do Failures.add(first, second)
    Failures.add(second, first)
    assertEquals(first.getSuppressed.toList, List(second))
    assertEquals(second.getSuppressed.toList.map(_.getSuppressed.toList), List(Nil))
    val cause = Boom("cause")
    val caused = RuntimeException("outer", cause)
    Failures.add(caused, cause)
    assertEquals(caused.getSuppressed.toList, Nil)

  test("an error whose cause is the first one is suppressed under it as a line, without a circle"):
    val first = Boom("use")
    val wrapping = RuntimeException("release failed", first)
    Failures.add(first, wrapping)
    val told = first.getSuppressed.toList
    assertEquals(told.map(_.toString), List("java.lang.RuntimeException: release failed"))
    assertEquals(told.head.getStackTrace.toList, wrapping.getStackTrace.toList)
    assert(told.head.getCause eq null)

  test("causes that go round in a circle are followed to an end"):
    val one, two = RuntimeException("round")
    one.initCause(two)
    two.initCause(one)
    val first = Boom()
    Failures.add(first, one)
    assertEquals(first.getSuppressed.toList, List(one))
    val other = Boom()
    Failures.add(one, other)
    assertEquals(one.getSuppressed.toList, List(other))

  test("the alarm of timeoutTo, ringing as the task fails, leaves nothing under its error"):
    /** Rings each alarm as it is to be removed. */
    final class TooLate extends Timers:
      def nanoTime: Long = 0
      def realTime: java.time.Instant = java.time.Instant.EPOCH
      def add(alarm: Alarm): Unit = ()
      def remove(alarm: Alarm): Boolean =
        alarm.ring()
        false
      def size: Int = 0
    given WeirRuntime = WeirRuntime(Scheduler(2, 4), TooLate(), null)
    val boom = Boom()
    val failing = Task.cede.andThen(Task.fail(boom))
    assertEquals(failing.timeoutTo(1.hour, Task.unit).attempt.runSync(), Left(boom))
    assertEquals(boom.getSuppressed.toList, Nil)
    assertEquals(failing.timeout(1.hour).attempt.runSync(), Left(boom))
    assert(boom.getSuppressed.forall(_.isInstanceOf[TimeoutException]))

  test("attempts that have failed alike are one line under the last one"):
    def refused(): Nothing = throw IllegalStateException("refused")
    val thrown = Task.cede
      .flatMap(_ => Task(refused()))
      .retry(Schedule.recurs(19))
      .attempt
      .runSync()
      .swap
      .toOption
      .get
    assertEquals(
      thrown.getSuppressed.toList.map(_.toString),
      List("java.lang.IllegalStateException: refused (20 attempts, the same trace)")
    )
    assertEquals(thrown.getSuppressed.head.getStackTrace.length, 0)

  test("of several kinds of attempts each is suppressed once, with its trace"):
    var n = 0
    def failing() =
      n += 1
      if n == 7 then throw IllegalStateException("last")
      else if n % 2 == 0 then throw IllegalStateException("even")
      else throw IllegalStateException("odd")
    val task = Task.cede.flatMap(_ => Task(failing()))
    val thrown = task.retry(Schedule.recurs(6)).attempt.runSync().swap.toOption.get
    assertEquals(thrown.getMessage, "last")
    assertEquals(
      thrown.getSuppressed.toList.map(_.toString),
      List("odd", "even").flatMap { name =>
        val error = s"java.lang.IllegalStateException: $name"
        List(error, s"$error (3 attempts, the same trace)")
      }
    )

  test("attempts that have failed alike at different lines stay apart"):
    var n = 0
    val task = Task.cede.flatMap { _ =>
      n += 1
      if n == 1 then throw IllegalStateException("alike")
      else throw IllegalStateException("alike")
    }
    val thrown = task.retry(Schedule.recurs(1)).attempt.runSync().swap.toOption.get
    assertEquals(
      thrown.getSuppressed.toList.map(_.toString),
      List("java.lang.IllegalStateException: alike")
    )

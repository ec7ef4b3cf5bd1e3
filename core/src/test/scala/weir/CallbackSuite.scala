package weir

import java.util.SplittableRandom
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*

class CallbackSuite extends WeirSuite:

  test("get is what the callback was called with, before or after it"):
    val before = Callback[Int].flatMap(callback => Task(callback(Right(1))) >> callback.get)
    assertEquals(before.runSync(), 1)
    val after = Callback[Int].flatMap { callback =>
      Task(Thread.startVirtualThread(() => callback(Right(2)))) >> callback.get
    }
    assertEquals(after.runSync(), 2)

  test("get fails with the error that the callback was called with"):
    val boom = Boom()
    val task = Callback[Int].flatMap(callback => Task(callback(Left(boom))) >> callback.get)
    assertEquals(task.attempt.runSync(), Left(boom))

  test("calls after the first are ignored"):
    val task = Callback[Int].flatMap { callback =>
      Task { callback(Right(1)); callback(Right(2)) } >> callback.get.both(Task.pure(0)) >>
        callback.get
    }
    assertEquals(task.runSync(), 1)

  test("a get that was cancelled loses nothing: a later one has the value"):
    val task = Callback[Int].flatMap { callback =>
      val waits = callback.get.timeoutTo(1.milli, Task.pure(-1))
      for
        first <- waits
        _ <- Task(callback(Right(7)))
        second <- callback.get
        third <- callback.get
      yield (first, second, third)
    }
    assertEquals(task.runSync(), (-1, 7, 7))

  test("a get in a finalizer waits again, for a call that comes later"):
    val called = CountDownLatch(1)
    val got = AtomicInteger()
    val task = Callback[Int].flatMap { callback =>
      Task(Thread.startVirtualThread { () =>
        await(called); callback(Right(5))
      }) >>
        callback.get.onCancel(callback.get.map(got.set))
    }
    val fiber = task.start.runSync()
    eventually("it waits")(isWaiting(fiber))
    val cancel = startCancel(fiber)
    called.countDown()
    cancel.join.runSync()
    assertEquals(got.get, 5)

  test("a second fiber that waits fails, and the first has the value"):
    val task = Callback[Int].flatMap { callback =>
      for
        first <- callback.get.start
        _ <- Task(eventually("it waits")(isWaiting(first)))
        second <- callback.get.start.flatMap(_.join)
        _ <- Task(callback(Right(3)))
        value <- first.joinOrFail
      yield (second, value)
    }
    task.runSync() match
      case (Outcome.Failed(error: IllegalStateException), 3) =>
        assert(error.getMessage.contains("Deferred"), error.getMessage)
      case other => fail(s"$other")

  test("a callback that goes through a Deferred is a value, and no wait of its reader"):
    val task = for
      passed <- Deferred[Either[Throwable, Int] => Unit]
      waiter <- Task.async[Int](callback => passed.complete(callback).void.runSync()).start
      callback <- passed.get
      _ <- Task(callback(Right(4)))
      value <- waiter.joinOrFail
    yield value
    assertEquals(task.runSync(), 4)

  // The call, the wait, a cancel of the wait and a further wait, in every order that threads make.
  test("no value is lost where calls, waits and cancels race"):
    val seed = Tier.seed("weir.stress.seed")
    val random = SplittableRandom(seed)
    for round <- 1 to Tier(3_000, 300_000) do
      val pause = random.nextInt(200)
      val cancels = random.nextBoolean()
      val task = Callback[Int].flatMap { callback =>
        Task(Thread.startVirtualThread { () =>
          var n = pause
          while n > 0 do { Thread.onSpinWait(); n -= 1 }
          callback(Right(round))
        }) >> Task.race(callback.get, if cancels then Task.cede else Task.never).flatMap {
          case Left(value) => Task.pure(value)
          case Right(_) => callback.get
        }
      }
      assertEquals(task.runSync(), round, s"-Dweir.stress.seed=$seed")

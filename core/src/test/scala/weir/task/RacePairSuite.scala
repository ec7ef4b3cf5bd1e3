package weir
package task

import scala.concurrent.duration.*
import weir.runtime.SystemTimers
import weir.std.CountDownLatch

class RacePairSuite extends WeirSuite:

  test("racePair is the outcome of the first, and the other fiber"):
    val task = Task.racePair(Task.pure(1), Task.never).flatMap {
      case Left((Outcome.Succeeded(n), other)) => other.cancel.as(n)
      case _ => Task.pure(-1)
    }
    assertEquals(task.runSync(), 1)

  test("racePair: a cancel of the wait cancels both, and waits for their finalizers"):
    @volatile var finalized = 0
    val side = Task.never.onCancel(Task.sleep(1.milli) >> Task { synchronized(finalized += 1) })
    val fiber = Task.racePair(side, side).start.runSync()
    eventually("it waits")(isWaiting(fiber))
    fiber.cancel.runSync()
    assertEquals(finalized, 2)

  test("raceFirst: a side that cancels itself cancels the other, and the fiber"):
    val race = Task.raceFirst(Task.canceled, Task.never)
    assertEquals(race.start.flatMap(_.join).runSync(), Outcome.Canceled)

  test("raceFirst: where the other side ends all the same, that is the result"):
    val boom = Boom()
    def masked[A](task: Task[A]): Task[A] = Task.uncancelable(_ => Task.sleep(20.millis) >> task)
    val value = Task.raceFirst(masked(Task.pure(1)), Task.sleep(1.milli) >> Task.canceled)
    assertEquals(value.runSync(), Left(1))
    val error = Task.raceFirst(masked(Task.fail(boom)), Task.sleep(1.milli) >> Task.canceled)
    assertEquals(error.attempt.runSync(), Left(boom))

  test("racePair: a cancel of the wait cancels both at the same time"):
    val left, right = CountDownLatch.unsafe(1)
    val fiber = Task
      .racePair(
        Task.never.onCancel(left.release >> right.await),
        Task.never.onCancel(right.release >> left.await)
      )
      .start
      .runSync()
    eventually("it waits")(isWaiting(fiber))
    fiber.cancel.runSync()

  test("racePair: where the second side gets no fiber, the first is cancelled"):
    val scheduler = RefusingScheduler()
    given WeirRuntime = WeirRuntime(scheduler, SystemTimers(), null)
    val canceled = CountDownLatch.unsafe(1)
    val first = Task.never.onCancel(canceled.release)
    val pair = Task(scheduler.refuseAfter(1)) >> Task.racePair(first, Task.unit)
    intercept[RefusingScheduler.Refused](pair.runSync()): Unit
    canceled.await.runSync()

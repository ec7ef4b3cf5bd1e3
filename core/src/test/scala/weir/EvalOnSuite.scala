package weir

import java.util.concurrent.{Executors, RejectedExecutionException}
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.concurrent.duration.*

class EvalOnSuite extends WeirSuite:

  private val pool = Executors.newSingleThreadExecutor(
    Thread.ofPlatform().daemon().name("one").factory()
  )
  private val one = ExecutionContext.fromExecutor(pool)
  private val name = Task(Thread.currentThread.getName)

  test("the steps run on the context's thread, also after a wait and a cede, and not afterwards"):
    val inside = for
      first <- name
      _ <- Task.sleep(1.milli)
      second <- name
      _ <- Task.cede
      third <- name
    yield List(first, second, third)
    assertEquals(inside.evalOn(one).runSync(), List("one", "one", "one"))
    assertNotEquals((inside.evalOn(one) >> name).runSync(), "one")

  test("fibers and concurrent children that it starts begin there"):
    assertEquals(name.start.flatMap(_.joinOrFail).evalOn(one).runSync(), "one")
    assertEquals(
      Task.parTraverse(List(1, 2, 3))(_ => name).evalOn(one).runSync(),
      List.fill(3)("one")
    )

  test("after an error and after a cancel the fiber is back"):
    val boom = Boom()
    val failed = Task.fail(boom).evalOn(one).attempt >> name
    assertNotEquals(failed.runSync(), "one")
    @volatile var finalized = ""
    val canceled = Task.canceled.evalOn(one).onCancel(name.map(finalized = _))
    canceled.start.flatMap(_.join).runSync(): Unit
    assertNotEquals(finalized, "one")
    assert(finalized ne "")

  test("two fibers that cede on one thread take turns"):
    @volatile var turn = 0
    def waitFor(n: Int): Task[Unit] =
      Task(turn == n).flatMap(now => if now then Task.unit else Task.cede >> waitFor(n))
    val both = Task.both(
      Task { turn = 1 } >> waitFor(2),
      waitFor(1) >> Task { turn = 2 }
    )
    both.evalOn(one).runSync(): Unit

  test("executionContext is that of the evalOn around it, else the runtime's"):
    assertEquals(Task.executionContext.evalOn(one).runSync(), one)
    assertEquals(Task.executionContext.runSync(), Runtime.default.executionContext)
    val back = name.evalOn(Runtime.default.executionContext).evalOn(one)
    assertNotEquals(back.runSync(), "one")

  test("a context that runs in place, and one that refuses, leave the steps to the workers"):
    val refusing = new ExecutionContext:
      def execute(code: Runnable): Unit = throw RejectedExecutionException("closed")
      def reportFailure(error: Throwable): Unit = ()
    for context <- List(ExecutionContext.parasitic, refusing) do
      assertEquals((Task.sleep(1.milli) >> Task.pure(1)).evalOn(context).runSync(), 1)

  test("a cancel interrupts code that blocks there"):
    val begun = java.util.concurrent.CountDownLatch(1)
    val fiber = Task { begun.countDown(); Thread.sleep(60_000) }.evalOn(one).start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals(name.evalOn(one).runSync(), "one")

  test("code there finds its own runtime, and may run tasks"):
    val code = Task((summon[Runtime], Task.pure(2).runSync()))
    assertEquals(code.evalOn(one).runSync(), (Runtime.default, 2))

  test("a runtime's context runs code that may block, on fibers"):
    val result = Future { Thread.sleep(1); 3 }(using Runtime.default.executionContext)
    assertEquals(Await.result(result, 5.seconds), 3)

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

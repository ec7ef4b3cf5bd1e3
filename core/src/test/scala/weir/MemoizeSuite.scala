package weir

import java.util.concurrent.CancellationException
import java.util.concurrent.atomic.AtomicInteger
import weir.testkit.TestRuntime

/** `memoize`: one run for all callers. */
class MemoizeSuite extends WeirSuite:

  private final class Counted(result: Int => Task[Int]):
    val runs: AtomicInteger = AtomicInteger()
    val memoized: Task[Int] = Task.defer(result(runs.incrementAndGet())).memoize.runSync()

  test("the task runs once, when the first asks, and all get its value"):
    val counted = Counted(Task.pure)
    assertEquals(counted.runs.get, 0)
    assertEquals(
      Task.parTraverse(List.fill(100)(()))(_ => counted.memoized).runSync().toSet,
      Set(1)
    )
    assertEquals(counted.memoized.runSync(), 1)
    assertEquals(counted.runs.get, 1)

  test("its error is kept as well"):
    val boom = Boom()
    val counted = Counted(_ => Task.fail(boom))
    for _ <- 1 to 3 do assertEquals(intercept[Boom](counted.memoized.runSync(): Unit), boom)
    assertEquals(counted.runs.get, 1)

  test("each use of the outer task is a memory of its own"):
    val runs = AtomicInteger()
    val outer = Task(runs.incrementAndGet()).memoize
    val (a, b) = (outer.runSync(), outer.runSync())
    assertEquals((a.runSync(), a.runSync(), b.runSync()), (1, 1, 2))

  test("a cancel of one who waits harms nobody"):
    val gate = Deferred.unsafe[Unit]
    val counted = Counted(n => gate.get.as(n))
    val runtime = TestRuntime()
    val fibers = List.fill(3)(runtime.start(counted.memoized))
    runtime.awaitQuiet()
    runtime.run(fibers.head.fiber.cancel)
    assertEquals(fibers.head.outcome, Some(Outcome.Canceled))
    runtime.run(gate.complete(())): Unit
    runtime.awaitQuiet()
    assertEquals(fibers.tail.map(_.outcome), List.fill(2)(Some(Outcome.Succeeded(1))))
    assertEquals(counted.runs.get, 1)
    runtime.close()

  test(
    "the cancel of the last who waits cancels it, finalizers included, and the next runs it anew"
  ):
    val cleaned = AtomicInteger()
    val counted = Counted(n =>
      if n == 1 then Task.never.onCancel(Task(cleaned.incrementAndGet()).void) else Task.pure(n)
    )
    val runtime = TestRuntime()
    val fibers = List.fill(2)(runtime.start(counted.memoized))
    runtime.awaitQuiet()
    fibers.foreach(started => runtime.run(started.fiber.cancel))
    assertEquals(cleaned.get, 1)
    assertEquals(runtime.run(counted.memoized), 2)
    assertEquals(runtime.run(counted.memoized), 2)
    runtime.close()

  test("a task that cancels itself fails those who ask, by the name of memoize"):
    val memoized = Task.canceled.memoize.runSync()
    val error = intercept[CancellationException](memoized.runSync())
    assertEquals(
      error.getMessage,
      "Task.memoize: the task has cancelled itself. It should end with a value or an error."
    )

  test("a fiber that waits is said to wait for the task"):
    val gate = Deferred.unsafe[Unit]
    val fiber = gate.get.memoize.flatMap(identity).start.runSync()
    eventually("it waits")(isWaiting(fiber))
    assertEquals(weir.fiber.Waits.of(fiber).awaitedAs, "Task.memoize, for the task")
    (gate.complete(()) >> fiber.joinOrFail).runSync()

package weir.testkit

import java.util.concurrent.{CountDownLatch, Executors, TimeUnit}
import scala.concurrent.duration.*
import scala.concurrent.{Await, ExecutionContext, Future}
import weir.{Deferred, Task}

/** Programs that make the test clocks of other libraries hang. */
class TestClockSuite extends munit.FunSuite:

  TestRuntime.run(Task.unit) // the first use loads the agent

  test("virtual time covers a blocking sleep: an hour of Thread.sleep ends at once"):
    assertEquals(TestRuntime.timed(Task(Thread.sleep(3_600_000)))._1, 1.hour)

  test("nanoTime is the time of the runtime whose task asks, and the machine's elsewhere"):
    val passed = TestRuntime.run {
      for
        before <- Task(TestRuntime.nanoTime)
        _ <- Task.sleep(1.hour)
        after <- Task(TestRuntime.nanoTime)
      yield (after - before).nanos
    }
    assertEquals(passed, 1.hour)
    val (before, asked, after) = (System.nanoTime(), TestRuntime.nanoTime, System.nanoTime())
    assert(before <= asked && asked <= after, (before, asked, after))

  test("a timeout of a task that blocks fires, though nothing else moves the clock"):
    val task = Task(CountDownLatch(1).await()).timeout(1.hour).attempt.map(_.isLeft)
    assertEquals(TestRuntime.timed(task), (1.hour, true))

  test("a task that blocks for another one, which sleeps, does not hold the clock"):
    val latch = CountDownLatch(1)
    val sleeps = Task.sleep(1.hour).andThen(Task(latch.countDown()))
    assertEquals(TestRuntime.timed(Task.both(Task(latch.await()), sleeps))._1, 1.hour)

  test("a task that sleeps again and again, blocking, is cancelled by a test that has seen enough"):
    var rounds = 0
    val loop = Task { Thread.sleep(60_000); rounds += 1 }.forever
    val task = loop.start.flatMap(fiber => Task.sleep(90.seconds).andThen(fiber.cancel))
    assertEquals(TestRuntime.timed(task)._1, 90.seconds)
    assertEquals(rounds, 1)

  test("a nested runSync that sleeps, in a task that blocks for it, ends"):
    val runtime = TestRuntime(carriers = 1)
    def nested(depth: Int): Task[Int] =
      if depth == 0 then Task.sleep(1.hour).as(0)
      else Task(nested(depth - 1).runSync() + 1)
    assertEquals(runtime.timed(nested(100)), (1.hour, 100))

  test("a stuck test fails and names the waiters"):
    val task = Deferred[Int].flatMap(d => Task.both(d.get, d.get))
    val error = intercept[TestRuntime.Stuck](TestRuntime.run(task))
    assert(error.getMessage.contains("fiber 1 (the test) waits"), error.getMessage)
    assert(error.getMessage.contains("fiber 2"), error.getMessage)

  test("a future on a pool of the user's is waited for, whatever alarm is set"):
    val pool = Executors.newSingleThreadExecutor()
    val context = ExecutionContext.fromExecutor(pool)
    val task = Task(Await.result(Future { Thread.sleep(20); 1 }(using context), Duration.Inf))
    val runtime = TestRuntime(patience = 5.seconds)
    assertEquals(runtime.timed(task.timeout(1.hour)), (0.seconds, 1))
    pool.shutdown()
    assert(pool.awaitTermination(5, TimeUnit.SECONDS))

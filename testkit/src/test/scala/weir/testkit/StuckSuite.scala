package weir.testkit

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicBoolean
import scala.concurrent.duration.*
import weir.{Deferred, Queue, Task}

class StuckSuite extends munit.FunSuite:

  TestRuntime.run(Task.unit) // the first use loads the agent

  test("a stuck test fails at once, and names the waiters"):
    val task = for
      queue <- Queue.bounded[Int](1)
      never <- Deferred[Int]
      taker <- queue.take.start
      _ <- never.get.start
      _ <- taker.joinOrFail
    yield ()
    val start = System.nanoTime()
    val error = intercept[TestRuntime.Stuck](TestRuntime.run(task))
    assert((System.nanoTime() - start).nanos < 5.seconds)
    val lines = error.getMessage.linesIterator.toList
    assertEquals(lines.count(_.contains("waits")), 3, error.getMessage)
    assert(lines.exists(_.startsWith("  fiber 1 (the test) waits")), error.getMessage)

  test("a test that is stuck in code that blocks fails, and says where"):
    val error = intercept[TestRuntime.Stuck](
      TestRuntime(limit = 500.millis).run(Task(CountDownLatch(1).await()))
    )
    assert(error.getMessage.contains("StuckSuite"), error.getMessage)

  test("a stuck test is cancelled, so that its finalizers run"):
    val released = AtomicBoolean()
    val task = Task.never.guarantee(Task.sleep(1.hour).andThen(Task(released.set(true))))
    intercept[TestRuntime.Stuck](TestRuntime.run(task)): Unit
    assert(released.get)

  test("a test that never comes to rest fails after the limit, and says what runs"):
    val error = intercept[TestRuntime.Stuck](
      TestRuntime(limit = 300.millis).run(Task.cede.forever)
    )
    assert(error.getMessage.contains("fiber 1 (the test)"), error.getMessage)

  for (state, left) <- List(
      "waits" -> Task.never,
      "sleeps" -> Task.sleep(1.hour),
      "blocks" -> Task(Thread.sleep(3_600_000)),
      "runs" -> Task.cede.forever
    )
  do
    test(s"a fiber that $state when the test has ended is reported, and cancelled"):
      val released = AtomicBoolean()
      val begun = CountDownLatch(1)
      val fiber = Task(begun.countDown()).andThen(left).guarantee(Task(released.set(true)))
      val task = fiber.start.andThen(Task(begun.await())).andThen(Task.pure(1))
      val error = intercept[TestRuntime.Leaked](TestRuntime.run(task))
      assert(error.getMessage.contains("1 fiber has not"), error.getMessage)
      assert(error.getMessage.contains("fiber 2"), error.getMessage)
      assert(released.get)

  test("a fiber that ends by itself is no leak, nor are the helpers of parallel operators"):
    val runtime = TestRuntime()
    for _ <- 1 to 200 do
      val task = Task.cede.start.andThen(Task.parTraverse(1 to 100)(n => Task.cede.as(n)))
      assertEquals(runtime.run(task).size, 100)
      assertEquals(runtime.run(Task.parTraverse(1 to 100)(Task.pure)).size, 100)
      assertEquals(runtime.run(Task.race(Task.pure(1), Task.never)), Left(1))

  test("the error of a test counts, the leak is suppressed under it"):
    val boom = RuntimeException("boom")
    val error = intercept[RuntimeException](
      TestRuntime.run(Task.never.start.andThen(Task.fail(boom)))
    )
    assertEquals(error, boom)
    assert(error.getSuppressed.exists(_.isInstanceOf[TestRuntime.Leaked]))

  test("a runtime that may leak does not complain"):
    assertEquals(TestRuntime(mayLeak = true).run(Task.never.start.as(1)), 1)

  /** The line of this file that calls it. */
  private def line(): Int =
    StackWalker.getInstance.walk(_.skip(1).findFirst.get.getLineNumber)

  test("a stuck test and a leak begin with the file and the line that have run the test"):
    val runtime = TestRuntime()
    val here = line()
    val errors = List(
      intercept[TestRuntime.Stuck](TestRuntime.run(Task.never)),
      intercept[TestRuntime.Leaked](TestRuntime.run(Task.never.start)),
      intercept[TestRuntime.Stuck](runtime.run(Task.never)),
      intercept[TestRuntime.Stuck](TestRuntime.timed(Task.never))
    )
    for (error, at) <- errors.zipWithIndex do
      val place = s"StuckSuite.scala:${here + 2 + at}: The test "
      assert(error.getMessage.startsWith(place), error.getMessage)
      val frames = error.getStackTrace.toList
      assertEquals(frames.head.getLineNumber, here + 2 + at)
      assert(frames.forall(_.getClassName.startsWith(classOf[StuckSuite].getName)), frames)
    runtime.close()

  test("a fiber that waits is named with the lines at which it does"):
    val here = line()
    val task = for
      never <- Deferred[Int]
      _ <- never.get.map(_ + 1).start
      _ <- never.get.map(_ + 2)
    yield ()
    val error = intercept[TestRuntime.Stuck](TestRuntime.run(task))
    for at <- List(3, 4) do
      assert(error.getMessage.contains(s"StuckSuite.scala:${here + at})"), error.getMessage)

package weir.japi

import java.nio.file.Path
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import scala.jdk.CollectionConverters.*
import weir.{Task, WeirSuite}

/** Weir as a program in Java uses it. */
class JavaUserSuite extends WeirSuite:

  test("lambdas of Java make tasks, and chain them"):
    assertEquals(JavaUser.chained(), 42)

  test("a checked exception of a callable is caught as what it is"):
    assertEquals(JavaUser.readOr(Path.of("no", "such", "file"), "none"), "none")

  test("a list of tasks gives a list of values in its order"):
    for parallelism <- List(1, 2, 100) do
      assertEquals(
        JavaUser.squares(50, parallelism).asScala.map(_.intValue).toList,
        List.tabulate(50)(n => n * n)
      )

  test("a timeout takes a java.time.Duration, and interrupts what blocks"):
    assert(JavaUser.timesOut())

  test("runAsync tells the value, the error, or that the task was cancelled"):
    assertEquals(JavaUser.told(Task.cede.as("value"), false).get(), "value")
    assertEquals(JavaUser.told(Task.fail(Boom()), false).get(), "Boom")
    assertEquals(JavaUser.told(Task.never, true).get(), "CancellationException")

  test("a stage goes into a task and out of it"):
    assertEquals(JavaUser.roundTrip("there and back"), "there and back")

  test("cancelling the completable future cancels the task"):
    val released = AtomicInteger()
    val running = CountDownLatch(1)
    val future = Tasks.toCompletableFuture(
      Task(running.countDown())
        .andThen(Task.never)
        .guarantee(Task(released.incrementAndGet(): Unit))
    )
    await(running)
    assert(future.cancel(true))
    eventually("the finalizer has run")(released.get == 1)

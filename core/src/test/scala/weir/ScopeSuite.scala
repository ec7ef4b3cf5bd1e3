package weir

import java.util.concurrent.{CancellationException, CountDownLatch}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.fiber.FiberCore
import weir.std.Supervisor
import weir.testkit.TestRuntime

/** Scopes: no fiber outlives its scope, and the first failure ends it. */
class ScopeSuite extends WeirSuite:

  private val blocked = Task(Thread.sleep(3_600_000))

  /** A task that counts down when it has begun, waits, and counts its release, which takes a
    * moment.
    */
  private final class Waiting(count: Int, wait: Task[Unit] = Task.never):
    val begun = CountDownLatch(count)
    val released = AtomicInteger()
    val task: Task[Unit] = Task(begun.countDown())
      .andThen(wait)
      .guarantee(Task.cede.andThen(Task(released.incrementAndGet()).void))

  private def outcome[A](task: Task[A]): Outcome[A] = task.start.flatMap(_.join).runSync()

  test("the body's value comes when all fibers have ended, those that fibers forked too"):
    for count <- List(0, 1, 2, 1000) do
      val gate = CountDownLatch(1)
      val ended = AtomicInteger()
      val task = Scope.run { scope =>
        val inner = Task.cede.andThen(Task(ended.incrementAndGet()))
        val outer =
          Task(gate.await()).andThen(scope.fork(inner)).andThen(Task(ended.incrementAndGet()))
        Task.foreach(1 to count)(_ => scope.fork(outer)).andThen(Task(gate.countDown())).as("body")
      }
      assertEquals(task.map((_, ended.get)).runSync(), ("body", 2 * count))

  test("a fiber's value is had by joining it"):
    val task = Scope.run { scope =>
      for
        a <- scope.fork(Task.cede.as(1))
        b <- scope.fork(Task(2))
        sum <- Task.both(a.joinOrFail, b.joinOrFail)
      yield sum
    }
    assertEquals(task.runSync(), (1, 2))

  for (state, wait) <- List("wait" -> Task.never, "block" -> blocked, "run" -> Task.cede.forever) do
    test(s"the first failure cancels fibers that $state, and is thrown after their finalizers"):
      val boom = Boom()
      val others = Waiting(6, wait)
      val task = Scope.run { scope =>
        Task
          .foreach(1 to 5)(_ => scope.fork(others.task))
          .andThen(scope.fork(Task(others.begun.await()).andThen(Task.fail(boom))))
          .andThen(others.task)
      }
      assertEquals(task.attempt.map((_, others.released.get)).runSync(), (Left(boom), 6))
      assertEquals(boom.getSuppressed.toList, Nil)

  test("a failure of the body cancels the fibers, and is thrown after their finalizers"):
    val boom = Boom()
    for all <- List(false, true); throws <- List(true, false) do
      val others = Waiting(5)
      def body(scope: Scope): Task[Unit] =
        Task
          .foreach(1 to 5)(_ => scope.fork(others.task))
          .andThen(Task(others.begun.await()))
          .andThen(if throws then throw boom else Task.fail(boom))
      val task = if all then Scope.runAll(body) else Scope.run(body)
      assertEquals(task.attempt.map((_, others.released.get)).runSync(), (Left(boom), 5))
    assertEquals(Scope.run(_ => throw boom).attempt.runSync(), Left(boom))

  test("a failure after the first is suppressed under it, and an interrupt does not replace it"):
    val first = Boom("first")
    val second = Boom("second")
    val begun = CountDownLatch(3)
    val canceled = CountDownLatch(1)
    val task = Scope.run { scope =>
      val late = Task.uncancelable(_ =>
        Task(begun.countDown()).andThen(Task(canceled.await())).andThen(Task.fail(second))
      )
      val waits = Task(begun.countDown()).andThen(blocked).onCancel(Task(canceled.countDown()))
      scope
        .fork(late)
        .andThen(scope.fork(waits))
        .andThen(scope.fork(Task(begun.countDown()).andThen(blocked)))
        .andThen(Task(begun.await()))
        .andThen(Task.fail(first))
    }
    assertEquals(task.attempt.runSync(), Left(first))
    assertEquals(first.getSuppressed.toList, List(second))

  test("a failure that is joined is not suppressed under itself"):
    val boom = Boom()
    val task =
      Scope.run(scope => scope.fork(Task.cede.andThen(Task.fail(boom))).flatMap(_.joinOrFail))
    assertEquals(task.attempt.runSync(), Left(boom))
    assertEquals(boom.getSuppressed.toList, Nil)

  test("an error has at most 64 others suppressed under it"):
    val boom = Boom()
    val task = Scope.runAll { scope =>
      scope
        .fork(Task.fail(boom))
        .flatMap(_.join)
        .andThen(
          Task.foreach(1 to 1000)(_ => scope.fork(Task.fail(Boom())))
        )
    }
    assertEquals(task.attempt.runSync(), Left(boom))
    assertEquals(boom.getSuppressed.length, 64)

  test("a cancel cancels the body and all fibers, and waits for their finalizers"):
    for wait <- List(Task.never, blocked, Task.cede.forever) do
      val all = Waiting(6, wait)
      val task =
        Scope.run(scope => Task.foreach(1 to 5)(_ => scope.fork(all.task)).andThen(all.task))
      val fiber = task.start.runSync()
      await(all.begun)
      fiber.cancel.runSync()
      assertEquals(all.released.get, 6)
      assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("a cancel after the body has ended cancels the fibers that are left"):
    val all = Waiting(1)
    val bodyEnded = CountDownLatch(1)
    val task = Scope.run(scope => scope.fork(all.task).void.guarantee(Task(bodyEnded.countDown())))
    val fiber = task.start.runSync()
    await(all.begun)
    await(bodyEnded)
    fiber.cancel.runSync()
    assertEquals((all.released.get, fiber.join.runSync()), (1, Outcome.Canceled))

  test("cancelled at any moment, as many fibers are released as were begun, and none is left"):
    val random = scala.util.Random(23)
    for _ <- 1 to 1000 do
      val begun, released = AtomicInteger()
      def child(scope: Scope, depth: Int): Task[Unit] = Task.uncancelable(poll =>
        Task(begun.incrementAndGet())
          .andThen(poll(Task.cede))
          .andThen(
            if depth == 0 then Task.unit
            else
              poll(
                scope.fork(child(scope, depth - 1)).andThen(scope.fork(child(scope, depth - 1)))
              ).void
          )
          .guarantee(Task(released.incrementAndGet()).void)
      )
      val fiber = Scope.run(scope => child(scope, 4)).start.runSync()
      val until = System.nanoTime() + random.nextInt(60_000)
      while System.nanoTime() < until do Thread.onSpinWait()
      fiber.cancel.runSync()
      assertEquals(released.get, begun.get)

  test("a fiber cancelled right after its fork runs the finalizers at the head of its body, once"):
    for _ <- 1 to 2000 do
      val released = AtomicInteger()
      val body = Task.cede.guarantee(Task(released.incrementAndGet()).void)
      Scope.run(scope => scope.fork(body).flatMap(_.cancel)).runSync()
      assertEquals(released.get, 1)

  test("from a block in direct style: forks, joins, and a failure that ends the block"):
    val sum = Scope.run { scope =>
      Task.direct {
        val fibers = (1 to 10).map(i => scope.fork(Task.cede.as(i)).await)
        fibers.map(_.joinOrFail.await).sum
      }
    }
    assertEquals(sum.runSync(), 55)
    val boom = Boom()
    val begun = CountDownLatch(1)
    val blocks = Scope.run { scope =>
      Task.direct {
        scope.fork(Task(begun.await()).andThen(Task.fail(boom))).await: Unit
        begun.countDown()
        Thread.sleep(3_600_000)
      }
    }
    assertEquals(Task.direct(blocks.await).attempt.runSync(), Left(boom))

  test("a fork into a scope that has ended fails, says so, and starts nothing"):
    val runs = AtomicInteger()
    val scope = Scope.run(Task.pure).runSync()
    val error = intercept[IllegalStateException](scope.fork(Task(runs.incrementAndGet())).runSync())
    assert(error.getMessage.startsWith("Scope.fork: the scope has ended"), error.getMessage)
    assertEquals(runs.get, 0)

  test("a fork while the scope is being cancelled fails: from a finalizer, or a masked region"):
    val boom = Boom()
    val runs = AtomicInteger()
    val seen = AtomicReference[Either[Throwable, Any]](Right(()))
    val begun = CountDownLatch(1)
    val task = Scope.run { scope =>
      val forks = scope.fork(Task(runs.incrementAndGet())).attempt.map(seen.set)
      scope
        .fork(Task(begun.countDown()).andThen(Task.never).guarantee(forks))
        .andThen(Task(begun.await()))
        .andThen(Task.fail(boom))
    }
    assertEquals(task.attempt.runSync(), Left(boom))
    assert(seen.get.left.exists(_.isInstanceOf[IllegalStateException]), s"${seen.get}")
    assertEquals(runs.get, 0)

  test("forks that race with the end are in the scope or refused, never left behind"):
    for _ <- 1 to 2000 do
      val begun, released = AtomicInteger()
      val holder = AtomicReference[Scope]()
      val ready = CountDownLatch(1)
      val counted = Task.uncancelable(poll =>
        Task(begun.incrementAndGet())
          .andThen(poll(Task.cede))
          .guarantee(Task(released.incrementAndGet()).void)
      )
      val outside = Task(ready.await()).andThen(
        Task.foreach(1 to 20)(_ => holder.get.fork(counted).attempt)
      )
      val fiber = outside.start.runSync()
      Scope.run(scope => Task { holder.set(scope); ready.countDown() }.andThen(Task.cede)).runSync()
      // Each fiber that was added has ended, though the outside fiber may still try to fork.
      val (b, r) = (begun.get, released.get)
      assertEquals(b, r)
      fiber.join.runSync(): Unit
      assertEquals((begun.get, released.get), (b, r))

  test("a fiber that is cancelled, or cancels itself, is no failure"):
    val task = Scope.run { scope =>
      scope
        .fork(Task.canceled)
        .andThen(scope.fork(Task.never))
        .flatMap(fiber => fiber.cancel.andThen(fiber.join))
    }
    assertEquals(task.runSync(), Outcome.Canceled)

  test("a body that cancels itself cancels the fibers and the parent of the scope"):
    val others = Waiting(3)
    val task = Scope.run { scope =>
      Task
        .foreach(1 to 3)(_ => scope.fork(others.task))
        .andThen(Task(others.begun.await()))
        .andThen(Task.canceled)
    }
    assertEquals(outcome(task), Outcome.Canceled)
    assertEquals(others.released.get, 3)
    val masked = Task.uncancelable(_ => Scope.run(_ => Task.canceled).attempt)
    val seen = AtomicReference[Either[Throwable, Unit]](Right(()))
    assertEquals(outcome(masked.flatMap(end => Task(seen.set(end)))), Outcome.Canceled)
    assertEquals(seen.get, Right(()))
    val inMask = AtomicReference[Either[Throwable, Unit]](Right(()))
    outcome(Task.uncancelable(_ => Scope.run(_ => Task.canceled).attempt.map(inMask.set))): Unit
    assert(inMask.get.left.exists(_.isInstanceOf[CancellationException]), s"${inMask.get}")

  test(
    "runAll: a fiber that fails leaves the others and the body running, and is thrown at the end"
  ):
    val first = Boom("first")
    val second = Boom("second")
    val ended = AtomicInteger()
    val task = Scope.runAll { scope =>
      for
        failed <- scope.fork(Task.fail(first))
        _ <- failed.join
        again <- scope.fork(Task.fail(second))
        _ <- again.join
        _ <- scope.fork(Task.cede.andThen(Task(ended.incrementAndGet())))
        _ <- Task(ended.incrementAndGet())
      yield ()
    }
    assertEquals(task.attempt.map((_, ended.get)).runSync(), (Left(first), 2))
    assertEquals(first.getSuppressed.toList, List(second))

  test("a scope in a scope in a scope: a failure inside ends all, innermost first"):
    val boom = Boom()
    val outer, middle = Waiting(1)
    val order = java.util.concurrent.ConcurrentLinkedQueue[String]()
    val task = Scope.run { a =>
      a.fork(outer.task.guarantee(Task(order.add("outer")).void))
        .andThen(Scope.run { b =>
          b.fork(middle.task.guarantee(Task(order.add("middle")).void))
            .andThen(Scope.run { c =>
              c.fork(
                Task(outer.begun.await())
                  .andThen(Task(middle.begun.await()))
                  .andThen(Task.fail(boom))
              ).andThen(Task.never)
            })
        })
    }
    assertEquals(task.attempt.runSync(), Left(boom))
    assertEquals(order.asScala.toList, List("middle", "outer"))

  test("tens of thousands of fibers, and a scope that lives long keeps none that have ended"):
    val ended = AtomicInteger()
    val many = Tier(30_000, 100_000)
    Scope
      .run(scope => Task.foreach(1 to many)(_ => scope.fork(Task(ended.incrementAndGet()))))
      .runSync()
    assertEquals(ended.get, many)
    val left = Scope.run { scope =>
      Task
        .foreach(1 to 1000)(_ => scope.fork(Task.unit).flatMap(_.join))
        .andThen(
          Task {
            // The last fiber has completed its joiner, and is removed a moment later.
            eventually("only the body is left")(scope.holders.size == 1)
          }
        )
    }
    left.runSync()

  test("the interrupt of a blocked fiber does not reach the one that goes on"):
    val begun = CountDownLatch(1)
    val flag = AtomicBoolean()
    val task = Scope.run(scope =>
      scope
        .fork(Task(begun.countDown()).andThen(blocked))
        .andThen(Task(begun.await()))
        .andThen(Task.fail(Boom()))
    )
    task.attempt.andThen(Task(flag.set(Thread.currentThread().isInterrupted))).runSync()
    assert(!flag.get)

  test(
    "a cancelled scope whose body has a value keeps it, though a fiber of it was cancelled before"
  ):
    val inside, go = CountDownLatch(1)
    val masked = Task.uncancelable(_ => Task { inside.countDown(); go.await(); 7 })
    val scope = Scope.run(_.fork(Task.never).flatMap(_.cancel).andThen(masked))
    val fiber = scope.start.runSync()
    await(inside)
    val cancel = startCancel(fiber)
    go.countDown()
    cancel.joinOrFail.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Succeeded(7))

class SupervisorSuite extends WeirSuite:

  test("at its end it cancels its fibers and waits for their finalizers"):
    for fails <- List(false, true); await <- List(false, true); if fails || !await do
      val begun = CountDownLatch(3)
      val released = AtomicInteger()
      val task = Task(begun.countDown())
        .andThen(Task.never)
        .guarantee(Task.cede.andThen(Task(released.incrementAndGet()).void))
      val used = Supervisor(await).use(supervisor =>
        Task
          .foreach(1 to 3)(_ => supervisor.supervise(task))
          .andThen(Task(begun.await()))
          .andThen(if fails then Task.fail(Boom()) else Task.unit)
      )
      assertEquals(used.attempt.map(result => (result.isLeft, released.get)).runSync(), (fails, 3))

  test("await: its end waits for its fibers, and for those that they start, and cancels none"):
    val ended = AtomicInteger()
    // A cancel would cut the sleeps short.
    val inner = Task.sleep(5.millis).andThen(Task(ended.incrementAndGet()))
    Supervisor(await = true)
      .use(supervisor =>
        supervisor.supervise(
          Task.sleep(5.millis).andThen(supervisor.supervise(inner)).andThen(inner)
        )
      )
      .runSync(): Unit
    assertEquals(ended.get, 2)

  test("a fiber outlives the one that started it, and its failure stops nothing"):
    val boom = Boom()
    val task = Supervisor().use { supervisor =>
      for
        started <- supervisor.supervise(supervisor.supervise(Task.never)).flatMap(_.joinOrFail)
        failed <- supervisor.supervise(Task.fail(boom)).flatMap(_.join)
        still <- Task(started.asInstanceOf[FiberCore].outcome eq null)
      yield (failed, still)
    }
    assertEquals(task.runSync(), (Outcome.Failed(boom), true))

  test("supervise after the end fails, says so, and starts nothing"):
    val runs = AtomicInteger()
    val supervisor = Supervisor().use(Task.pure).runSync()
    val error =
      intercept[IllegalStateException](supervisor.supervise(Task(runs.incrementAndGet())).runSync())
    assert(error.getMessage.startsWith("Supervisor.supervise: the supervisor has ended"))
    assertEquals(runs.get, 0)

  test("what an ended supervisor refuses is no fiber, which a test runtime would miss"):
    val error = TestRuntime.run(
      Supervisor().use(Task.pure).flatMap(_.supervise(Task.unit)).attempt
    )
    assert(error.left.exists(_.isInstanceOf[IllegalStateException]), s"$error")

  test("the error of a daemon is printed, and it goes on after the one that started it"):
    val err = System.err
    val printed = java.io.ByteArrayOutputStream()
    System.setErr(java.io.PrintStream(printed, true))
    try
      val gate = CountDownLatch(1)
      val boom = Boom("a test's own daemon, which fails")
      val daemon = Task(gate.await()).andThen(Task.fail(boom)).startDaemon
      val fiber = daemon.start.flatMap(_.joinOrFail).runSync()
      gate.countDown()
      assertEquals(fiber.join.runSync(), Outcome.Failed(boom))
      assert(printed.toString.contains("a daemon failed"), printed.toString)
    finally System.setErr(err)

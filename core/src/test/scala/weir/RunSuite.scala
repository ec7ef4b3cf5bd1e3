package weir

import java.util.concurrent.{
  CancellationException,
  CompletableFuture,
  CompletionException,
  CountDownLatch
}
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import scala.concurrent.{Await, Future, Promise}
import scala.concurrent.duration.*

/** Ways into Weir and out of it. */
class RunSuite extends WeirSuite:

  /** A task that never ends by itself, with a signal that it runs, and a count by its finalizer. */
  private class Endless(body: Task[Unit] = Task.never):
    val running = CountDownLatch(1)
    val released = AtomicInteger()
    val task: Task[Unit] =
      Task(running.countDown()).andThen(body).guarantee(Task(released.incrementAndGet()).void)

  test("runSync runs a task that does not suspend on the caller's own thread"):
    val thread = Task.pure(1).flatMap(_ => Task.delay(Thread.currentThread())).runSync()
    assertEquals(thread, Thread.currentThread())

  test("runSync of a task that suspends comes back to the caller with its value or error"):
    val boom = Boom()
    for _ <- 1 to 200 do
      assertEquals(Task.sleep(1.micro).as(1).runSync(), 1)
      assertEquals(Task.cede.andThen(Task.fail(boom)).attempt.runSync(), Left(boom))

  test("runSync of a task that cancels itself throws CancellationException"):
    intercept[CancellationException](Task.canceled.runSync())
    intercept[CancellationException](Task.cede.andThen(Task.canceled).andThen(Task.never).runSync())

  for
    (name, body) <- List(
      "is suspended" -> Task.never,
      "sleeps" -> Task.sleep(1.hour),
      "blocks" -> Task.delay(Thread.sleep(3_600_000))
    )
    (thread, builder) <- List("platform" -> Thread.ofPlatform(), "virtual" -> Thread.ofVirtual())
  do
    test(
      s"an interrupt of a $thread thread in runSync that $name cancels, and waits for finalizers"
    ):
      val endless = Endless(body)
      val thrown = AtomicReference[Throwable]()
      val caller = builder.start(() =>
        try endless.task.runSync()
        catch case e: Throwable => thrown.set(e)
      )
      await(endless.running)
      caller.interrupt()
      caller.join(10_000)
      assert(thrown.get.isInstanceOf[InterruptedException], s"thrown was ${thrown.get}")
      assertEquals(endless.released.get, 1)

  test("a thread interrupted before runSync has its task cancelled once it waits"):
    val thrown = AtomicReference[Throwable]()
    val caller = Thread.startVirtualThread { () =>
      Thread.currentThread().interrupt()
      try Task.never.runSync()
      catch case e: Throwable => thrown.set(e)
    }
    caller.join(10_000)
    assert(thrown.get.isInstanceOf[InterruptedException], s"thrown was ${thrown.get}")

  test("runAsync tells the outcome once: value, error or canceled"):
    val boom = Boom()
    def outcome[A](task: Task[A]): Outcome[A] =
      val told = CompletableFuture[Outcome[A]]()
      val calls = AtomicInteger()
      val _ = task.runAsync { outcome =>
        calls.incrementAndGet(): Unit
        told.complete(outcome): Unit
      }
      val result = told.get()
      assertEquals(calls.get, 1)
      result
    for task <- List(Task.pure(1), Task.cede.as(1), Task.sleep(1.milli).as(1)) do
      assertEquals(outcome(task), Outcome.Succeeded(1))
      assertEquals(outcome(task.andThen(Task.fail(boom))), Outcome.Failed(boom))
      assertEquals(outcome(task.andThen(Task.canceled)), Outcome.Canceled)

  test("runAsync does not run the task on the caller's thread"):
    val thread = CompletableFuture[Thread]()
    val _ = Task(thread.complete(Thread.currentThread())).runAsync(_ => ())
    assertNotEquals(thread.get(), Thread.currentThread())

  test("the function that runAsync returns cancels, at once, later, or too late"):
    for wait <- List(false, true) do
      val endless = Endless()
      val told = CompletableFuture[Outcome[Unit]]()
      val cancel = endless.task.runAsync(told.complete(_): Unit)
      if wait then await(endless.running)
      cancel()
      assertEquals(told.get(), Outcome.Canceled)
      assertEquals(endless.released.get, 1)
      cancel()

  test("an exception thrown by runAsync's callback does not kill the worker"):
    given WeirRuntime = silentRuntime(carriers = 1)
    for _ <- 1 to 20 do Task.cede.runAsync(_ => throw Boom("thrown by a test's callback")): Unit
    assertEquals(Task.cede.start.flatMap(_.join).runSync(), Outcome.Succeeded(()))

  test("toFuture completes with the value, the error, or CancellationException"):
    val boom = Boom()
    assertEquals(Await.result(Task.cede.as(1).toFuture(), 5.seconds), 1)
    assertEquals(Await.ready(Task.fail(boom).toFuture(), 5.seconds).value.get.failed.get, boom)
    intercept[CancellationException](Await.result(Task.canceled.toFuture(), 5.seconds))

  test("fromFuture gives the future's value or error, already there or later"):
    val boom = Boom()
    assertEquals(Task.fromFuture(Future.successful(1)).runSync(), 1)
    assertEquals(Task.fromFuture(Future.failed(boom)).attempt.runSync(), Left(boom))
    assertEquals(Task.fromFuture(throw boom).attempt.runSync(), Left(boom))
    val later = Promise[Int]()
    val fiber = Task.fromFuture(later.future).start.runSync()
    later.success(2)
    assertEquals(fiber.joinOrFail.runSync(), 2)

  test("fromFuture makes the future anew for each run"):
    val made = AtomicInteger()
    val task = Task.fromFuture(Future.successful(made.incrementAndGet()))
    assertEquals((task.runSync(), task.runSync()), (1, 2))

  test("a cancel stops the wait for a future"):
    val started = CountDownLatch(1)
    val fiber = Task.fromFuture { started.countDown(); Promise[Int]().future }.start.runSync()
    await(started)
    fiber.cancel.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("fromCompletionStage gives the value, or the error out of its CompletionException"):
    val boom = Boom()
    def stage[A](stage: => CompletableFuture[A]) = Task.fromCompletionStage(stage).attempt.runSync()
    assertEquals(stage(CompletableFuture.completedFuture(1)), Right(1))
    assertEquals(stage(CompletableFuture.failedFuture(boom)), Left(boom))
    assertEquals(stage(CompletableFuture.supplyAsync(() => throw boom)), Left(boom))
    assertEquals(
      stage(CompletableFuture.supplyAsync(() => 1).thenApply(_ => throw boom)),
      Left(boom)
    )

  test("a cancel of the task cancels the stage, and a cancel of the stage ends the task"):
    val stage = CompletableFuture[Int]()
    val asked = CountDownLatch(1)
    val waiting = Task.fromCompletionStage { asked.countDown(); stage }.start.runSync()
    await(asked)
    waiting.cancel.runSync()
    assert(stage.isCancelled)
    val other = CompletableFuture[Int]()
    other.cancel(true): Unit
    val result = Task.fromCompletionStage(other).attempt.runSync()
    assert(result.left.exists(_.isInstanceOf[CancellationException]), s"result was $result")

  test("toCompletionStage completes with the value or the error"):
    val boom = Boom()
    assertEquals(Task.cede.as(1).toCompletionStage().toCompletableFuture.get(), 1)
    val failed = Task.cede.andThen(Task.fail(boom)).toCompletionStage().toCompletableFuture
    assertEquals(intercept[CompletionException](failed.join()).getCause, boom)

  test("cancelling the stage that toCompletionStage gave cancels the task and runs its finalizers"):
    val endless = Endless()
    val stage = endless.task.toCompletionStage().toCompletableFuture
    await(endless.running)
    assert(stage.cancel(true))
    eventually("the finalizer has run")(endless.released.get == 1)

  test("a stage and a future go round trip a thousand times"):
    def trip(n: Int) = Task.fromCompletionStage(
      Task.fromFuture(Task.cede.as(n).toFuture()).toCompletionStage()
    )
    assertEquals(Task.traverse(1 to 1000)(trip).runSync(), (1 to 1000))

  // ---- runAsyncHere ----

  private val here = Task.delay(Thread.currentThread())

  /** Starts `task` by `runAsyncHere`. Returns its outcome so far, and that at its end. */
  private def runHere[A](task: Task[A]): (Option[Outcome[A]], Outcome[A]) =
    val outcome = AtomicReference[Outcome[A]]()
    val ended = CountDownLatch(1)
    task.runAsyncHere(_ => ()) { result =>
      outcome.set(result)
      ended.countDown()
    }
    val atOnce = Option(outcome.get)
    await(ended)
    (atOnce, outcome.get)

  test("runAsyncHere runs a task that does not suspend on the caller's thread, to its end"):
    val (atOnce, _) = runHere(Task.pure(1).flatMap(_ => here))
    assertEquals(atOnce, Some(Outcome.Succeeded(Thread.currentThread())))
    val boom = Boom()
    assertEquals(runHere(Task.fail(boom))._1, Some(Outcome.Failed(boom)))

  private def countDown(n: Int): Task[Unit] =
    if n == 0 then Task.unit else Task.delay(n - 1).flatMap(countDown)

  for (name, leave) <- List[(String, Deferred[Unit] => Task[Unit])](
      "suspends" -> (_.get),
      "cedes" -> (_ => Task.cede),
      "runs a stream" -> (_ => Stream.range(0, 3).drain),
      "awaits in direct style" -> (gate => Task.direct(gate.get.await)),
      "computes for long" -> (_ => countDown(100_000))
    )
  do
    for (kind, builder) <- List("platform" -> Thread.ofPlatform(), "virtual" -> Thread.ofVirtual())
    do
      test(s"runAsyncHere leaves a $kind thread where its task $name"):
        val gate = Deferred.unsafe[Unit]
        val result = Promise[Outcome[(Thread, Thread)]]()
        val thread = builder.start { () =>
          here
            .flatMap(first => leave(gate).andThen(here).map(first -> _))
            .runAsyncHere(_ => ())(outcome => result.success(outcome): Unit)
          gate.complete(()).runSync(): Unit
        }
        Await.result(result.future, 10.seconds) match
          case Outcome.Succeeded((first, second)) =>
            assertEquals(first, thread)
            assertNotEquals(second, thread)
          case other => fail(s"the outcome was $other")

  test("runAsyncHere inside of a task begins on a worker, as runAsync does"):
    val (caller, started) = here
      .map { thread =>
        val inner = Promise[Thread]()
        here.runAsyncHere(_ => ())(outcome => inner.success(outcome.get): Unit)
        (thread, inner.future)
      }
      .runSync()
    assertEquals(caller, Thread.currentThread())
    assertNotEquals(Await.result(started, 10.seconds), caller)

  test("runAsyncHere passes on the function that cancels before the task begins"):
    val endless = Endless(Task.delay(Thread.sleep(3_600_000)))
    val cancel = AtomicReference[() => Unit]()
    val ended = CountDownLatch(1)
    val _ = Thread.ofPlatform().start { () =>
      endless.task.runAsyncHere(cancel.set)(_ => ended.countDown())
    }
    await(endless.running)
    cancel.get.apply()
    await(ended)
    assertEquals(endless.released.get, 1)

  test("an interrupt of the caller of runAsyncHere is an error of the code that blocks there"):
    val endless = Task.delay(Thread.sleep(3_600_000))
    for (name, blocks) <- List("in place" -> endless, "in runSync" -> Task.delay(endless.runSync()))
    do
      val running = CountDownLatch(1)
      val outcome = AtomicReference[Outcome[Boolean]]()
      val isInterrupted = AtomicReference[Boolean]()
      val caller = Thread.ofPlatform().start { () =>
        (Task(running.countDown()) >> blocks)
          .as(false)
          .handleErrorWith(error => Task.pure(error.isInstanceOf[InterruptedException]))
          .runAsyncHere(_ => ())(outcome.set)
        isInterrupted.set(Thread.currentThread().isInterrupted)
      }
      await(running)
      caller.interrupt()
      caller.join(10_000)
      assertEquals(outcome.get, Outcome.Succeeded(true), name)
      assertEquals(isInterrupted.get, false, name)

  test("runAsyncHere treats an InterruptedException that its task throws as any error"):
    val boom = InterruptedException("boom")
    assertEquals(runHere(Task.fail(boom).attempt)._1, Some(Outcome.Succeeded(Left(boom))))
    assertEquals(runHere(Task.delay(throw boom).attempt)._1, Some(Outcome.Succeeded(Left(boom))))
    assertEquals(Thread.currentThread().isInterrupted, false)

  test("a thread that is interrupted before runAsyncHere does not pass that to the task"):
    Thread.currentThread().interrupt()
    assertEquals(runHere(Task.delay(Thread.sleep(1)))._1, Some(Outcome.Succeeded(())))
    assertEquals(Thread.currentThread().isInterrupted, false)

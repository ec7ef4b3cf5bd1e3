package weir

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}
import scala.concurrent.duration.*
import scala.util.Try

/** The effects of a cancel on plain code that awaits. */
class DirectCancelSuite extends WeirSuite:

  /** Places to be stuck in: parked in an await, blocked in the code itself, blocked in a task, in a
    * nested block.
    */
  private val stuck = List[(String, Task.Direct ?=> CountDownLatch => Any)](
    "an await" -> (begun => { begun.countDown(); Task.never.await }),
    "a sleep" -> (begun => Task(begun.countDown()).andThen(Task.sleep(1.hour)).await),
    "blocking code" -> (begun => { begun.countDown(); Thread.sleep(3_600_000) }),
    "a blocking task" -> (begun => Task { begun.countDown(); Thread.sleep(3_600_000) }.await),
    "a loop of ready awaits" -> (begun => {
      begun.countDown()
      while true do Task.unit.await
    }),
    "a loop of ready waits" -> { begun =>
      val ready = Deferred.unsafe[Unit]
      ready.complete(()).await: Unit
      begun.countDown()
      while true do ready.get.await
    },
    "a nested block" -> (begun => Task.direct { begun.countDown(); Task.never.await }.await),
    "a nested runSync" -> (begun => Task(begun.countDown()).andThen(Task.never).runSync()),
    "parallel children" -> (begun =>
      Task.parTraverse(1 to 3)(_ => Task(begun.countDown()).andThen(Task.never)).await
    ),
    "the loop over a stream" -> { begun =>
      for _ <- Stream.emit(1) ++ Stream.never do begun.countDown()
    }
  )

  /** Cancels `task` once `begun` is down. The outcome. */
  private def cancelOnce(begun: CountDownLatch, task: Task[Any]): Outcome[Any] =
    val fiber = task.start.runSync()
    await(begun)
    fiber.cancel.runSync()
    fiber.join.runSync()

  for (place, wait) <- stuck do
    test(s"cancelled in $place: finally runs, nothing after it, and then the outer finalizers"):
      for _ <- 1 to 20 do
        val begun = CountDownLatch(1)
        val log = AtomicReference(List.empty[String])
        def say(line: String): Unit = log.updateAndGet(line :: _): Unit
        val task = Task
          .direct {
            try wait(begun): Unit
            finally say("finally")
            Task.unit.await
            say("after")
          }
          .map(_ => say("mapped"))
          .onCancel(Task(say("onCancel")))
        assertEquals(cancelOnce(begun, task), Outcome.Canceled)
        assertEquals(log.get.reverse, List("finally", "onCancel"))

    test(s"cancellation in $place survives catch Exception, NonFatal and Try"):
      val handlers = List[Task.Direct ?=> (=> Any) => Any](
        body => {
          try body
          catch case _: Exception => ()
        },
        body => {
          try body
          catch case scala.util.control.NonFatal(_) => ()
        },
        body => Try(body)
      )
      for handler <- handlers do
        val begun = CountDownLatch(1)
        val after = AtomicBoolean()
        val task = Task.direct {
          handler(wait(begun)): Unit
          Task.unit.await // plain code that has swallowed an interrupt comes as far as this
          after.set(true)
        }
        assertEquals(cancelOnce(begun, task), Outcome.Canceled)
        assertEquals(after.get, false)

  test("a task that swallows the interrupt does not keep the block's own code from ending"):
    val begun = CountDownLatch(1)
    val after = AtomicBoolean()
    val swallows = Task {
      begun.countDown()
      try Thread.sleep(3_600_000)
      catch case _: InterruptedException => ()
    }
    val task = Task.direct {
      swallows.await
      Thread.sleep(3_600_000)
      after.set(true)
    }
    assertEquals(cancelOnce(begun, task), Outcome.Canceled)
    assertEquals(after.get, false)

  test("code that catches Throwable loses no cancel: what the block returns or throws is dropped"):
    val ends = List[() => Int](() => 1, () => throw Boom("a test's own error, after a cancel"))
    for end <- ends; nested <- List(false, true) do
      val begun = CountDownLatch(1)
      val handled = AtomicReference(List.empty[Any])
      val block = Task.direct {
        try { begun.countDown(); Task.never.await }
        catch case _: Throwable => end()
      }
      val task = (if nested then Task.direct(block.await) else block).attempt
        .map(result => handled.updateAndGet(result :: _))
        .handleErrorWith(e => Task(handled.updateAndGet(e :: _)))
      val outcome = quietly(cancelOnce(begun, task))
      assertEquals(outcome, Outcome.Canceled)
      assertEquals(handled.get, Nil)

  test("the error of a finally in a cancelled block is reported, and the cancel goes on"):
    val begun = CountDownLatch(1)
    val (outcome, printed) = printing {
      cancelOnce(
        begun,
        Task.direct {
          try { begun.countDown(); Task.never.await }
          finally throw Boom("the error of a finally")
        }
      )
    }
    assertEquals(outcome, Outcome.Canceled)
    assert(printed.contains("the error of a finally"), printed)

  test("wrapping the signal into another error is not reported as an error"):
    val begun = CountDownLatch(1)
    val (outcome, printed) = printing {
      cancelOnce(
        begun,
        Task.direct {
          try { begun.countDown(); Task.never.await }
          catch case e: Throwable => throw RuntimeException(e)
        }
      )
    }
    assertEquals((outcome, printed), (Outcome.Canceled, ""))

  test("await in a finally of a cancelled block runs masked, and cancel waits for it"):
    for _ <- 1 to 20 do
      val begun, inFinally, gate = CountDownLatch(1)
      val released = AtomicInteger()
      val task = Task.direct {
        try { begun.countDown(); Task.never.await }
        finally
          Task(inFinally.countDown()).await
          Task.cede.await
          Task
            .async[Unit](done =>
              Thread.startVirtualThread { () =>
                gate.await(); done(Right(()))
              }: Unit
            )
            .await
          Task.sleep(1.milli).await
          Thread.sleep(1)
          released.incrementAndGet(): Unit
      }
      val fiber = task.start.runSync()
      await(begun)
      val first = startCancel(fiber)
      await(inFinally)
      val second = fiber.cancel.start.runSync()
      gate.countDown()
      first.joinOrFail.runSync()
      assertEquals(released.get, 1)
      second.joinOrFail.runSync()
      assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("the finally blocks of nested blocks run from the inside out, each with its awaits"):
    val begun = CountDownLatch(1)
    val log = AtomicReference(List.empty[String])
    def say(line: String) = Task.cede.andThen(Task(log.updateAndGet(line :: _)).void)
    def level(name: String)(inner: Task[Any]): Task[Any] =
      Task
        .direct {
          try inner.await
          finally say(s"finally $name").await
        }
        .guarantee(say(s"guarantee $name"))
    val task = level("a")(level("b")(Task(begun.countDown()).andThen(Task.never)))
    assertEquals(cancelOnce(begun, task), Outcome.Canceled)
    assertEquals(
      log.get.reverse,
      List("finally b", "guarantee b", "finally a", "guarantee a")
    )

  test("a block that is cancelled before it begins runs nothing"):
    val ran = AtomicBoolean()
    val task = Task.canceled.andThen(Task.direct(ran.set(true)))
    assertEquals(task.start.flatMap(_.join).runSync(), Outcome.Canceled)
    assertEquals(ran.get, false)

  test("a block that cancels itself ends at that await"):
    val after = AtomicBoolean()
    val task = Task.direct { Task.canceled.await; after.set(true) }
    assertEquals(task.start.flatMap(_.join).runSync(), Outcome.Canceled)
    assertEquals(after.get, false)

  test("inside of uncancelable a block is masked, and a cancel waits for its end"):
    val begun, gate = CountDownLatch(1)
    val interrupted, ended = AtomicBoolean()
    val task = Task.uncancelable { _ =>
      Task.direct {
        begun.countDown()
        try gate.await()
        catch case _: InterruptedException => interrupted.set(true)
        Task.cede.await
        Task.sleep(1.milli).await
        ended.set(true)
      }
    }
    val fiber = task.start.runSync()
    await(begun)
    val canceling = startCancel(fiber)
    gate.countDown()
    canceling.joinOrFail.runSync()
    assertEquals((interrupted.get, ended.get), (false, true))

  test("poll takes the mask off for one await, and bracket in plain code releases once"):
    for _ <- 1 to 20 do
      val begun = CountDownLatch(1)
      val released, after = AtomicInteger()
      val task = Task.uncancelable { poll =>
        Task.direct {
          Task.cede.await
          try poll(Task(begun.countDown()).andThen(Task.never)).await
          finally Task.cede.andThen(Task(released.incrementAndGet())).await: Unit
          after.incrementAndGet()
        }
      }
      assertEquals(cancelOnce(begun, task), Outcome.Canceled)
      assertEquals((released.get, after.get), (1, 0))

  test("after poll the mask is on again"):
    val begun, gate = CountDownLatch(1)
    val ended = AtomicBoolean()
    val task = Task.uncancelable { poll =>
      Task.direct {
        poll(Task.cede).await
        begun.countDown()
        gate.await()
        Task.sleep(1.milli).await
        ended.set(true)
      }
    }
    val fiber = task.start.runSync()
    await(begun)
    val canceling = startCancel(fiber)
    gate.countDown()
    canceling.joinOrFail.runSync()
    assertEquals((ended.get, fiber.join.runSync()), (true, Outcome.Succeeded(())))

  test("Task.bracket around a block releases once, wherever it is cancelled"):
    for (_, wait) <- stuck do
      val begun = CountDownLatch(1)
      val acquired, released = AtomicInteger()
      val task = Task.direct {
        Task
          .bracket(Task.cede.andThen(Task(acquired.incrementAndGet())))(_ =>
            Task.direct(wait(begun): Unit)
          )(_ => Task.cede.andThen(Task(released.incrementAndGet()).void))
          .await
      }
      assertEquals(cancelOnce(begun, task), Outcome.Canceled)
      assertEquals((acquired.get, released.get), (1, 1))

  test("an error that was caught, and is thrown again by interrupted code, does not end the fiber"):
    val blocks = CountDownLatch(1)
    val boom = Boom()
    val block = Task.direct {
      val caught = Try(Task.fail(boom).await).failed.get
      Task.cede.await
      blocks.countDown()
      try Thread.sleep(3_600_000)
      catch case _: InterruptedException => throw caught
    }
    val fiber = block.start.runSync()
    await(blocks)
    fiber.cancel.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("timeout and race stop a block that is stuck"):
    for (place, wait) <- stuck do
      val released = AtomicInteger()
      val block = Task.direct {
        try wait(CountDownLatch(1)): Unit
        finally released.incrementAndGet(): Unit
      }
      intercept[java.util.concurrent.TimeoutException](block.timeout(20.millis).runSync())
      assertEquals(Task.race(block, Task.sleep(20.millis)).runSync(), Right(()), place)
      assertEquals(released.get, 2, place)

  test("an interrupt of the thread that runs a block by runSync cancels it"):
    for (place, wait) <- stuck do
      val begun = CountDownLatch(1)
      val released = AtomicInteger()
      val result = AtomicReference[Any]()
      val block = Task.direct {
        try wait(begun): Unit
        finally Task.cede.andThen(Task(released.incrementAndGet())).await: Unit
      }
      val caller = Thread.ofPlatform().daemon().start { () =>
        result.set(
          try block.runSync()
          catch case e: Throwable => e
        )
      }
      await(begun)
      caller.interrupt()
      caller.join(5000)
      assert(result.get.isInstanceOf[InterruptedException], s"$place: ${result.get}")
      assertEquals(released.get, 1)

  private def quietly[A](body: => A): A = printing(body)._1

  /** Returns the result of `body`, and the text that was printed as an error meanwhile. */
  private def printing[A](body: => A): (A, String) =
    val err = System.err
    val printed = java.io.ByteArrayOutputStream()
    System.setErr(java.io.PrintStream(printed, true))
    try (body, printed.toString)
    finally System.setErr(err)

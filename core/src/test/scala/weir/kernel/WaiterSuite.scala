package weir.kernel

import java.util.concurrent.{CompletableFuture, CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.AtomicBoolean
import weir.{Outcome, Runtime, Task, WeirSuite}

/** A wait whose waker or cancel comes at a certain step of it. */
class WaiterSuite extends WeirSuite:

  /** A wait, with `before` done after the last look for a cancel, before the fiber suspends. */
  private def wait(before: (RunLoop, Waiter) => Unit): Task[Any] = new Suspend[Any]:
    def begin(fiber: RunLoop): Any =
      val waiter = Waiter(fiber)
      before(fiber, waiter)
      waiter

  private def outcome(task: Task[Any]): Outcome[Any] = task.start.flatMap(_.join).runSync()

  test("a cancel between the last look and the suspension ends the wait"):
    assertEquals(outcome(wait((fiber, _) => fiber.requestCancel())), Outcome.Canceled)
    val released = AtomicBoolean()
    val inDirect = Direct(_.await(wait((fiber, _) => fiber.requestCancel())))
    assertEquals(outcome(inDirect.guarantee(Task(released.set(true)))), Outcome.Canceled)
    assert(released.get)

  test(
    "such a cancel of a masked wait leaves it to its waker, and is found at the end of the mask"
  ):
    val waiting = CompletableFuture[Waiter]()
    val masked = Task.uncancelable { _ =>
      wait { (fiber, waiter) =>
        fiber.requestCancel()
        waiting.complete(waiter): Unit
      }.map(value => assertEquals(value, 7))
    }
    val fiber = masked.start.runSync()
    val waiter = waiting.get(5, TimeUnit.SECONDS)
    eventually("it waits")(waiter.isWaiting)
    assert(waiter.complete(7))
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("a waker that comes before the suspension is not waited for"):
    assertEquals(outcome(wait((_, waiter) => assert(waiter.complete(7)))), Outcome.Succeeded(7))
    val failure = Boom()
    assertEquals(
      outcome(wait((_, waiter) => assert(waiter.fail(failure)))),
      Outcome.Failed(failure)
    )

  test(
    "of a waker and a cancel before the suspension, the waker wins, and the cancel is found next"
  ):
    val woken = wait { (fiber, waiter) =>
      assert(waiter.complete(7))
      fiber.requestCancel()
    }
    val seen = AtomicBoolean()
    assertEquals(outcome(woken.map(_ => seen.set(true))), Outcome.Canceled)
    assert(!seen.get)

  test("a waker that comes after a cancel is told so"):
    val waiting = CompletableFuture[Waiter]()
    val fiber = wait((_, waiter) => waiting.complete(waiter): Unit).start.runSync()
    val waiter = waiting.get(5, TimeUnit.SECONDS)
    eventually("it waits")(waiter.isWaiting)
    fiber.cancel.runSync()
    assert(!waiter.complete(7))
    assert(waiter.isCanceled)

  test("a cancel after the last look of a fiber that begins a nested run cancels that"):
    val entered = CountDownLatch(1)
    given runtime: Runtime = new Runtime(Runtime.default.scheduler, Runtime.default.timers, null):
      /** A nested run's fiber is made by the fiber that is about to wait for it. */
      override private[weir] def begun(fiber: FiberCore): Unit =
        outer.getNow(null) match
          case outer: FiberCore if outer.runningOn == Thread.currentThread() =>
            outer.requestCancel()
          case _ => ()
    lazy val outer = CompletableFuture[FiberCore]()
    val fiber = Task {
      entered.await()
      Task.never.runSync()
    }.start.runSync()
    outer.complete(fiber.asInstanceOf[FiberCore])
    entered.countDown()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("a joiner that comes while the fiber ends is given its outcome"):
    val gate = CountDownLatch(1)
    val told = CountDownLatch(1)
    val fiber = Task(gate.await()).start.runSync().asInstanceOf[FiberCore]
    def callback(what: Outcome[Any] => Unit) =
      fiber.register((list, lock) => CallbackJoin(what, fiber.runtime, list, lock))
    callback(_ => told.countDown()): Unit
    // It finds joiners, and by the time it has made its own the fiber has ended and told them all.
    val late = fiber.register { (list, lock) =>
      gate.countDown()
      await(told)
      CallbackJoin(_ => (), fiber.runtime, list, lock)
    }
    assertEquals(late, Outcome.Succeeded(()): AnyRef)

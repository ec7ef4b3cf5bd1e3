package weir.fiber

import java.util.SplittableRandom
import java.util.concurrent.{CompletableFuture, ConcurrentLinkedQueue, CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}
import scala.jdk.CollectionConverters.*
import weir.runtime.Pause
import weir.{Outcome, Task, Tier, WeirRuntime, WeirSuite}

/** A wait whose waker or canceller comes at a given step of it. */
class WaiterSuite extends WeirSuite:

  /** A wait. `before` runs after the last check for a cancel, before the fiber suspends. */
  private def wait(before: (TaskFiber, Waiter) => Unit): Task[Any] = new Suspend[Any]:
    def begin(fiber: TaskFiber): Any =
      val waiter = Waiter(fiber)
      before(fiber, waiter)
      waiter

  private def outcome(task: Task[Any]): Outcome[Any] = task.start.flatMap(_.join).runSync()

  test("a cancel between the last check and the suspension ends the wait"):
    assertEquals(outcome(wait((fiber, _) => fiber.requestCancel())), Outcome.Canceled)
    val released = AtomicBoolean()
    val inDirect = DirectCode(_.await(wait((fiber, _) => fiber.requestCancel())))
    assertEquals(outcome(inDirect.guarantee(Task(released.set(true)))), Outcome.Canceled)
    assert(released.get)

  for (when, isBefore) <- List("such a cancel" -> true, "a cancel after the suspension" -> false) do
    test(s"$when of a masked wait leaves it to its waker, and is noticed after the mask"):
      val waiting = CompletableFuture[Waiter]()
      val masked = Task.uncancelable { _ =>
        wait { (fiber, waiter) =>
          if isBefore then fiber.requestCancel()
          waiting.complete(waiter): Unit
        }.map(value => assertEquals(value, 7))
      }
      val fiber = masked.andThen(Task.cede).start.runSync()
      val waiter = waiting.get(10, TimeUnit.SECONDS)
      eventually("it waits")(waiter.isWaiting)
      if !isBefore then waiter.fiber.requestCancel()
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
    "of a waker and a cancel before the suspension, the waker wins, and the cancel comes next"
  ):
    val woken = wait { (fiber, waiter) =>
      assert(waiter.complete(7))
      fiber.requestCancel()
    }
    val seen = AtomicBoolean()
    assertEquals(outcome(woken.flatMap(_ => Task(seen.set(true)))), Outcome.Canceled)
    assert(!seen.get)

  test("complete after a cancel returns false"):
    val waiting = CompletableFuture[Waiter]()
    val fiber = wait((_, waiter) => waiting.complete(waiter): Unit).start.runSync()
    val waiter = waiting.get(10, TimeUnit.SECONDS)
    eventually("it waits")(waiter.isWaiting)
    fiber.cancel.runSync()
    assert(!waiter.complete(7))
    assert(waiter.isCanceled)

  /** A wait that runs code of the test before and after the CAS to `Suspended`. */
  private final class Watched(
      fiber: TaskFiber,
      before: Waiter => Unit = _ => (),
      after: Waiter => Unit = _ => ()
  ) extends Waiter(fiber):
    override private[fiber] def suspend(): Boolean =
      before(this)
      val suspended = super.suspend()
      after(this)
      suspended

  private def watched(make: TaskFiber => Watched): Task[Any] = new Suspend[Any]:
    def begin(fiber: TaskFiber): Any = make(fiber)

  test("before a wait can end, its fiber refers to it, and has left its thread or stored that"):
    val seen = ConcurrentLinkedQueue[Any]()
    def look(waiter: Waiter): Unit =
      val fiber = waiter.fiber
      seen.add((fiber.latestWait eq waiter, fiber.runningOn, waiter.thread)): Unit
      assert(waiter.complete(7))
    val wait = watched(Watched(_, before = look))
    assertEquals(outcome(wait), Outcome.Succeeded(7))
    assertEquals(outcome(DirectCode(_.await(wait))), Outcome.Succeeded(7))
    val List(left, (named, _, parked)) = seen.asScala.toList: @unchecked
    assertEquals(left, (true, null, null))
    assert(named == true && parked.isInstanceOf[Thread])

  test("a waker or a cancel right after the suspension alone goes on with the fiber"):
    for cancels <- List(true, false) do
      val goesOn = AtomicInteger()
      def end(waiter: Waiter): Unit =
        if cancels then waiter.fiber.requestCancel() else assert(waiter.complete(7))
        eventually("the fiber has ended on another thread")(waiter.fiber.outcome ne null)
      val task = watched(Watched(_, after = end)).guarantee(Task(goesOn.incrementAndGet()).void)
      assertEquals(outcome(task), if cancels then Outcome.Canceled else Outcome.Succeeded(7))
      assertEquals(goesOn.get, 1)

  test("a canceller has requested the cancel before it ends the wait"):
    val requested = CompletableFuture[Boolean]()
    val waiting = CompletableFuture[Waiter]()
    val wait = new Suspend[Any]:
      def begin(fiber: TaskFiber): Any = new Waiter(fiber):
        waiting.complete(this): Unit
        override private[fiber] def takeForCancel(): Boolean =
          requested.complete(this.fiber.cancelRequested): Unit
          super.takeForCancel()
    val fiber = wait.start.runSync()
    eventually("it waits")(waiting.get(10, TimeUnit.SECONDS).isWaiting)
    fiber.cancel.runSync()
    assert(requested.get(10, TimeUnit.SECONDS))

  /** Runs `body` beside a thread that completes each waiter in the cell that `body` is given, as
    * soon as it reads it, with the waiter itself.
    */
  private def beside(body: AtomicReference[Waiter | Null] => Unit): Unit =
    val waiting = AtomicReference[Waiter | Null](null)
    val stop = AtomicBoolean()
    val waker = Thread.ofPlatform().start { () =>
      while !stop.get do
        val waiter = waiting.get
        if waiter != null && waiter.isOpen && waiter.assign(
            waiter
          ) == Waiter.MustWake && waiter.fiber != null
        then waiter.wakeUp()
    }
    try body(waiting)
    finally stop.set(true)
    waker.join()

  test("stress: a fiber whose waker was faster has the value once the wait is done"):
    beside { waiting =>
      val until = System.nanoTime() + Tier(1_000_000_000L, 3_000_000_000L)
      val random = SplittableRandom()
      var faster, wrong = 0
      while faster < 200_000 && System.nanoTime() < until && wrong == 0 do
        val waiter = Waiter(null.asInstanceOf[TaskFiber])
        waiting.set(waiter)
        Pause.nanos(random.nextInt(1000))
        if waiter.suspend() then
          var spins = 0
          while !waiter.isDone do
            spins += 1
            if spins % 10_000 == 0 then Thread.`yield`() else Thread.onSpinWait()
        else
          waiter.awaitDone()
          faster += 1
          if waiter.value.asInstanceOf[AnyRef] ne waiter then wrong += 1
      println(s"measured: $faster wakers that were faster")
      assertEquals(wrong, 0)
    }

  test("stress: a fiber whose waker is faster goes on with the value"):
    beside { waiting =>
      val until = System.nanoTime() + Tier(300_000_000L, 1_000_000_000L)
      val random = SplittableRandom()
      var wrong, right = 0
      val one = wait { (_, waiter) =>
        waiting.set(waiter)
        Pause.nanos(random.nextInt(1000))
      }.map(value => if waiting.get eq value.asInstanceOf[AnyRef] then right += 1 else wrong += 1)
      def all: Task[Unit] =
        if System.nanoTime() > until || wrong > 0 then Task.unit else one.flatMap(_ => all)
      all.runSync()
      println(s"measured: $right waits")
      assertEquals(wrong, 0)
    }

  test("a cancel after the last check of a fiber that begins a nested run cancels that"):
    val entered = CountDownLatch(1)
    given runtime: WeirRuntime =
      new WeirRuntime(WeirRuntime.default.scheduler, WeirRuntime.default.timers, null):
        /** The fiber of a nested run is made on the thread of the fiber that is about to wait for
          * it.
          */
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

  test("a joiner that comes while the fiber ends gets its outcome"):
    val gate = CountDownLatch(1)
    val told = CountDownLatch(1)
    val fiber = Task(gate.await()).start.runSync().asInstanceOf[FiberCore]
    def callback(what: Outcome[Any] => Unit) =
      fiber.register((list, lock) => CallbackJoin(what, fiber.runtime, list, lock))
    callback(_ => told.countDown()): Unit
    // It finds joiners; once it has made its own, the fiber has ended and completed them all.
    val late = fiber.register { (list, lock) =>
      gate.countDown()
      await(told)
      CallbackJoin(_ => (), fiber.runtime, list, lock)
    }
    assertEquals(late, Outcome.Succeeded(()): AnyRef)

package weir.kernel

import java.util.SplittableRandom
import java.util.concurrent.{CompletableFuture, ConcurrentLinkedQueue, CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}
import scala.jdk.CollectionConverters.*
import weir.runtime.Pause
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
    "such a cancel of a masked wait leaves it to its waker, and is found after the mask"
  ):
    val waiting = CompletableFuture[Waiter]()
    val masked = Task.uncancelable { _ =>
      wait { (fiber, waiter) =>
        fiber.requestCancel()
        waiting.complete(waiter): Unit
      }.map(value => assertEquals(value, 7))
    }
    val fiber = masked.andThen(Task.cede).start.runSync()
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
    assertEquals(outcome(woken.flatMap(_ => Task(seen.set(true)))), Outcome.Canceled)
    assert(!seen.get)

  test("a waker that comes after a cancel is told so"):
    val waiting = CompletableFuture[Waiter]()
    val fiber = wait((_, waiter) => waiting.complete(waiter): Unit).start.runSync()
    val waiter = waiting.get(5, TimeUnit.SECONDS)
    eventually("it waits")(waiter.isWaiting)
    fiber.cancel.runSync()
    assert(!waiter.complete(7))
    assert(waiter.isCanceled)

  /** A wait that is looked at before it can be ended, and after that. */
  private final class Watched(
      fiber: RunLoop,
      before: Waiter => Unit = _ => (),
      after: Waiter => Unit = _ => ()
  ) extends Waiter(fiber):
    override private[kernel] def suspend(): Boolean =
      before(this)
      val suspended = super.suspend()
      after(this)
      suspended

  private def watched(make: RunLoop => Watched): Task[Any] = new Suspend[Any]:
    def begin(fiber: RunLoop): Any = make(fiber)

  test("before a wait can be ended, its fiber names it, and has left its thread or named that"):
    val seen = ConcurrentLinkedQueue[Any]()
    def look(waiter: Waiter): Unit =
      val fiber = waiter.fiber
      seen.add((fiber.latestWait eq waiter, fiber.runningOn, waiter.thread)): Unit
      assert(waiter.complete(7))
    val wait = watched(Watched(_, before = look))
    assertEquals(outcome(wait), Outcome.Succeeded(7))
    assertEquals(outcome(Direct(_.await(wait))), Outcome.Succeeded(7))
    val List(left, (named, _, parked)) = seen.asScala.toList: @unchecked
    assertEquals(left, (true, null, null))
    assert(named == true && parked.isInstanceOf[Thread])

  test("a waker or a cancel right after the suspension is the only one to go on with the fiber"):
    for cancels <- List(true, false) do
      val goesOn = AtomicInteger()
      def end(waiter: Waiter): Unit =
        if cancels then waiter.fiber.requestCancel() else assert(waiter.complete(7))
        eventually("the fiber has ended on another thread")(waiter.fiber.outcome ne null)
      val task = watched(Watched(_, after = end)).guarantee(Task(goesOn.incrementAndGet()).void)
      assertEquals(outcome(task), if cancels then Outcome.Canceled else Outcome.Succeeded(7))
      assertEquals(goesOn.get, 1)

  test("whoever ends a wait by a cancel has asked for it before"):
    val asked = CompletableFuture[Boolean]()
    val waiting = CompletableFuture[Waiter]()
    val wait = new Suspend[Any]:
      def begin(fiber: RunLoop): Any = new Waiter(fiber):
        waiting.complete(this): Unit
        override private[kernel] def takeForCancel(): Boolean =
          asked.complete(this.fiber.cancelRequested): Unit
          super.takeForCancel()
    val fiber = wait.start.runSync()
    eventually("it waits")(waiting.get(5, TimeUnit.SECONDS).isWaiting)
    fiber.cancel.runSync()
    assert(asked.get(5, TimeUnit.SECONDS))

  /** Runs `body` beside a thread that ends each wait in the cell that `body` is given, as soon as it sees it, with the waiter itself. */
  private def beside(body: AtomicReference[Waiter | Null] => Unit): Unit =
    val waiting = AtomicReference[Waiter | Null](null)
    val stop = AtomicBoolean()
    val waker = Thread.ofPlatform().start { () =>
      while !stop.get do
        val waiter = waiting.get
        if waiter != null && waiter.isOpen && waiter.claim(
            waiter
          ) == Waiter.Asleep && waiter.fiber != null
        then waiter.wakeUp()
    }
    try body(waiting)
    finally stop.set(true)
    waker.join()

  test("stress: who finds its waker faster has the value as soon as the wait is done"):
    beside { waiting =>
      val until = System.nanoTime() + 3_000_000_000L
      val random = SplittableRandom()
      var faster, wrong = 0
      while faster < 200_000 && System.nanoTime() < until && wrong == 0 do
        val waiter = Waiter(null.asInstanceOf[RunLoop])
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
      val until = System.nanoTime() + 1_000_000_000L
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

package weir.fiber

import java.util.SplittableRandom
import java.util.concurrent.{CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicReference}
import weir.runtime.{CallingThread, Pause}
import weir.{Task, Tier, WeirRuntime, WeirSuite}

/** A cancel at a given step of the fiber's owner. The test takes the owner's steps itself. */
class InterruptGateSuite extends WeirSuite:

  /** A fiber that no thread runs. */
  private def idle(): TaskFiber = TaskFiber(WeirRuntime.default, Task.unit)

  /** A fiber that the calling thread runs, its gate open. */
  private def running(): TaskFiber =
    val fiber = idle()
    fiber.executionThread = CallingThread(WeirRuntime.default.scheduler, null)
    fiber.openInterruptGate()
    fiber

  /** Runs `owns` with a fiber again and again, while another thread requests the fiber's cancel.
    * The function that `owns` is given returns once the cancel has been requested. Returns how
    * often `owns` was false.
    */
  private def cancelBeside(make: () => TaskFiber)(owns: (TaskFiber, () => Unit) => Boolean): Int =
    val requested = AtomicReference[TaskFiber | Null](null)
    val stop = AtomicBoolean()
    val until = System.nanoTime() + Tier(300_000_000L, 3_000_000_000L)
    def random() = SplittableRandom()
    val canceller = Thread.ofPlatform().start { () =>
      val nanos = random()
      while !stop.get do
        val fiber = requested.get
        if fiber eq null then Thread.`yield`()
        else
          Pause.nanos(nanos.nextInt(200))
          fiber.requestCancel()
          requested.set(null)
    }
    val nanos = random()
    var rounds, wrong = 0
    try
      while System.nanoTime() < until do
        val fiber = make()
        requested.set(fiber)
        Pause.nanos(nanos.nextInt(200))
        def untilRequested(): Unit =
          var spins = 0
          while requested.get ne null do
            spins += 1
            if spins % 1000 == 0 then Thread.`yield`() else Thread.onSpinWait()
        if !owns(fiber, untilRequested) then wrong += 1
        rounds += 1
    finally
      stop.set(true)
      canceller.join()
    println(s"measured: $rounds cancels")
    wrong

  test("stress: a cancel that comes as a wait begins ends it"):
    val missed = cancelBeside(idle) { (fiber, untilRequested) =>
      val waiter = Waiter(fiber)
      waiter.cancelable = true
      waiter.thread = Thread.currentThread()
      fiber.waiting = waiter
      assert(waiter.suspend())
      if fiber.cancelRequested then waiter.takeForCancel(): Unit
      untilRequested()
      waiter.isCanceled
    }
    assertEquals(missed, 0)

  test("stress: a cancel that comes as a nested run begins cancels that"):
    val missed = cancelBeside(running) { (fiber, untilRequested) =>
      val inner = idle()
      fiber.nesting(inner)(untilRequested())
      fiber.closeInterruptGate()
      inner.cancelRequested
    }
    assertEquals(missed, 0)

  test("the gate closes once an interrupt that is under way has arrived"):
    val interrupting, goOn, closed, over = CountDownLatch(1)
    val isLeft = AtomicBoolean()
    val fiberRuns = AtomicReference[TaskFiber | Null](null)
    val owns: Runnable = () =>
      val fiber = running()
      fiberRuns.set(fiber)
      await(interrupting)
      fiber.closeInterruptGate()
      closed.countDown()
      while over.getCount > 0 do Thread.onSpinWait() // a wait would take the interrupt
      isLeft.set(Thread.currentThread().isInterrupted)
    val owner = new Thread(owns):
      override def interrupt(): Unit =
        interrupting.countDown()
        await(goOn)
        super.interrupt()
    owner.start()
    eventually("the fiber runs")(fiberRuns.get ne null)
    val canceller = Thread.ofPlatform().start(() => fiberRuns.get.nn.requestCancel())
    closed.await(100, TimeUnit.MILLISECONDS): Unit // not before `goOn`, if all is well
    goOn.countDown()
    canceller.join()
    over.countDown()
    owner.join()
    assert(!isLeft.get)

  test("a cancel's interrupt of the outer fiber is not left for the code of a nested run"):
    val fiber = running()
    fiber.requestCancel()
    assert(Thread.currentThread().isInterrupted)
    var seen = true
    fiber.nesting(idle()) { seen = Thread.currentThread().isInterrupted }
    fiber.closeInterruptGate()
    assert(!seen)

  /** A thread whose canceller is delayed between the interrupt and its store of `Interrupted`. */
  private final class HoldsUp(released: CountDownLatch, body: => Unit) extends Thread:
    override def run(): Unit = body
    override def interrupt(): Unit =
      super.interrupt()
      if Thread.currentThread() ne this then await(released)

  test("code that has swallowed an interrupt gets it again before its canceller has stored that"):
    val begun, released, ended = CountDownLatch(1)
    val fiber = idle()
    @volatile var again = false
    val owner = HoldsUp(
      released, {
        fiber.executionThread = CallingThread(WeirRuntime.default.scheduler, null)
        fiber.openInterruptGate()
        begun.countDown()
        while !Thread.interrupted() do Thread.onSpinWait()
        fiber.interruptAgain()
        again = Thread.interrupted()
        ended.countDown()
      }
    )
    owner.start()
    await(begun)
    val canceller = Thread.ofPlatform().start(() => fiber.requestCancel())
    def waits = owner.getStackTrace.exists(_.getMethodName == "awaitInterrupt")
    eventually("the owner waits for the canceller")(waits || ended.getCount == 0)
    released.countDown()
    await(ended)
    canceller.join()
    assert(again)

  test("an interrupt from outside, in a mask, after a cancel in it, is not taken for the cancel's"):
    val cancelsSelf = new Suspend[Unit]:
      def begin(fiber: TaskFiber): Any = fiber.requestCancel()
    val masked = Task.uncancelable { _ =>
      cancelsSelf.andThen(Task(Thread.currentThread().interrupt()))
    }
    val interrupted =
      try
        masked.andThen(Task.cede).runSync()
        false
      catch case _: InterruptedException => true // not by `intercept`, which throws it on
    assert(interrupted)

  /** The child of a group of one runner that has cancelled itself in a mask. */
  private val cancelsItself = Task.uncancelable(_ => Task.canceled)

  test("the child after one that has cancelled itself in a mask is not interrupted"):
    val children = List(cancelsItself, Task(Thread.currentThread().isInterrupted))
    assertEquals(Task.parTraverseN(1)(children)(identity).runSync(), List((), false))

  test("the child after one that has cancelled itself in a mask is interrupted by a cancel"):
    val begun = CountDownLatch(1)
    val blocks = Task { begun.countDown(); Thread.sleep(3_600_000) }
    val fiber = Task.parTraverseN(1)(List(cancelsItself, blocks))(identity).start.runSync()
    await(begun)
    fiber.cancel.runSync()

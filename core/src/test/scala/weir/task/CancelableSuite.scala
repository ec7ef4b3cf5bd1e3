package weir
package task

import java.util.concurrent.{CancellationException, CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}
import scala.concurrent.duration.*
import weir.fiber.FiberCore

class CancelableSuite extends WeirSuite:

  test("the task's value or error, and the hook does not run"):
    val boom = Boom()
    val hooks = AtomicInteger()
    val hook = Task(hooks.incrementAndGet()).void
    for work <- List(Task.unit, Task.cede, Task.sleep(1.milli), Task(Thread.sleep(1))) do
      assertEquals(work.as(1).cancelable(hook).runSync(), 1)
      val failing = work.andThen(Task.fail(boom))
      assertEquals(failing.cancelable(hook).attempt.runSync(), Left(boom))
    assertEquals(hooks.get, 0)

  test("the hook may block until the task has begun, also where the cancel comes as it is started"):
    // The context is captured as the task is started, after the last look for a cancel.
    val cancels = AtomicReference[FiberCore | Null](null)
    val context = new ContextHook:
      def install(context: AnyRef | Null): Unit = ()
      def capture(): AnyRef | Null =
        val fiber = cancels.get
        if fiber != null && fiber.runningOn == Thread.currentThread() then
          cancels.set(null)
          fiber.requestCancel()
        null
    given runtime: WeirRuntime = WeirRuntime.hooked(1, 4, context)
    val ready, begun = CountDownLatch(1)
    val seen = AtomicBoolean()
    val hook = Task(seen.set(begun.await(5, TimeUnit.SECONDS)))
    val fiber = Task(ready.await())
      .andThen(Task(begun.countDown()).cancelable(hook))
      .start
      .runSync()
    cancels.set(fiber.asInstanceOf[FiberCore])
    ready.countDown()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)
    assert(seen.get)
    settles(runtime)

  test("a cancel runs the hook once, which ends code that no interrupt reaches"):
    for _ <- 1 to 200 do
      val begun, gate = CountDownLatch(1)
      val ended, after = AtomicBoolean()
      val hooks = AtomicInteger()
      val work = Task.uninterruptible {
        begun.countDown()
        gate.await()
        ended.set(true)
      }
      val hook = Task { hooks.incrementAndGet(); gate.countDown() }
      val fiber = work.cancelable(hook).andThen(Task(after.set(true))).start.runSync()
      await(begun)
      fiber.cancel.runSync()
      assertEquals((hooks.get, ended.get, after.get), (1, true, false))
      assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("the cancel waits for the hook, and for the finalizers of the task"):
    val begun, gate = CountDownLatch(1)
    val log = java.util.concurrent.ConcurrentLinkedQueue[String]()
    def say(word: String) = Task(log.add(word)).void
    val work = Task(begun.countDown()).andThen(Task.never).guarantee(Task.cede.andThen(say("task")))
    val hook = Task(gate.await()).andThen(Task.cede).andThen(say("hook"))
    val fiber = work.cancelable(hook).onCancel(say("outer")).start.runSync()
    await(begun)
    val canceling = startCancel(fiber)
    gate.countDown()
    canceling.joinOrFail.runSync()
    assertEquals(log.toArray.toList, List[Any]("hook", "task", "outer"))

  test("the task is cancelled too, after a hook that does nothing, or fails"):
    val err = System.err
    System.setErr(java.io.PrintStream(java.io.OutputStream.nullOutputStream()))
    try
      for hook <- List(Task.unit, Task.fail(Boom("a test's own hook, which fails"))) do
        val begun = CountDownLatch(1)
        val work = Task { begun.countDown(); Thread.sleep(3_600_000) }
        val fiber = work.cancelable(hook).start.runSync()
        await(begun)
        fiber.cancel.runSync()
        assertEquals(fiber.join.runSync(), Outcome.Canceled)
    finally System.setErr(err)

  test("a task that is cancelled before it begins runs neither body nor hook"):
    val ran = AtomicInteger()
    val count = Task(ran.incrementAndGet()).void
    Task.canceled.andThen(count.cancelable(count)).start.flatMap(_.join).runSync(): Unit
    assertEquals(ran.get, 0)

  test("inside of uncancelable neither hook nor cancel reaches the task; a poll lets both"):
    for polled <- List(true, false) do
      val begun, gate = CountDownLatch(1)
      val hooks = AtomicInteger()
      val work = Task { begun.countDown(); gate.await() }
        .cancelable(Task { hooks.incrementAndGet(); gate.countDown() })
      val fiber = Task.uncancelable(poll => if polled then poll(work) else work).start.runSync()
      await(begun)
      val canceling = startCancel(fiber)
      if !polled then gate.countDown()
      canceling.joinOrFail.runSync()
      assertEquals(hooks.get, if polled then 1 else 0)

  test("a task that cancels itself cancels its parent, or fails where that is masked"):
    val canceling = Task.canceled.cancelable(Task.unit)
    assertEquals(canceling.start.flatMap(_.join).runSync(), Outcome.Canceled)
    val masked = AtomicBoolean()
    val attempt = canceling.attempt.map {
      case Left(_: CancellationException) => masked.set(true)
      case _ => ()
    }
    Task.uncancelable(_ => attempt).start.flatMap(_.join).runSync(): Unit
    assert(masked.get)

  test("a cancel that races with the end runs the hook once or not at all, and always ends"):
    for round <- 1 to 2000 do
      val hooks = AtomicInteger()
      val work = if round % 2 == 0 then Task.sleep(50.micros) else Task(Thread.`yield`())
      val fiber = work.cancelable(Task(hooks.incrementAndGet()).void).start.runSync()
      val until = System.nanoTime() + round % 100 * 1000
      while System.nanoTime() < until do Thread.onSpinWait()
      fiber.cancel.runSync()
      assert(hooks.get <= 1, s"${hooks.get}")

package weir

import java.util.concurrent.{CompletableFuture, ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import scala.collection.View
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.fiber.{Suspend, TaskFiber}
import weir.testkit.InlineRuntime

class CancelSuite extends WeirSuite:

  private val endless: Iterable[Int] = View.fromIteratorProvider(() => Iterator.continually(1))

  /** Starts the task that `body` returns for a signal, and returns once the signal was given. */
  private def startUntil[A](body: Task[Unit] => Task[A]): Fiber[A] =
    val reached = CountDownLatch(1)
    val fiber = body(Task(reached.countDown())).start.runSync()
    await(reached)
    fiber

  private def assertCanceled(fiber: Fiber[Any]): Unit =
    fiber.cancel.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  /** Ends with the cancel that its last act has held back. */
  private def lookingAtItsEnd[A](task: Task[A]): Task[A] = task.flatMap(a => Task.cede.as(a))

  test("the function of flatMap does not run once its fiber is cancelled"):
    var ran = false
    val cancels = new Suspend[Unit]:
      def begin(fiber: TaskFiber): Any = fiber.requestCancel()
    val fiber = cancels
      .flatMap { _ =>
        ran = true
        Task.unit
      }
      .start
      .runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)
    assert(!ran)

  test("join gives each of the three outcomes, to many who ask, before and after the end"):
    val boom = Boom()
    for delay <- List(Task.unit, Task.cede, Task.sleep(2.millis)) do
      def outcomes(task: Task[Int]) =
        task.start.flatMap(f => Task.parTraverse(1 to 10)(_ => f.join)).runSync().distinct
      assertEquals(outcomes(delay.as(1)), Vector(Outcome.Succeeded(1)))
      assertEquals(outcomes(delay.andThen(Task.fail(boom))), Vector(Outcome.Failed(boom)))
      assertEquals(outcomes(delay.andThen(Task.canceled).as(1)), Vector(Outcome.Canceled))

  test("a join that is cancelled leaves the fiber running, and others may join"):
    val gate = CountDownLatch(1)
    val fiber = Task(gate.await()).as(1).start.runSync()
    assertCanceled(startUntil(_.andThen(fiber.join)))
    gate.countDown()
    assertEquals(fiber.joinOrFail.runSync(), 1)

  test("a cancel after the end changes nothing, and a second cancel returns"):
    val done = Task.pure(1).start.flatMap(f => f.join.as(f)).runSync()
    done.cancel.runSync()
    assertEquals(done.join.runSync(), Outcome.Succeeded(1))
    val fiber = startUntil(_.andThen(Task.never))
    assertCanceled(fiber)
    assertCanceled(fiber)

  for (state, body) <- List[(String, Task[Any])](
      "waits for ever" -> Task.never,
      "is asleep" -> Task.sleep(1.hour),
      "blocks in Thread.sleep" -> Task(Thread.sleep(3_600_000)),
      "blocks on a latch" -> Task(CountDownLatch(1).await()),
      "joins" -> Task.never.start.flatMap(_.join),
      "computes without end" -> Task.unit.forever,
      "computes without end in a flatMap loop" -> {
        def loop(n: Int): Task[Int] = Task.pure(n + 1).flatMap(loop)
        loop(0)
      },
      "cedes without end" -> Task.cede.forever,
      "runs an endless traverse" -> Task.foreach(endless)(Task.pure)
    )
  do
    test(s"a fiber that $state is cancelled, and its finalizers have run when cancel returns"):
      for _ <- 1 to 20 do
        val released = AtomicInteger()
        val fiber = startUntil(_.andThen(body).guarantee(Task(released.incrementAndGet()).void))
        fiber.cancel.runSync()
        assertEquals(released.get, 1)
        assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("a fiber cancelled right after its start runs the finalizers at the head of its body, once"):
    val fiber = (Task.cede.as(1), Task.never, Task.unit)
    for body <- fiber.toList; round <- 1 to 2000 do
      val released = AtomicInteger()
      val count = Task(released.incrementAndGet()).void
      val task = if round % 2 == 0 then body.guarantee(count) else body.void.onCancel(count)
      val started = task.start.runSync()
      started.cancel.runSync()
      val canceled = started.join.runSync() == Outcome.Canceled
      assert(released.get == 1 || round % 2 == 1 && !canceled, s"round $round: ${released.get}")

  /** Runs `body`, which gets a function that notes lines, in a fiber that is cancelled before it
    * begins. Returns the noted lines.
    */
  private def runsThoughCanceled(body: (String => Task[Unit]) => Task[Any]): List[String] =
    val log = ConcurrentLinkedQueue[String]()
    val fiber =
      TaskFiber(WeirRuntime.default, lookingAtItsEnd(body(line => Task(log.add(line)).void)))
    fiber.requestCancel()
    WeirRuntime.default.scheduler.submit(fiber)
    assertEquals(fiber.awaitEnd(), Outcome.Canceled)
    log.asScala.toList

  for (kind, whole, polled) <- List[
      (String, Task[Unit] => Task[Unit], (Task[Unit], Task[Unit]) => Task[Unit])
    ](
      (
        "an uncancelable",
        body => Task.uncancelable(_ => body),
        (body, finalizer) => Task.uncancelable(poll => poll(body).onCancel(finalizer))
      ),
      (
        "what is acquired by a bracket",
        body => body.bracket(_ => Task.unit)(_ => Task.unit),
        (body, finalizer) => Task.unit.bracket(_ => body)(_ => finalizer)
      )
    )
  do
    test(s"cancelled right before $kind at the head of a fiber, that runs whole, and nothing else"):
      def lines(write: String => Task[Unit]) = whole(write("one").andThen(write("two")))
      assertEquals(runsThoughCanceled(lines), List("one", "two"))
      for wrap <- List[Task[Unit] => Task[Any]](_.map(_ => ()), _.attempt, _.onCancel(Task.unit)) do
        assertEquals(runsThoughCanceled(write => wrap(lines(write))), List("one", "two"))
      assertEquals(
        runsThoughCanceled(write => lines(write).andThen(write("after"))),
        List("one", "two")
      )
      assertEquals(
        runsThoughCanceled(write => polled(write("polled"), write("finalizer"))),
        List("finalizer")
      )

    test(s"cancelled before the function that makes $kind, none of it runs"):
      for before <- List(Task.unit, Task(()), Task.cede, Task.sleep(1.milli)) do
        assertEquals(
          runsThoughCanceled(write => before.flatMap(_ => whole(write("inside")))),
          Nil
        )
      assertEquals(runsThoughCanceled(write => Task.defer(whole(write("inside")))), Nil)

    test(s"cancelled by the function that makes $kind, it runs whole"):
      val self = CompletableFuture[TaskFiber]()
      val inside = AtomicBoolean()
      val fiber = TaskFiber(
        WeirRuntime.default,
        lookingAtItsEnd(Task.unit.flatMap { _ =>
          self.get().requestCancel()
          whole(Task(inside.set(true)))
        })
      )
      self.complete(fiber): Unit
      WeirRuntime.default.scheduler.submit(fiber)
      assertEquals(fiber.awaitEnd(), Outcome.Canceled)
      assert(inside.get)

  test("onCancel finalizers run once each, innermost first, and only on a cancel"):
    val log = ConcurrentLinkedQueue[Int]()
    def add(n: Int) = Task(log.add(n)).void
    Task.unit.onCancel(add(0)).runSync()
    Task.fail(Boom()).onCancel(add(0)).attempt.runSync(): Unit
    val fiber = startUntil(signal =>
      Task.unit
        .onCancel(add(0))
        .andThen(signal.andThen(Task.never).onCancel(add(1)).onCancel(add(2)))
        .onCancel(add(3))
    )
    assertCanceled(fiber)
    assertEquals(log.toArray.toList, List[Any](1, 2, 3))

  test("guaranteeCase is told each of the three outcomes, once"):
    val boom = Boom()
    def told(task: Task[Int]) =
      val seen = ConcurrentLinkedQueue[Outcome[Int]]()
      val guarded = task.guaranteeCase(outcome => Task(seen.add(outcome)).void)
      guarded.start.flatMap(_.join).runSync(): Unit
      seen.toArray.toList
    for delay <- List(Task.unit, Task.cede) do
      assertEquals(told(delay.as(1)), List[Any](Outcome.Succeeded(1)))
      assertEquals(told(delay.andThen(Task.fail(boom))), List[Any](Outcome.Failed(boom)))
      assertEquals(told(delay.andThen(Task.canceled).as(1)), List[Any](Outcome.Canceled))

  test("cancel waits for a finalizer that suspends, and the finalizer is masked"):
    val inFinalizer, gate = CountDownLatch(1)
    val ended = AtomicBoolean()
    val slow = for
      _ <- Task(inFinalizer.countDown())
      _ <- Task.cede
      _ <- Task(gate.await())
      _ <- Task.sleep(5.millis)
      _ <- Task(ended.set(true))
    yield ()
    val fiber = startUntil(_.andThen(Task.never).guarantee(slow))
    val cancels = List.fill(3)(startCancel(fiber).join.map(_ => ended.get).start.runSync())
    await(inFinalizer)
    assertEquals(ended.get, false)
    gate.countDown()
    assertEquals(cancels.map(_.joinOrFail.runSync()), List(true, true, true))

  test("uncancelable holds a cancel back until its end, and what follows does not run"):
    val gate = CountDownLatch(1)
    val inside, after = AtomicBoolean()
    val fiber = startUntil(signal =>
      Task
        .uncancelable { _ =>
          signal.andThen(Task(gate.await())).andThen(Task.cede).andThen(Task(inside.set(true)))
        }
        .andThen(Task(after.set(true)))
    )
    val canceling = startCancel(fiber)
    gate.countDown()
    canceling.joinOrFail.runSync()
    assertEquals((inside.get, after.get), (true, false))
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  for (what, ends) <- List[(String, Task[Int])](
      "succeeds" -> Task.uncancelable(_ => Task(1)).flatMap(Task.pure),
      "throws" -> Task.uncancelable[Int](_ => throw Boom()).flatMap(Task.pure),
      "is ready and fails" -> Task.uncancelable(_ => Task[Int](throw Boom())).flatMap(Task.pure),
      "suspends and fails" ->
        Task.uncancelable[Int](_ => Task.cede.andThen(Task.fail(Boom()))).flatMap(Task.pure),
      "succeeds, and what follows throws" ->
        Task.uncancelable(_ => Task(1)).flatMap(_ => throw Boom())
    )
  do
    test(s"after a mask whose body $what, code can be cancelled, and the next mask masks"):
      assertCanceled(startUntil(signal => ends.attempt.andThen(signal).andThen(Task(block()))))
      val through = AtomicBoolean()
      val masked = startUntil: signal =>
        val body = signal.andThen(Task(Thread.sleep(20))).andThen(Task(through.set(true)))
        lookingAtItsEnd(ends.attempt.andThen(Task.uncancelable(_ => body)))
      assertCanceled(masked)
      assert(through.get)

  private def block(): Unit = Thread.sleep(3_600_000)

  test("poll unmasks where its uncancelable is the innermost, and only there"):
    val polled = startUntil(signal => Task.uncancelable(poll => poll(signal.andThen(Task.never))))
    assertCanceled(polled)
    def nested(body: (Poll, Poll, Task[Unit]) => Task[Unit])(wait: Task[Unit]) =
      startUntil(signal =>
        Task.uncancelable(outer =>
          Task.uncancelable(inner => body(outer, inner, signal.andThen(wait)))
        )
      )
    assertCanceled(nested((outer, inner, task) => inner(outer(task)))(Task.never))
    val masked = List[(Poll, Poll, Task[Unit]) => Task[Unit]](
      (_, _, task) => task,
      (_, inner, task) => inner(task),
      (outer, _, task) => outer(task),
      (outer, inner, task) => outer(inner(task))
    )
    for body <- masked do
      val gate = CountDownLatch(1)
      val ended = AtomicBoolean()
      val wait = Task.fromFuture(Task(gate.await()).toFuture()).andThen(Task(ended.set(true)))
      val fiber = nested(body)(wait)
      val canceling = startCancel(fiber)
      gate.countDown()
      assertEquals(canceling.joinOrFail.map(_ => ended.get).runSync(), true)
      assertEquals(fiber.join.runSync(), Outcome.Succeeded(()))

  test("poll of another fiber leaves its task as it is"):
    val gate = CountDownLatch(1)
    val child = Task
      .uncancelable(poll => Task.uncancelable(_ => poll(Task(gate.await())).as(1)).start)
      .runSync()
    val canceling = startCancel(child)
    gate.countDown()
    canceling.joinOrFail.runSync()

  test("a task that cancels itself ends there, or before what follows its uncancelable"):
    val after = AtomicBoolean()
    val fiber = Task.canceled.andThen(Task(after.set(true))).start.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)
    assertEquals(after.get, false)
    val masked = Task.uncancelable(_ => Task.canceled.andThen(Task(after.set(true))).as(1))
    def outcome(task: Task[Int]) = task.start.flatMap(_.join).runSync()
    assertEquals(outcome(masked), Outcome.Succeeded(1))
    assertEquals(after.get, true)
    assertEquals(outcome(masked.map(_ + 1).attempt.map(_.merge).as(2)), Outcome.Succeeded(2))
    for next <- List(Task.pure(2), Task(2), Task.cede.as(2), Task.sleep(1.hour).as(2), masked) do
      assertEquals(outcome(masked.flatMap(_ => next)), Outcome.Canceled)

  test("a cancel between the end of a wait and the fiber's next slice: a value stays, no error"):
    for (result, outcome) <- List(
        Right(7) -> Outcome.Succeeded(7),
        Left(Boom()) -> Outcome.Canceled
      )
    do
      val runtime = InlineRuntime(seed = 1)
      var wake: Either[Throwable, Int] => Unit = _ => ()
      val waits = runtime.start[Any](Task.async[Int](callback => wake = callback))
      wake(result)
      runtime.cancel(waits)
      assertEquals(waits.outcome, Some(outcome))

  test("a fiber that cancels itself through its own handle ends canceled, finalizers run"):
    val released = AtomicInteger()
    val self = CompletableFuture[Fiber[Unit]]()
    val task = Task.defer(self.get().cancel).guarantee(Task(released.incrementAndGet()).void)
    val fiber = task.start.runSync()
    self.complete(fiber): Unit
    assertEquals(fiber.join.runSync(), Outcome.Canceled)
    assertEquals(released.get, 1)

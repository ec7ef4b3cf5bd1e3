package weir
package task

import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

/** Finalizers: bracket and guarantee, released exactly once whatever happens between. */
class BracketSuite extends WeirSuite:

  /** Counts the resources that were acquired and released. */
  private class Account:
    val acquired, released = AtomicInteger()
    val acquire: Task[Int] = Task.cede.andThen(Task(acquired.incrementAndGet()))
    val release: Task[Unit] = Task.cede.andThen(Task(released.incrementAndGet()).void)
    def even: Boolean = acquired.get == released.get

  test("acquire, use and release run in that order, and release is given what was acquired"):
    val log = ConcurrentLinkedQueue[String]()
    def say(word: String) = Task(log.add(word)).void
    val task =
      Task.bracket(say("acquire").as(7))(n => say(s"use $n").as(n * 2))(n => say(s"free $n"))
    assertEquals(task.runSync(), 14)
    assertEquals(log.asScala.toList, List("acquire", "use 7", "free 7"))

  test("release runs once if use fails, throws, or cancels itself"):
    val boom = Boom()
    val uses = List[Int => Task[Any]](
      _ => Task.fail(boom),
      _ => throw boom,
      _ => Task.delay(throw boom),
      _ => Task.cede.andThen(Task.fail(boom)),
      _ => Task.canceled,
      _ => Task.cede.andThen(Task.canceled).andThen(Task.never)
    )
    for use <- uses do
      val account = Account()
      val outcome =
        Task.bracket(account.acquire)(use)(_ => account.release).start.flatMap(_.join).runSync()
      assert(outcome == Outcome.Failed(boom) || outcome == Outcome.Canceled, s"$outcome")
      assertEquals((account.acquired.get, account.released.get), (1, 1))

  test("a finalizer that throws as it is made does not end the cancel that it is made for"):
    val boom = Boom("made for a cancel")
    val tasks = List[Task[Any]](
      Task.canceled.guaranteeCase(_ => throw boom),
      Task.bracket(Task.unit)(_ => Task.canceled)(_ => throw boom)
    )
    val reported = ConcurrentLinkedQueue[Throwable]()
    given WeirRuntime =
      new WeirRuntime(WeirRuntime.default.scheduler, WeirRuntime.default.timers, null):
        override private[weir] def report(where: String, error: Throwable): Unit =
          reported.add(error): Unit
    for task <- tasks do
      @volatile var seen: Outcome[Any] | Null = null
      val handled = task.attempt.guaranteeCase(end => Task { seen = end })
      assertEquals(handled.start.flatMap(_.join).runSync(), Outcome.Canceled)
      assertEquals(seen, Outcome.Canceled)
      assertEquals(reported.poll(), boom)

  test("nothing is released if acquire fails"):
    val account = Account()
    val task = Task.bracket(Task.fail(Boom()))(_ => Task.unit)(_ => account.release)
    intercept[Boom](task.runSync())
    assertEquals(account.released.get, 0)

  test("a cancel during acquire waits for it, skips use, and releases"):
    for blocking <- List(true, false); _ <- 1 to 50 do
      val begun, gate = CountDownLatch(1)
      val account = Account()
      val used = AtomicBoolean()
      val wait =
        if blocking then Task(gate.await()) else Task.fromFuture(Task(gate.await()).toFuture())
      val acquire = Task(begun.countDown()).andThen(wait).andThen(account.acquire)
      def use(): Task[Unit] =
        used.set(true) // the code that makes the task does not run either
        Task.cede
      val fiber = Task.bracket(acquire)(_ => use())(_ => account.release).start.runSync()
      await(begun)
      val canceling = startCancel(fiber)
      gate.countDown()
      canceling.joinOrFail.runSync()
      assert(!used.get)
      assertEquals(account.acquired.get, 1)
      assertEquals(account.released.get, 1)
      assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("a cancel during release waits for it, and it runs once"):
    for _ <- 1 to 50 do
      val begun, gate = CountDownLatch(1)
      val released = AtomicInteger()
      val release = Task(begun.countDown())
        .andThen(Task(gate.await()))
        .andThen(Task.cede)
        .andThen(Task(released.incrementAndGet()).void)
      val fiber = Task.bracket(Task.unit)(_ => Task.unit)(_ => release).start.runSync()
      await(begun)
      val canceling = startCancel(fiber)
      gate.countDown()
      assertEquals(canceling.joinOrFail.map(_ => released.get).runSync(), 1)

  /** Steps of every kind, with `put` before the one that has the number `at`. Acquiring is the last
    * step of an acquire, releasing the first of a release.
    */
  private def steps(account: Account, at: Int, put: Task[Unit]): Task[Unit] =
    var number = 0
    def step(task: Task[Unit]): Task[Unit] =
      number += 1
      if number == at then put.andThen(task) else task
    def level(inner: Task[Unit]) =
      Task.bracket(step(Task.unit).andThen(step(Task.cede)).andThen(account.acquire))(_ =>
        step(Task.cede).andThen(inner).andThen(step(Task.unit))
      )(_ => account.release.andThen(step(Task.cede)).andThen(step(Task.unit)))
    // Each part is made anew, so that each step has a number of its own.
    val third = level(step(Task(Thread.`yield`())).attempt.void)
    val second = level(step(third).handleErrorWith(_ => step(Task.unit)))
    level(step(Task.uncancelable(poll => step(poll(second)).andThen(step(Task.unit)))))

  test("cancelled by itself at any step, whatever was acquired is released"):
    for at <- 1 to 40 do
      val account = Account()
      steps(account, at, Task.canceled).start.flatMap(_.join).runSync(): Unit
      assert(account.even, s"step $at: ${account.acquired} acquired, ${account.released} released")

  test("failing at any step, whatever was acquired is released"):
    for at <- 1 to 40 do
      val account = Account()
      steps(account, at, Task.fail(Boom())).attempt.runSync(): Unit
      assert(account.even, s"step $at: ${account.acquired} acquired, ${account.released} released")

  test("cancelled from outside at any step, whatever was acquired is released when cancel returns"):
    for at <- 1 to 40; blocking <- List(true, false) do
      val account = Account()
      val reached = CountDownLatch(1)
      val wait =
        if blocking then Task(Thread.sleep(5)).attempt.void else Task.sleep(5.millis)
      val fiber = steps(account, at, Task(reached.countDown()).andThen(wait)).start.runSync()
      reached.await(20, java.util.concurrent.TimeUnit.MILLISECONDS): Unit
      fiber.cancel.runSync()
      assert(account.even, s"step $at: ${account.acquired} acquired, ${account.released} released")

  test("cancelled from outside at random times, whatever was acquired is released, once"):
    val random = scala.util.Random(11)
    for round <- 1 to 5000 do
      val account = Account()
      val fiber = steps(account, 0, Task.unit).start.runSync()
      val until = System.nanoTime() + random.nextInt(50_000)
      while System.nanoTime() < until do Thread.onSpinWait()
      fiber.cancel.runSync()
      assert(account.even, s"round $round: ${account.acquired}, ${account.released}")
      assert(fiber.join.runSync() != null)

  test("the error of a finalizer is thrown if all else went well, and suppressed under an error"):
    val boom, late = Boom()
    assertEquals(Task.pure(1).guarantee(Task.fail(late)).attempt.runSync(), Left(late))
    assertEquals(Task.fail(boom).guarantee(Task.fail(late)).attempt.runSync(), Left(boom))
    assertEquals(boom.getSuppressed.toList, List(late))

  test(
    "a finalizer that fails during a cancel stops neither the other finalizers nor the cancel"
  ):
    val released = AtomicInteger()
    val begun = CountDownLatch(1)
    val count = Task(released.incrementAndGet()).void
    val task = Task(begun.countDown())
      .andThen(Task.never)
      .guarantee(count)
      .onCancel(Task.fail(Boom("a test's own finalizer, which fails")))
      .onCancel(Task.defer(throw Boom("a test's own finalizer, which throws")))
      .guarantee(count)
    val fiber = task.start.runSync()
    await(begun)
    val err = System.err
    System.setErr(java.io.PrintStream(java.io.OutputStream.nullOutputStream()))
    try fiber.cancel.runSync()
    finally System.setErr(err)
    assertEquals(released.get, 2)
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("bracketCase and bracketFull tell the release how the use has ended, at each run"):
    val boom = Boom()
    val uses = List[(Outcome[Int], Int => Task[Int])](
      (Outcome.Succeeded(14), n => Task.cede.as(n * 2)),
      (Outcome.Failed(boom), _ => Task.fail(boom)),
      (Outcome.Failed(boom), _ => throw boom),
      (Outcome.Canceled, _ => Task.cede.andThen(Task.canceled).andThen(Task.never))
    )
    for (expected, use) <- uses do
      val told = ConcurrentLinkedQueue[(Int, Outcome[Int])]()
      def tell(n: Int, outcome: Outcome[Int]) = Task(told.add((n, outcome))).void
      val forms = List(
        Task.bracketCase(Task.pure(7))(use)(tell),
        Task.pure(7).bracketCase(use)(tell),
        Task.bracketFull(_ => Task.pure(7))(use)(tell)
      )
      for task <- forms; _ <- 1 to 2 do assertEquals(task.start.flatMap(_.join).runSync(), expected)
      assertEquals(told.asScala.toList, List.fill(6)((7, expected)))

  test("bracketFull: the wait of the poll is cancelled, and nothing is released"):
    val account = Account()
    val begun = CountDownLatch(1)
    val task = Task.bracketFull(poll =>
      Task(begun.countDown()).andThen(poll(Task.never)).andThen(account.acquire)
    )(_ => Task.unit)((_, _) => account.release)
    val fiber = task.start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals((account.acquired.get, account.released.get), (0, 0))

  test("bracketFull: a cancel after the poll skips the use, and releases"):
    val account = Account()
    val begun, gate = CountDownLatch(1)
    val used = AtomicBoolean()
    val task = Task.bracketFull(poll =>
      poll(Task.unit)
        .andThen(Task(begun.countDown()))
        .andThen(Task(gate.await()))
        .andThen(
          account.acquire
        )
    )(_ => Task(used.set(true)))((_, _) => account.release)
    val fiber = task.start.runSync()
    await(begun)
    val canceling = startCancel(fiber)
    gate.countDown()
    canceling.joinOrFail.runSync()
    assertEquals(
      (account.acquired.get, account.released.get, used.get, fiber.join.runSync()),
      (1, 1, false, Outcome.Canceled)
    )

  test("bracketFull, cancelled at any time, releases what it has acquired"):
    for _ <- 1 to 2000 do
      val account = Account()
      val task = Task.bracketFull(poll => poll(Task.cede).andThen(account.acquire))(_ => Task.cede)(
        (_, _) => account.release
      )
      task.start.flatMap(_.cancel).runSync()
      assert(account.even)

package weir.testkit

import scala.concurrent.duration.{DurationInt, DurationLong, FiniteDuration}
import weir.fiber.{FiberCore, TaskFiber, Waiter}
import weir.io.Text
import weir.runtime.Scheduler
import weir.group.Failures
import weir.testkit.explore.{Disturbances, Execution, Exploration}
import weir.{ContextHook, Fiber, Outcome, Task, WeirRuntime}

/** A runtime for tests. Its clock stands still while anything can run, and then jumps to the next
  * alarm. A test that waits for hours ends in milliseconds. A test that waits for ever fails, with
  * a report of the object that each fiber waits for.
  *
  * Everything that fibers do uses that clock: `Task.sleep`, timeouts, streams, `Task.monotonic` and
  * `Task.realTime`. So do the timed waits of code that blocks (`Thread.sleep`, `poll(timeout)`,
  * `await(timeout)`, `wait(timeout)`), and the tasks that code runs by `runSync` or `toFuture`.
  * While a thread waits for a socket or a process, the clock runs as fast as the real one.
  *
  * The calling thread drives the runtime. Only one thread may do so at a time. docs/testing.md has
  * more.
  *
  * @param patience the real time for which the clock stands still because code outside of the
  *   runtime may end a wait: once for each wait for a callback, a Java lock, queue or latch, and
  *   before a test is reported as stuck
  * @param limit the real time after which a test that is still busy fails
  */
final class TestRuntime private (
    carrierCount: Int,
    seed: Option[Long],
    patience: FiniteDuration,
    limit: FiniteDuration,
    mayLeak: Boolean
) extends AutoCloseable:
  VirtualThreads.load()

  private val clock = VirtualClock()
  private val choices = seed.map(Choices(_))
  private val carriers =
    Carriers(carrierCount, clock, choices.fold((_: Int) => 0)(c => (size: Int) => c.below(size)))
  private val scheduler: TestScheduler =
    choices.fold(TestScheduler(carriers, carrierCount))(SeededScheduler(carriers, _))
  private val fibers = Fibers()
  private val outside = Outside()

  /** The runtime that the tasks run on, for code that takes a `WeirRuntime`. */
  val runtime: WeirRuntime = new WeirRuntime(scheduler, clock, ContextHook.installed):
    override private[weir] def begun(fiber: FiberCore): Unit = fibers.add(fiber)
    override private[weir] def waitsOutside(waiter: Waiter): Unit = outside.add(waiter)

  private val conductor =
    Conductor(carriers, clock, outside, () => runtime.platformThreads.running, patience)

  // ---- whole tests ----

  /** Runs `task` and returns its value.
    *
    * **Waits** on the calling thread, in real time. **Fails** with the error of `task`. Fails with
    * `TestRuntime.Stuck` if `task` waits for something that cannot happen. Fails with
    * `TestRuntime.Leaked` if `task` has ended, but fibers that it has started have not.
    */
  def run[A](task: Task[A]): A =
    val first = fibers.madeEver + 1
    val test = start(task)
    drive(() => test.outcome.isDefined, test.core)
    endOf(test.core, first)
    test.outcome.get.get

  /** As `run`, but returns the time that passes on the test's clock, and the value. */
  def timed[A](task: Task[A]): (FiniteDuration, A) =
    val before = now
    val value = run(task)
    (now - before, value)

  // ---- step by step ----

  /** Starts a fiber that runs `task`, and returns it. The fiber runs while another method, such as
    * `awaitQuiet`, drives the test.
    */
  def start[A](task: Task[A]): Started[A] =
    val fiber = TaskFiber(runtime, task)
    carriers.holding(scheduler.submit(fiber))
    Started(fiber)

  /** Returns once nothing can run before the clock moves: all fibers have ended or wait. */
  def awaitQuiet(): Unit =
    val until = System.nanoTime() + limit.toNanos
    while stillBusy(until) do ()

  /** Returns once `duration` has passed on the clock, everything that was due by then has run, and
    * the runtime is quiet again.
    */
  def advance(duration: FiniteDuration): Unit =
    val end = clock.nanoTime + duration.toNanos
    awaitQuiet()
    while conductor.jump(end) do awaitQuiet()
    carriers.holding(clock.moveTo(end))

  /** Moves the clock to the next alarm, and waits until that has rung and the runtime is quiet
    * again. Returns the time by which the clock has moved, or `None` if no alarm is set.
    */
  def tick(): Option[FiniteDuration] =
    awaitQuiet()
    val before = now
    Option.when(conductor.jump(Long.MaxValue)) {
      val moved = now - before
      awaitQuiet()
      moved
    }

  /** Returns the time until the next alarm, or `None` if none is set. **Waits** until the runtime
    * is quiet.
    */
  def nextAlarm: Option[FiniteDuration] =
    awaitQuiet()
    clock.untilNext

  /** Returns the time by which the clock has moved since its start. */
  def now: FiniteDuration = clock.elapsedNanos.nanos

  /** Ends the threads of this runtime. Fibers that have not ended never will. */
  def close(): Unit =
    scheduler.close()
    carriers.awaitIdle(1.second.toNanos): Unit
    carriers.stop()

  // ---- driving ----

  /** Lets the test run, and moves the clock from alarm to alarm, until `ended`. */
  private def drive(ended: () => Boolean, test: FiberCore | Null): Unit =
    val until = System.nanoTime() + limit.toNanos
    while !ended() do
      conductor.settle(slice(until)) match
        case _ if ended() => ()
        case Calm.Busy => if isOver(until) then throw stillRunning(test)
        case Calm.RealIo(events) =>
          if isOver(until) then throw stillRunning(test)
          conductor.follow(events, slice(until))
        case Calm.Quiet(events, mayBeWoken) =>
          if !conductor.jump(Long.MaxValue) then
            // A wake-up of the JVM's that is on its way must not fail a test.
            val nanos = if mayBeWoken then until - System.nanoTime() else patience.toNanos
            if !conductor.awaitEvent(events, nanos) then throw stuck(test)

  private def stillBusy(until: Long): Boolean = conductor.settle(slice(until)) match
    case Calm.Quiet(_, _) => false
    case _ if isOver(until) => throw stillRunning(null)
    case Calm.RealIo(events) =>
      conductor.follow(events, slice(until))
      true
    case Calm.Busy => true

  private def isOver(until: Long): Boolean = System.nanoTime() - until >= 0

  private def slice(until: Long): Long =
    math.max(0, math.min(until - System.nanoTime(), 100.millis.toNanos))

  // ---- failures ----

  /** Fails if the test has left fibers behind, once they have been cancelled. */
  private def endOf(test: FiberCore, first: Int): Unit =
    val quiet = conductor.settle(200.millis.toNanos)
    val left = fibers.alive(first)
    if left.nonEmpty && !mayLeak then
      val report = Report.of(left, test)
      val what = if left.size == 1 then "1 fiber has" else s"${left.size} fibers have"
      cancelAll(left)
      val leaked = TestRuntime.Leaked(
        s"${Place.ofCaller}The test has ended, and $what not. Cancel or join the fibers that " +
          s"it starts; or make the runtime with mayLeak = true.${
              if quiet == Calm.Busy then " Something still runs." else ""
            }\n$report"
      )
      test.outcome match
        case Outcome.Failed(error) => Failures.add(error, leaked): Unit
        case _ => throw leaked

  private def stuck(test: FiberCore | Null): TestRuntime.Stuck =
    val left = fibers.alive(0)
    val report = Report.of(left, test)
    cancelAll(left)
    TestRuntime.Stuck(
      s"${Place.ofCaller}The test is stuck at $now: nothing can run, and no alarm is set.\n$report"
    )

  private def stillRunning(test: FiberCore | Null): TestRuntime.Stuck =
    val left = fibers.alive(0)
    val io = conductor.ioThreads.flatMap(Rest.place(_).headOption)
    val why = if io.isEmpty then "" else io.mkString(" Threads wait for I/O ", ", ", ".")
    val report = Report.of(left, test)
    cancelAll(left)
    TestRuntime.Stuck(
      s"${Place.ofCaller}The test has not ended within ${Text.ofDuration(limit)} of real time." +
        s"$why Make the runtime with a longer limit, or find the cause in this list.\n$report"
    )

  /** Cancels the fibers that are left, and gives their finalizers one second of real time. */
  private def cancelAll(left: List[(Int, FiberCore)]): Unit =
    left.foreach((_, fiber) => fiber.requestCancel())
    val until = System.nanoTime() + 1.second.toNanos
    def ended = left.forall((_, fiber) => fiber.outcome ne null)
    while !ended && !isOver(until) do
      conductor.settle(slice(until)) match
        case Calm.Quiet(events, _) =>
          if !conductor.jump(Long.MaxValue) then conductor.awaitEvent(events, slice(until)): Unit
        case Calm.RealIo(events) => conductor.follow(events, slice(until))
        case Calm.Busy => ()

object TestRuntime:
  /** The error of a test that has not ended, and the reason. The message begins with the file and
    * the line of the test, and names the lines at which the fibers wait. The stack trace has the
    * lines of the test alone.
    */
  final class Stuck(message: String) extends AssertionError(message):
    setStackTrace(Place.ofUser(getStackTrace))

  /** The error of a test that has left fibers behind. The message and the stack trace are as those
    * of `Stuck`.
    */
  final class Leaked(message: String) extends AssertionError(message):
    setStackTrace(Place.ofUser(getStackTrace))

  /** The error that `failEverywhere` makes plain code throw. */
  final class Injected private[testkit] () extends RuntimeException("injected by failEverywhere")

  private val defaultPatience = 50.millis
  private val defaultLimit = 25.seconds // munit gives up after 30

  /** Returns a new runtime with `carriers` carriers: that many fibers run at the same time. */
  def apply(
      carriers: Int = math.max(2, Scheduler.carriersOfThisJvm),
      patience: FiniteDuration = defaultPatience,
      limit: FiniteDuration = defaultLimit,
      mayLeak: Boolean = false
  ): TestRuntime =
    require(carriers >= 1, s"TestRuntime: carriers was $carriers. It must be at least 1.")
    new TestRuntime(carriers, None, patience, limit, mayLeak)

  /** Returns a new runtime with one carrier, on which `seed` decides the order of all fibers: the
    * same seed gives the same order.
    */
  def seeded(
      seed: Long,
      patience: FiniteDuration = 10.millis, // many are run
      limit: FiniteDuration = defaultLimit,
      mayLeak: Boolean = false
  ): TestRuntime =
    new TestRuntime(1, Some(seed), patience, limit, mayLeak)

  /** Runs `task` on a new runtime and returns its value: see the method of the class. */
  def run[A](task: Task[A]): A = using(apply())(_.run(task))

  /** As `run`, but returns the time that passes on the test's clock, and the value. */
  def timed[A](task: Task[A]): (FiniteDuration, A) = using(apply())(_.timed(task))

  /** Returns the nanoseconds on the clock of the calling thread: that of the test runtime whose
    * task it runs, or else those of `System.nanoTime`. It is for test code that replaces code which
    * reads the clock itself.
    */
  def nanoTime: Long = VirtualThreads.threadNanos.getAsLong

  /** Runs `task` with `count` seeds, one after the other. **Fails** as `task` does with the first
    * seed with which it fails, and names that seed: the option `-Dweir.test.seed=` runs that seed
    * alone.
    */
  def forAllSeeds(count: Int = 100)(task: => Task[Any]): Unit =
    val chosen = sys.props.get("weir.test.seed").map(_.toLong)
    val first = chosen.getOrElse(System.nanoTime())
    for seed <- first until first + (if chosen.isEmpty then count else 1) do
      try using(seeded(seed))(_.run(task)): Unit
      catch
        case error: Throwable =>
          throw AssertionError(
            s"Failed with the seed $seed; -Dweir.test.seed=$seed runs that one alone.\n$error",
            error
          )

  /** Runs `task` in many orders, and returns a report: the number of orders, and if these are all.
    * `task` is evaluated anew for each order: create the objects that its fibers share inside of
    * it.
    *
    * One fiber runs at a time. Where it touches a shared object, another one may take over: a
    * `Ref`, a `Queue`, a lock or an atomic of the JDK's, or a field. docs/testing-every-order.md
    * has more.
    *
    * **Fails** with an `ExploreFailure` if an order fails: `task` fails, is stuck, or leaves a
    * fiber behind. The message shows that order as a story, as short as possible, and explains how
    * to run it alone.
    * {{{
    * val report = TestRuntime.explore() {
    *   for
    *     count <- Ref.of(0)
    *     _ <- Task.both(count.update(_ + 1), count.update(_ + 1))
    *     n <- count.get
    *   yield assert(n == 2)
    * }
    * assert(report.isExhaustive)
    * }}}
    */
  def explore[A](limits: ExploreLimits = ExploreLimits())(task: => Task[A]): ExploreReport =
    exploring(limits)(_ => task)

  /** As `explore`, but one task of the test is cancelled, in each order at another point: before
    * each step at which a cancel may make a difference, also while it waits, and after its end. The
    * test passes that task to its parameter, receives the outcome, and checks what must hold then:
    * for example, that everything is released once and nothing is lost.
    * {{{
    * TestRuntime.cancelEverywhere() { cancelled =>
    *   for
    *     open <- Ref.of(0)
    *     use = Task.bracket(open.update(_ + 1))(_ => Task.cede)(_ => open.update(_ - 1))
    *     outcome <- cancelled(use)
    *     left <- open.get
    *   yield assert(left == 0, s"$left left open, $outcome")
    * }
    * }}}
    */
  def cancelEverywhere(limits: ExploreLimits = ExploreLimits())(
      test: Disturbed => Task[Any]
  ): ExploreReport =
    exploring(limits)(execution => test(Disturbed(Disturbances.cancels(execution))))

  /** As `explore`, but one task of the test fails, in each order at another point. Each piece of
    * plain code that is a task, such as `Task(…)`, and each function that it gives to `map`,
    * `flatMap` and `defer`, throws a `TestRuntime.Injected` in one order, in all fibers of that
    * task. Masked code does not fail, because finalizers are masked. In one order nothing fails.
    * {{{
    * TestRuntime.failEverywhere() { failing =>
    *   for
    *     open <- Ref.of(0)
    *     use = Task.bracket(open.update(_ + 1))(_ => Task(2).map(_ + 1))(_ => open.update(_ - 1))
    *     outcome <- failing(use)
    *     left <- open.get
    *   yield assert(left == 0, s"$left left open, $outcome")
    * }
    * }}}
    */
  def failEverywhere(limits: ExploreLimits = ExploreLimits())(
      test: Disturbed => Task[Any]
  ): ExploreReport =
    exploring(limits)(execution => test(Disturbed(Disturbances.fails(execution))))

  private def exploring(limits: ExploreLimits)(
      program: Execution => Task[Any]
  ): ExploreReport =
    val place = Place.ofCaller
    try Exploration.run(program, limits)
    catch case failure: ExploreFailure => throw failure.at(place)

  private def using[A](runtime: TestRuntime)(body: TestRuntime => A): A =
    try body(runtime)
    finally runtime.close()

/** A fiber that a test has started. */
final class Started[A] private[testkit] (private[testkit] val core: TaskFiber):

  /** Returns the fiber, for tasks that join or cancel it. */
  def fiber: Fiber[A] = core.asInstanceOf[Fiber[A]]

  /** Returns the outcome of the fiber if it has ended. */
  def outcome: Option[Outcome[A]] = Option(core.outcome).map(_.asInstanceOf[Outcome[A]])

/** Runs the task of a test that is disturbed: see `TestRuntime.cancelEverywhere`. */
final class Disturbed private[testkit] (disturbances: Disturbances):

  /** Runs `task` in a separate fiber and returns its outcome. Call it for one task of a test. */
  def apply[A](task: Task[A]): Task[Outcome[A]] = disturbances.run(task)

package weir.testkit

import java.util.SplittableRandom
import scala.collection.mutable
import scala.concurrent.duration.{DurationLong, FiniteDuration}
import weir.fiber.TaskFiber
import weir.runtime.{ExecutionThread, Job, Scheduler}
import weir.{ContextHook, Outcome, Runtime, Task}

/** A runtime for tests that runs all fibers on the calling thread, one slice after the other, and
  * says how a task has ended, or that it never will: for tests of laws, and of code that must be
  * seen to wait for ever.
  *
  * `seed` decides the order of the slices and their lengths: the same seed, the same run. The clock
  * stands still while anything can run, and then moves at once to the next alarm. It has no
  * threads, and may be used on any thread, also in the code of a task, whichever runtime that runs
  * on. One thread at a time may use it.
  *
  * Code that blocks blocks the calling thread, by the real clock. A callback that another thread
  * would call comes too late: for such tasks there is `TestRuntime`.
  */
final class InlineRuntime private (seed: Long, silent: Boolean):
  private val clock = VirtualClock()
  private val scheduler = InlineScheduler(seed)

  /** What the tasks run on, for code that takes a `Runtime`. */
  val runtime: Runtime = new Runtime(scheduler, clock, ContextHook.installed):
    override private[weir] def report(where: String, error: Throwable): Unit =
      if !silent then super.report(where, error)

  /** How `task` has ended; `None` if it is stuck: nothing can run, and no alarm is set.
    * {{{
    * assert(InlineRuntime(seed = 1).run(Task.never).isEmpty)
    * }}}
    */
  def run[A](task: Task[A]): Option[Outcome[A]] =
    val started = start(task)
    while started.outcome.isEmpty && tick().isDefined do ()
    started.outcome

  /** A fiber that runs `task`, as far as it can before the clock moves. */
  def start[A](task: Task[A]): Started[A] =
    val fiber = TaskFiber(runtime, task)
    scheduler.submit(fiber)
    awaitQuiet()
    Started(fiber)

  /** Asks for the cancel of what `started` runs, and runs what can run. */
  def cancel(started: Started[Any]): Unit =
    started.core.requestCancel()
    awaitQuiet()

  /** Returns once nothing can run before the clock moves: all fibers have ended or wait. */
  def awaitQuiet(): Unit = onThisThread(scheduler.drain())

  /** How far the clock has moved to the next alarm, once that has rung and all has run that could;
    * `None` if none is set.
    */
  def tick(): Option[FiniteDuration] =
    awaitQuiet()
    val before = now
    clock.nextNanos.map { next =>
      onThisThread(clock.moveTo(next))
      awaitQuiet()
      now - before
    }

  /** Moves the clock by `duration`, from alarm to alarm. When it returns, each alarm that was due
    * has rung, and its code has run.
    */
  def advance(duration: FiniteDuration): Unit =
    val end = now + duration
    awaitQuiet()
    while nextAlarm.exists(now + _ <= end) do tick(): Unit
    onThisThread(clock.moveTo(clock.nanoTime + (end - now).toNanos))

  /** The time until the next alarm; `None` if none is set. */
  def nextAlarm: Option[FiniteDuration] = clock.untilNext

  /** How far the clock has moved. */
  def now: FiniteDuration = clock.elapsedNanos.nanos

  /** `body`, whose code finds this runtime. What this thread runs otherwise is masked meanwhile: a
    * cancel of that must not interrupt this.
    */
  private def onThisThread(body: => Unit): Unit =
    val outer = ExecutionThread.here
    val thread = scheduler.threadHere()
    def run(): Unit = ExecutionThread.as(thread)(body)
    if (outer eq null) || (outer eq thread) then run()
    else
      outer.running match
        case fiber: TaskFiber => fiber.masked(run())
        case _ => run()

object InlineRuntime:
  /** A new runtime. With `silent`, errors that no code is left to handle are not printed. */
  def apply(seed: Long, silent: Boolean = false): InlineRuntime = new InlineRuntime(seed, silent)

/** Keeps jobs until `drain` runs them. */
private final class InlineScheduler(seed: Long) extends Scheduler(carriers = 1, ringCapacity = 2):
  private val random = SplittableRandom(seed)
  private val jobs = mutable.ArrayBuffer[Job]()
  private var latest: InlineThread | Null = null

  override def runsOn(caller: Thread): Boolean = false
  override def spawns: Boolean = false
  override def submit(job: Job): Unit = jobs += job
  override def submit(job: Job, preferredShard: Int): Unit = jobs += job
  override def hasWork(preferredShard: Int): Boolean = jobs.nonEmpty
  override def mayHaveWork(preferredShard: Int): Boolean = jobs.nonEmpty

  /** What the calling thread runs slices as. */
  def threadHere(): InlineThread =
    val known = latest
    if (known ne null) && (known.thread eq Thread.currentThread()) then known
    else
      val made = InlineThread(this, random)
      latest = made
      made

  /** Runs all that can run. */
  def drain(): Unit =
    while jobs.nonEmpty do
      val at = random.nextInt(jobs.size)
      val job = jobs(at)
      jobs(at) = jobs.last
      jobs.dropRightInPlace(1)
      job.runSlice(threadHere())

private final class InlineThread(scheduler: Scheduler, random: SplittableRandom)
    extends ExecutionThread(scheduler):
  val thread: Thread = Thread.currentThread()
  def pooled: Boolean = true
  def preferredShard: Int = 0
  override def handOver(job: Job): Unit = scheduler.submit(job)
  override def beginSlice(): Int = 2 + random.nextInt(12)
  override def moreBudget(): Int = 0
  override def yieldIfDue(inSlice: Boolean): Unit = ()

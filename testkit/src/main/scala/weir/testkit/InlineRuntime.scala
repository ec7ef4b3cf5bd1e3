package weir.testkit

import java.util.SplittableRandom
import scala.collection.mutable
import scala.concurrent.duration.{DurationLong, FiniteDuration}
import weir.fiber.TaskFiber
import weir.runtime.{ExecutionThread, Job, Scheduler}
import weir.{ContextHook, Outcome, Task, WeirRuntime}

/** A runtime for tests that runs all fibers on the calling thread, one slice after the other. It
  * returns the outcome of a task, or reports that the task will never end. It is for tests of laws,
  * and of code that must wait for ever.
  *
  * `seed` decides the order of the slices and their lengths: the same seed gives the same run. The
  * clock stands still while anything can run, and then jumps to the next alarm. The runtime has no
  * threads. It may be used on any thread, also in the code of a task, whichever runtime that runs
  * on. One thread at a time may use it.
  *
  * Blocking code blocks the calling thread in real time. A callback that another thread calls comes
  * too late: for such tasks, use `TestRuntime`.
  */
final class InlineRuntime private (seed: Long, silent: Boolean):
  private val clock = VirtualClock()
  private val scheduler = InlineScheduler(seed)

  /** The runtime that the tasks run on, for code that takes a `WeirRuntime`. */
  val runtime: WeirRuntime = new WeirRuntime(scheduler, clock, ContextHook.installed):
    override private[weir] def report(where: String, error: Throwable): Unit =
      if !silent then super.report(where, error)

  /** Runs `task` and returns its outcome. Returns `None` if it is stuck: nothing can run, and no
    * alarm is set.
    * {{{
    * assert(InlineRuntime(seed = 1).run(Task.never).isEmpty)
    * }}}
    */
  def run[A](task: Task[A]): Option[Outcome[A]] =
    val started = start(task)
    while started.outcome.isEmpty && tick().isDefined do ()
    started.outcome

  /** Starts a fiber that runs `task`, as far as it can before the clock moves, and returns it. */
  def start[A](task: Task[A]): Started[A] =
    val fiber = TaskFiber(runtime, task)
    scheduler.submit(fiber)
    awaitQuiet()
    Started(fiber)

  /** Requests the cancel of `started`, and runs everything that can run. */
  def cancel(started: Started[Any]): Unit =
    started.core.requestCancel()
    awaitQuiet()

  /** Returns once nothing can run before the clock moves: all fibers have ended or wait. */
  def awaitQuiet(): Unit = onThisThread(scheduler.drain())

  /** Moves the clock to the next alarm, and runs everything that can run once that has rung.
    * Returns the time by which the clock has moved, or `None` if no alarm is set.
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

  /** Returns the time until the next alarm, or `None` if none is set. */
  def nextAlarm: Option[FiniteDuration] = clock.untilNext

  /** Returns the time by which the clock has moved since its start. */
  def now: FiniteDuration = clock.elapsedNanos.nanos

  /** Runs `body`, whose code finds this runtime. The fiber that this thread runs otherwise is
    * masked meanwhile: a cancel of that must not interrupt `body`.
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
  /** Returns a new runtime. With `silent`, errors that no code is left to handle are not printed.
    */
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

  /** Returns the execution thread as which the calling thread runs slices. */
  def threadHere(): InlineThread =
    val known = latest
    if (known ne null) && (known.thread eq Thread.currentThread()) then known
    else
      val made = InlineThread(this, random)
      latest = made
      made

  /** Runs everything that can run. */
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

package weir.laws

import java.util.SplittableRandom
import scala.collection.mutable
import scala.concurrent.duration.*
import weir.fiber.{FiberCore, TaskFiber}
import weir.runtime.{AlarmAfter, ExecutionThread, Job, Scheduler}
import weir.testkit.VirtualClock
import weir.{Outcome, Task, WeirRuntime}

/** The end of a run, and its events with the times of its clock: in no order, as fibers that run at
  * the same time have none.
  */
final case class LawSeen(end: String, events: List[String]):
  def ends: Boolean = end != LawSeen.never
  override def toString: String = s"$end ${events.mkString("[", ", ", "]")}"

object LawSeen:
  val never = "never ends"

/** When the main fiber of a run is cancelled. */
enum LawCancel:
  case Never, BeforeStart

  /** While nothing can run, between the alarm with this number and the next one. */
  case After(alarm: Int)

  /** When nothing can run, and no alarm is set. */
  case AtRest

/** Runs one task to its end, or until nothing more can happen, on the calling thread alone.
  *
  * All fibers run on that thread, in slices of a few instructions, in an order that follows from
  * `seed`. The clock moves when none of them can run: so no cancel, alarm or callback ever comes at
  * the same time as a step, and the events depend on the program alone.
  */
final class LawRuntime(seed: Long):
  private val scheduler = LawScheduler(seed)
  private val clock = VirtualClock()
  private val runtime = new WeirRuntime(scheduler, clock, null):
    // Errors of finalizers are in the programs, and some laws let them vanish on one side.
    override private[weir] def report(where: String, error: Throwable): Unit = ()
  private val events = mutable.ArrayBuffer[String]()
  private var root: TaskFiber | Null = null

  /** The number of alarms that have rung in the run. */
  var alarms = 0

  def note(event: String): Unit = events += s"$event at ${clock.elapsedNanos}"

  /** Requests the cancel of the main fiber, as another thread would. */
  def cancelRoot(): Unit = root.nn.requestCancel()

  /** Calls `body` after `delay`, outside of all fibers. */
  def later(delay: FiniteDuration)(body: => Unit): Unit =
    clock.add(
      new AlarmAfter(clock, delay.toNanos):
        def ring(): Unit = body
    )

  def run(task: Task[Any], cancel: LawCancel): LawSeen =
    val fiber = TaskFiber(runtime, LawRuntime.bounded(task))
    root = fiber
    if cancel == LawCancel.BeforeStart then fiber.requestCancel()
    runtime.scheduler.submit(fiber)
    scheduler.drain()
    ringAll(fiber, cancel)
    if cancel == LawCancel.AtRest then
      fiber.requestCancel()
      scheduler.drain()
      ringAll(fiber, LawCancel.Never)
    LawSeen(LawRuntime.end(fiber), events.sorted.toList)

  private def ringAll(fiber: TaskFiber, cancel: LawCancel): Unit =
    while clock.nextNanos.isDefined do
      if cancel == LawCancel.After(alarms) then
        fiber.requestCancel()
        scheduler.drain()
      clock.nextNanos.foreach(clock.moveTo)
      alarms += 1
      scheduler.drain()

object LawRuntime:
  /** `task`, and one step more, which notices a cancel that is pending at its end: as in Cats
    * Effect's own runs.
    */
  def bounded[A](task: Task[A]): Task[A] = task.flatMap(Task.pure).handleErrorWith(Task.fail)

  private def end(fiber: FiberCore): String = fiber.outcome match
    case null => LawSeen.never
    case Outcome.Succeeded(value) => s"$value"
    case Outcome.Failed(error) => s"failed with ${describe(error)}"
    case Outcome.Canceled => "canceled"

  def describe(error: Throwable): String = error match
    case boom: LawError => boom.toString
    case other => other.getClass.getSimpleName

/** An error that equals another one with the same number. */
final case class LawError(number: Int) extends RuntimeException(null, null, true, false):
  override def toString: String = s"LawError($number)"

private final class LawScheduler(seed: Long) extends Scheduler(1, 2):
  private val random = SplittableRandom(seed)
  private val jobs = mutable.ArrayBuffer[Job]()
  private val thread = LawThread(this, random)

  override def runsOn(caller: Thread): Boolean = false
  override def spawns: Boolean = false
  override def submit(job: Job): Unit = jobs += job
  override def submit(job: Job, preferredShard: Int): Unit = jobs += job
  override def hasWork(preferredShard: Int): Boolean = jobs.nonEmpty
  override def mayHaveWork(preferredShard: Int): Boolean = jobs.nonEmpty

  /** Runs all that can run. */
  def drain(): Unit =
    var slices = 0
    while jobs.nonEmpty do
      val at = random.nextInt(jobs.size)
      val job = jobs(at)
      jobs(at) = jobs.last
      jobs.dropRightInPlace(1)
      job.runSlice(thread)
      slices += 1
      if slices > LawScheduler.tooMany then throw AssertionError("The program runs for ever.")

private object LawScheduler:
  inline val tooMany = 1_000_000

private final class LawThread(scheduler: LawScheduler, random: SplittableRandom)
    extends ExecutionThread(scheduler):
  val thread: Thread = Thread.currentThread()
  def pooled: Boolean = true
  def preferredShard: Int = 0
  override def handOver(job: Job): Unit = scheduler.submit(job)
  override def beginSlice(): Int = 2 + random.nextInt(12)

  override def moreBudget(): Int = 0

  override def yieldIfDue(inSlice: Boolean): Unit = ()

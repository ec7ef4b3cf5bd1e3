package weir.laws

import scala.collection.mutable
import scala.concurrent.duration.*
import weir.fiber.{FiberCore, TaskFiber}
import weir.runtime.AlarmAfter
import weir.testkit.InlineRuntime
import weir.{Outcome, Task}

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

/** Runs one task to its end, or until nothing more can happen, on an `InlineRuntime`.
  *
  * Its clock moves when no fiber can run: so no cancel, alarm or callback ever comes at the same
  * time as a step, and the events depend on the program alone.
  */
final class LawRuntime(seed: Long):
  // Errors of finalizers are in the programs, and some laws let them vanish on one side.
  private val runtime = InlineRuntime(seed, silent = true)
  private val events = mutable.ArrayBuffer[String]()
  private var root: TaskFiber | Null = null

  /** The number of alarms that have rung in the run. */
  var alarms = 0

  def note(event: String): Unit = events += s"$event at ${runtime.now.toNanos}"

  /** Requests the cancel of the main fiber, as another thread would. */
  def cancelRoot(): Unit = root.nn.requestCancel()

  /** Calls `body` after `delay`, outside of all fibers. */
  def later(delay: FiniteDuration)(body: => Unit): Unit =
    val clock = runtime.runtime.timers
    clock.add(
      new AlarmAfter(clock, delay.toNanos):
        def ring(): Unit = body
    )

  def run(task: Task[Any], cancel: LawCancel): LawSeen =
    val fiber = TaskFiber(runtime.runtime, LawRuntime.bounded(task))
    root = fiber
    if cancel == LawCancel.BeforeStart then fiber.requestCancel()
    runtime.runtime.scheduler.submit(fiber)
    runtime.awaitQuiet()
    ringAll(fiber, cancel)
    if cancel == LawCancel.AtRest then
      fiber.requestCancel()
      runtime.awaitQuiet()
      ringAll(fiber, LawCancel.Never)
    LawSeen(LawRuntime.end(fiber), events.sorted.toList)

  private def ringAll(fiber: TaskFiber, cancel: LawCancel): Unit =
    while runtime.nextAlarm.isDefined do
      if cancel == LawCancel.After(alarms) then
        fiber.requestCancel()
        runtime.awaitQuiet()
      runtime.tick(): Unit
      alarms += 1

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

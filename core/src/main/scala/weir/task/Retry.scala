package weir.task

import weir.fiber.{FlatMap, Handle, Sleep, Suspend, TaskFiber}
import weir.group.Failures
import weir.trace.ErrorTrace
import weir.{Schedule, Task}

/** Runs a task again after it has failed, following a schedule. */
private[weir] final class Retry[A](source: Task[A], schedule: Schedule[Throwable])
    extends Suspend[Task[A]]:
  def begin(fiber: TaskFiber): Any =
    RetryRun(source, schedule.begin(ScheduleStart.now(fiber.runtime.timers))).again

/** One use of a `Retry`, with the same two nodes for each attempt: the stack is as high after a
  * million attempts as after one.
  */
private final class RetryRun[A](source: Task[A], schedule: ScheduleRun[Throwable]):
  private var failures = Vector.empty[Attempts]

  val again: Task[A] = Handle(source, error => FlatMap(Wait(error), _ => again))

  private final class Wait(error: Throwable) extends Suspend[Unit]:
    def begin(fiber: TaskFiber): Any =
      val delay =
        try schedule.next(error, fiber.runtime.timers.nanoTime)
        catch case thrown: Throwable => throw Failures.add(thrown, error)
      if delay < 0 then throw withEarlier(error)
      keep(error)
      Sleep(delay).begin(fiber)

  /** Keeps the first error and the latest ones. Errors that are alike are kept as one. */
  private def keep(error: Throwable): Unit =
    failures.find(_.isLike(error)) match
      case Some(attempts) => attempts.add(error)
      case None =>
        if failures.size == RetryRun.kept then failures = failures.head +: failures.drop(2)
        failures = failures :+ Attempts(error)

  private def withEarlier(error: Throwable): Throwable =
    failures.foldLeft(error)((error, earlier) => earlier.addTo(error))

private object RetryRun:
  /** The number of earlier errors that are suppressed under the last one. */
  inline val kept = 8

/** Attempts that have failed with the same error object, or with errors of the same class, message
  * and trace.
  */
private final class Attempts(first: Throwable):
  private var count = 1
  private var hasOthers = false

  def isLike(error: Throwable): Boolean =
    (error eq first) || {
      try
        error.getClass == first.getClass && error.toString == first.toString &&
          error.getStackTrace.length > 0 && ErrorTrace.isSame(error, first)
      catch case _: Throwable => false // the error's own methods are called
    }

  def add(error: Throwable): Unit =
    count += 1
    if error ne first then hasOthers = true

  /** Returns `last`, with these attempts suppressed under it: the first of them, if `last` is not
    * like it, and a line that counts them if there are several.
    */
  def addTo(last: Throwable): Throwable =
    val isLast = isLike(last)
    if !isLast then Failures.add(last, first): Unit
    if hasOthers || isLast && (last ne first) then
      val total = if isLast then count + 1 else count
      Failures.add(last, Failures.Line(s"$first ($total attempts, the same trace)"))
    else last

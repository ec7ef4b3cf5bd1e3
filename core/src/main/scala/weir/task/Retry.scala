package weir.task

import weir.kernel.{FlatMap, Handle, RunLoop, Sleep, Suspend}
import weir.{Schedule, Task}

/** Runs a task again after it has failed, as a schedule says. */
private[weir] final class Retry[A](source: Task[A], schedule: Schedule[Throwable])
    extends Suspend[Task[A]]:
  def begin(fiber: RunLoop): Any =
    val nanos = fiber.runtime.timers.nanoTime
    RetryRun(source, schedule.begin(ScheduleStart(nanos, Schedule.Random))).again

/** One use of it, with the same two nodes for each try: the stack is as high after a million tries as after one. */
private final class RetryRun[A](source: Task[A], schedule: ScheduleRun[Throwable]):
  private var failures = Vector.empty[Throwable]

  val again: Task[A] = Handle(source, error => FlatMap(Wait(error), _ => again))

  private final class Wait(error: Throwable) extends Suspend[Unit]:
    def begin(fiber: RunLoop): Any =
      val delay =
        try schedule.next(error, fiber.runtime.timers.nanoTime)
        catch case thrown: Throwable => throw Failures.add(thrown, error)
      if delay < 0 then throw withEarlier(error)
      keep(error)
      Sleep(delay).begin(fiber)

  /** The first, and the latest. */
  private def keep(error: Throwable): Unit =
    if !failures.exists(_ eq error) then
      if failures.size == RetryRun.kept then failures = failures.head +: failures.drop(2)
      failures = failures :+ error

  private def withEarlier(error: Throwable): Throwable =
    failures.foldLeft(error)((error, earlier) => Failures.add(error, earlier))

private object RetryRun:
  /** Earlier errors that are suppressed under the last one. */
  inline val kept = 8

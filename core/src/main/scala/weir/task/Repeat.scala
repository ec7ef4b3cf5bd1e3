package weir.task

import weir.fiber.{FlatMap, Pure, Sleep, Suspend, TaskFiber}
import weir.{Schedule, Task}

/** Runs a task again after it has succeeded, following a schedule. */
private[weir] final class Repeat[A](source: Task[A], schedule: Schedule[A])
    extends Suspend[Task[A]]:
  def begin(fiber: TaskFiber): Any =
    RepeatRun(source, schedule.begin(ScheduleStart.now(fiber.runtime.timers))).again

/** One use of a `Repeat`, with the same nodes for each run: the stack is as high after a million
  * runs as after one.
  */
private final class RepeatRun[A](source: Task[A], schedule: ScheduleRun[A]):
  val again: Task[A] =
    FlatMap(
      source,
      value => FlatMap(Wait(value), waited => if waited == Wait.Stop then Pure(value) else again)
    )

  private final class Wait(value: A) extends Suspend[Any]:
    def begin(fiber: TaskFiber): Any =
      val delay = schedule.next(value, fiber.runtime.timers.nanoTime)
      if delay < 0 then Wait.Stop else Sleep(delay).begin(fiber)

  private object Wait:
    object Stop

package weir.task

import scala.concurrent.duration.{DurationInt, FiniteDuration}
import weir.fiber.{Suspend, TaskFiber, Thunk, Uncancelable}
import weir.Task

/** Runs plain code whose thread a cancel interrupts again and again until the code has ended.
  *
  * The code runs in a fiber of its own, so that this one can send the interrupts. Each interrupt
  * goes through that fiber's interrupt gate: none arrives after the code has ended, and none hits a
  * mask or a finalizer of a task that the code runs by `runSync`.
  */
private[weir] object InterruptibleMany:

  def apply[A](thunk: () => A): Task[A] =
    Uncancelable(poll =>
      fork(Thunk(thunk)).flatMap(code =>
        poll(code.join).onCancel(cancel(code)).map(_.get.asInstanceOf[A])
      )
    )

  private def fork(code: Task[Any]): Task[TaskFiber] = new Suspend[TaskFiber]:
    def begin(fiber: TaskFiber): Any = fiber.fork(code)

  private def cancel(code: TaskFiber): Task[Unit] =
    Task.defer {
      code.requestCancel()
      interruptUntilEnded(code, firstPause)
    }

  private def interruptUntilEnded(code: TaskFiber, pause: FiniteDuration): Task[Unit] =
    Task.race(code.join, Task.sleep(pause)).flatMap {
      case Left(_) => Task.unit
      case Right(_) =>
        code.interruptCodeOnceMore()
        interruptUntilEnded(code, (pause * 2).min(longestPause))
    }

  private val firstPause = 1.milli
  private val longestPause = 16.millis // leaves time to end between two interrupts

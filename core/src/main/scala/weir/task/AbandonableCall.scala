package weir.task

import weir.{Outcome, Poll, Task}

/** Runs plain code on a thread of the operating system, and does not wait for it after a cancel. It
  * is for a native call that neither an interrupt nor a close ends, such as opening a named pipe
  * that nobody writes to.
  *
  * The call continues, and keeps its thread, until it ends by itself. `WeirRuntime.abandonedTasks`
  * counts it until then.
  */
private[weir] object AbandonableCall:
  def apply[A](poll: Poll, call: () => A, late: A => Unit): Task[A] =
    Task
      .onPlatformThread(call())
      .attempt
      .start
      .flatMap(fiber => poll(fiber.joinOrFail).onCancel(abandon(fiber.join, late)))
      .rethrow

  private def abandon[A](ended: Task[Outcome[Either[Throwable, A]]], late: A => Unit): Task[Unit] =
    Task
      .onRuntime(_.abandonedTaskCount)
      .flatMap { count =>
        val waiting = ended.flatMap {
          case Outcome.Succeeded(Right(value)) => Task(late(value))
          case _ => Task.unit
        }
        Task(count.incrementAndGet()) >>
          waiting.guarantee(Task(count.decrementAndGet(): Unit)).startDaemon
      }
      .void

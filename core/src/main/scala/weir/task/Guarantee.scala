package weir.task

import weir.fiber.{BeginFrame, Frame, Tag, TaskFiber}
import weir.{Outcome, Task}

/** A task with a finalizer that runs once, masked, however the task ends. Its frame is on the stack
  * before the first check for a cancel.
  */
private[weir] final class Guarantee[A](source: Task[A], release: Outcome[A] => Task[Unit])
    extends BeginFrame[A](Tag.BeginFrameMasked):
  def begin(fiber: TaskFiber): Frame = new FinalizerFrame(FinalizerFrame.Using):
    def start(fiber: TaskFiber): Task[Any] | Null =
      fiber.push(this)
      run(fiber, source)
    protected def keep(value: Any): Unit = ()
    protected def use(): Task[Any] = source
    protected def finalizerOf(outcome: Outcome[Any]): Task[Unit] =
      release(outcome.asInstanceOf[Outcome[A]])

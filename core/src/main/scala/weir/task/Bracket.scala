package weir.task

import weir.fiber.{BeginFrame, Frame, Tag, TaskFiber}
import weir.{Outcome, Task}

/** Acquires, uses and releases a resource. Acquiring and releasing are masked. */
private[weir] final class Bracket[A, B](
    acquire: Task[A],
    body: A => Task[B],
    release: (A, Outcome[B]) => Task[Unit]
) extends BeginFrame[B](Tag.BeginFrameMasked):
  def begin(fiber: TaskFiber): Frame = new FinalizerFrame(FinalizerFrame.Acquiring):
    private var resource: A | Null = null
    def start(fiber: TaskFiber): Task[Any] | Null =
      fiber.push(this)
      fiber.addMask()
      run(fiber, acquire)
    protected def keep(value: Any): Unit = resource = value.asInstanceOf[A]
    protected def use(): Task[Any] = body(resource.asInstanceOf[A])
    protected def finalizerOf(outcome: Outcome[Any]): Task[Unit] =
      release(resource.asInstanceOf[A], outcome.asInstanceOf[Outcome[B]])

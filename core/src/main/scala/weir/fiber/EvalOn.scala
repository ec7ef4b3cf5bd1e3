package weir.fiber

import scala.concurrent.ExecutionContext
import weir.Task

/** A task whose steps run on the threads of `context`. Its frame sends the fiber there, and back
  * again, however the task ends.
  */
private[weir] final class EvalOn[A](source: Task[A], context: ExecutionContext)
    extends BeginFrame[A](Tag.BeginFrameMasked):
  def begin(fiber: TaskFiber): Frame =
    EvalOnFrame(source, if context eq fiber.runtime.executionContext then null else context)

private final class EvalOnFrame(source: Task[Any], context: ExecutionContext | Null)
    extends Frame(Tag.HandlingFrame):
  private var before: ExecutionContext | Null = null

  def start(fiber: TaskFiber): Task[Any] =
    before = fiber.context
    if context eq before then source
    else
      fiber.push(this)
      fiber.context = context
      Leave(source)

  def step(fiber: TaskFiber, value: Any): Task[Any] = back(fiber, Pure(value))

  override def failed(fiber: TaskFiber, error: Throwable): Task[Any] = back(fiber, Fail(error))

  override def finalizer(fiber: TaskFiber): Task[Unit] = back(fiber, Task.unit)

  private def back[A](fiber: TaskFiber, next: Task[A]): Task[A] =
    fiber.context = before
    Leave(next)

package weir.fiber

import scala.concurrent.ExecutionContext
import weir.Task

/** The rules for a fiber of an `evalOn` whose plain code a worker runs, so that no wait of that
  * code occupies a thread of the context.
  *
  * Plain code cannot leave its thread where it waits. So the loop of a stream leaves the context
  * before it begins, and returns to it at its end. The tasks that it awaits are the user's code: an
  * inner fiber runs them on the context (`EvalApart`), and leaves it where it waits. README.md has
  * the details.
  */
private[fiber] object RunsApart:

  /** Returns true if `fiber`, which has a context, leaves it before it runs `direct`. */
  def leaves(fiber: TaskFiber, direct: DirectCode[?]): Boolean =
    !fiber.isApart && !direct.isForContext

  /** Leaves the context, and runs `direct`. */
  def start(fiber: TaskFiber, direct: DirectCode[Any]): Task[Any] =
    fiber.push(ComeBack)
    fiber.isApart = true
    Leave(direct)

  /** Returns true if a new fiber of `context` runs `body` apart: the fiber of a stage, which is
    * plain code.
    */
  def fromItsBegin(body: Task[Any], context: ExecutionContext | Null): Boolean =
    (context ne null) && (body match
      case direct: DirectCode[?] => !direct.isForContext
      case _ => false)

  /** Returns a task that runs `task`, which plain code of `fiber` awaits, on the context that the
    * fiber has left.
    */
  def atContext(fiber: TaskFiber, task: Task[Any]): Task[Any] =
    if fiber.isApart && hasUserCode(task) then AtContext(task) else task

  private def hasUserCode(task: Task[Any]): Boolean = task.tag match
    case Tag.Suspend => task.isInstanceOf[RunsUserCode]
    case Tag.DirectCode => task.asInstanceOf[DirectCode[?]].isForContext
    case Tag.Pure | Tag.Fail | Tag.Cede | Tag.Start | Tag.Canceled => false
    case _ => !task.isInstanceOf[RunsAnywhere]

  private final class AtContext(task: Task[Any]) extends BeginFrame[Any](Tag.BeginFrameMasked):
    def begin(fiber: TaskFiber): Frame = EvalApart(task, fiber.context)

  private object ComeBack extends Frame(Tag.HandlingFrame):
    def start(fiber: TaskFiber): Task[Any] = Task.unit
    def step(fiber: TaskFiber, value: Any): Task[Any] = back(fiber, Pure(value))
    override def failed(fiber: TaskFiber, error: Throwable): Task[Any] = back(fiber, Fail(error))
    override def finalizer(fiber: TaskFiber): Task[Unit] = back(fiber, Task.unit)

    private def back[A](fiber: TaskFiber, next: Task[A]): Task[A] =
      fiber.isApart = false
      Leave(next)

/** A wait that runs code of the user's on the thread of the fiber that awaits it: as it begins, or
  * as the hook of a cancel.
  */
private[weir] trait RunsUserCode

/** A task without code of the user's. */
private[weir] trait RunsAnywhere

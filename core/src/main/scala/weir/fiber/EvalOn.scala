package weir.fiber

import scala.concurrent.ExecutionContext
import weir.{Outcome, Task}

/** Runs a task with its steps on the threads of `context`. Its frame sends the fiber there, and
  * back again, however the task ends. Plain code that awaits the task cannot leave its thread:
  * there a fiber of its own runs the task.
  */
private[weir] final class EvalOn[A](source: Task[A], context: ExecutionContext)
    extends BeginFrame[A](Tag.BeginFrameMasked):
  def begin(fiber: TaskFiber): Frame =
    val target = if context eq fiber.runtime.executionContext then null else context
    if fiber.inDirect then EvalApart(source, target) else EvalOnFrame(source, target)

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

/** The wait of plain code for a task that an inner fiber runs on another context.
  *
  * The inner fiber has the locals and the masks of this one, and the polls of those masks work
  * there. A cancel of this fiber becomes one of the inner fiber (`FiberCore.nested`), which knows
  * whether it is masked. So this wait itself is masked. It always takes over the inner fiber's
  * outcome, its locals, and a cancel that is still pending.
  */
private[fiber] final class EvalApart(source: Task[Any], context: ExecutionContext | Null)
    extends Frame(Tag.HandlingFrame):
  private var inner: TaskFiber | Null = null

  def start(fiber: TaskFiber): Task[Any] =
    if (context eq fiber.context) && !fiber.isApart then source
    else
      val begun = TaskFiber(fiber.runtime, KeepLocals(source, this))
      begun.locals = fiber.localsForChild
      begun.context = context
      begun.adoptMasks(fiber)
      inner = begun
      // Everything that takes memory is made before the inner fiber is queued: otherwise nothing
      // would wait for it.
      val end = begun.register((list, lock) => WaitList.Entry(fiber, list, lock))
      val waits = AwaitJoin(end)
      fiber.push(this)
      fiber.addMask()
      fiber.beginNesting(begun) // before it runs, as it may cancel itself by the outer fiber
      fiber.submit(begun)
      waits

  /** The locals of the inner fiber at its end. Written by that fiber. */
  var locals: Locals | Null = null

  override def failed(fiber: TaskFiber, error: Throwable): Task[Any] =
    end(fiber) // there was no memory to queue it
    Fail(error)

  private def end(fiber: TaskFiber): Unit =
    fiber.endNesting()
    fiber.removeMask()

  def step(fiber: TaskFiber, value: Any): Task[Any] =
    end(fiber)
    fiber.adopt(locals)
    if inner.nn.cancelRequested then fiber.cancelRequested = true
    value.asInstanceOf[Outcome[Any]] match
      case Outcome.Succeeded(result) => Pure(result)
      case Outcome.Failed(error) => Fail(error)
      case Outcome.Canceled => cancelUnmasked(fiber)

  /** Cancels this fiber. Polls in the inner fiber had removed all masks, so this method removes
    * them too.
    */
  private def cancelUnmasked(fiber: TaskFiber): Task[Any] =
    val masks = Iterator.iterate(fiber.innermostMask)(_.nn.outer).takeWhile(_ ne null).toList
    masks.reverse.foldLeft[Task[Any]](CancelSelf)((task, mask) => Unmasked(task, mask.nn))

/** The wait of a joiner that is registered already. */
private final class AwaitJoin(joiner: AnyRef) extends Suspend[Any]:
  def begin(fiber: TaskFiber): Any = joiner

/** Runs `source`, and at its end stores the locals of its fiber in `keeper`. */
private final class KeepLocals(source: Task[Any], keeper: EvalApart)
    extends BeginFrame[Any](Tag.BeginFrameMasked):
  def begin(fiber: TaskFiber): Frame = new Frame(Tag.HandlingFrame):
    def start(fiber: TaskFiber): Task[Any] =
      fiber.push(this)
      source

    def step(fiber: TaskFiber, value: Any): Task[Any] | Null =
      keep(fiber)
      fiber.frameResult = value
      null

    override def failed(fiber: TaskFiber, error: Throwable): Task[Any] =
      keep(fiber)
      Fail(error)

    override def canceled(fiber: TaskFiber): Unit = keep(fiber)

    private def keep(fiber: TaskFiber): Unit = keeper.locals = fiber.localsForChild

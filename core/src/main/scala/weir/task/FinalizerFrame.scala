package weir.task

import weir.fiber.{CancelSelf, Defer, Fail, Frame, Tag, TaskFiber}
import weir.group.Failures
import weir.{Outcome, Task}

/** The frame of `Guarantee` and of `Bracket`. It does the work of eight instructions of
  * `uncancelable`, `attempt`, `onCancel` and `flatMap`.
  *
  * {{{
  * Acquiring --value--> Using --value or error, masked--> Releasing --> gone
  *     |                  +----cancel, unwinding--------> Releasing
  *     +--error, cancel--> gone
  * }}}
  *
  *   - The frame is on the stack again before the user's functions are called, so their errors come
  *     to `failed`.
  *   - There is no check for a cancel between the end of the use and the finalizer, which gets the
  *     outcome of the use.
  */
private[task] abstract class FinalizerFrame(private var state: Int)
    extends Frame(Tag.HandlingFrame):
  import FinalizerFrame.*

  private var result: Any = null
  private var error: Throwable | Null = null

  /** Keeps the resource that has been acquired. */
  protected def keep(value: Any): Unit
  protected def use(): Task[Any]
  protected def finalizerOf(outcome: Outcome[Any]): Task[Unit]

  def step(fiber: TaskFiber, value: Any): Task[Any] | Null =
    if state == Releasing then ended(fiber)
    else
      fiber.push(this)
      run(fiber, next(fiber, value))

  /** Runs `first`, and the tasks that follow it as long as they are ready, outside of the run loop.
    * The frame stays on the stack.
    */
  final protected def run(fiber: TaskFiber, first: Task[Any]): Task[Any] | Null =
    var child = first
    var value = Frame.ready(fiber, child)
    while !(value.asInstanceOf[AnyRef] eq Frame.NotReady) do
      if state == Releasing then
        fiber.pop(): Unit
        return ended(fiber)
      child = next(fiber, value)
      value = Frame.ready(fiber, child)
    child

  private def next(fiber: TaskFiber, value: Any): Task[Any] =
    if state == Acquiring then
      keep(value)
      state = Using
      fiber.removeMask()
      if fiber.shouldCancel then CancelSelf else use()
    else
      result = value
      finish(fiber, Outcome.Succeeded(value))

  override def failed(fiber: TaskFiber, thrown: Throwable): Task[Any] | Null = state match
    case Using =>
      error = thrown
      fiber.push(this)
      finish(fiber, Outcome.Failed(thrown))
    case _ =>
      error = Failures.add(error, thrown)
      ended(fiber)

  private def finish(fiber: TaskFiber, outcome: Outcome[Any]): Task[Any] =
    fiber.addMask()
    state = Releasing
    finalizerOf(outcome)

  /** Ends the frame: removes the mask of `Acquiring` or `Releasing`, and passes on the result. The
    * next instruction notices a cancel that has come meanwhile: the result must not be lost to it.
    */
  private def ended(fiber: TaskFiber): Task[Any] | Null =
    fiber.removeMask()
    val thrown = error
    if thrown ne null then Fail(thrown)
    else
      fiber.frameResult = result
      null

  override def finalizer(fiber: TaskFiber): Task[Unit] | Null =
    if state != Using then null
    else
      state = Releasing
      // deferred: an exception of it must not stop the unwinding
      Defer(() => finalizerOf(Outcome.Canceled))

private[task] object FinalizerFrame:
  inline val Acquiring = 0
  inline val Using = 1
  inline val Releasing = 2

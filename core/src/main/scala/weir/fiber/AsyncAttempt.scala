package weir.fiber

import weir.Task

/** Waits for a callback that a task registers, and which may be answered at once. It uses one frame
  * for the work of seven instructions of `uncancelable`, `flatMap`, `onCancel` and a poll.
  *
  * {{{
  * Registering, masked --answer--> gone
  *     |    +--no finalizer--> Masked --value, error--> gone
  *     +------finalizer------> Waiting, unmasked --value, error--> gone
  *                                +--cancel--> the finalizer
  * }}}
  *
  * A value that has come by the end of the registration is taken without a wait, and without a
  * check for a cancel. So it is not lost, and the finalizer has nothing to undo.
  */
private[weir] final class AsyncAttempt[A](
    register: (Either[Throwable, A] => Unit) => Task[Either[Option[Task[Unit]], A]]
) extends BeginFrame[A](Tag.BeginFrameMasked):
  def begin(fiber: TaskFiber): Frame = new AsyncFrame(fiber):
    protected def registration: Task[Any] = register(AsyncCallback(waiter))

/** As `AsyncAttempt`, but plain code registers the callback, and no cancel ends the wait. */
private[weir] final class AsyncUncancelable[A](register: (Either[Throwable, A] => Unit) => Unit)
    extends BeginFrame[A](Tag.BeginFrameMasked):
  def begin(fiber: TaskFiber): Frame = new AsyncFrame(fiber):
    protected def registration: Task[Any] =
      register(AsyncCallback(waiter))
      AsyncFrame.noFinalizer

private abstract class AsyncFrame(fiber: TaskFiber) extends Frame(Tag.HandlingFrame):
  import AsyncFrame.*

  final protected val waiter: AsyncWaiter = AsyncWaiter(fiber)
  private var state = Registering
  private var onCancel: Task[Unit] | Null = null

  /** The task that registers the callback. */
  protected def registration: Task[Any]

  def start(fiber: TaskFiber): Task[Any] | Null =
    fiber.push(this) // first: errors of the registration come to `failed`
    fiber.addMask()
    fiber.runtime.waitsOutside(waiter)
    val registering = registration
    val answer = Frame.ready(fiber, registering)
    if answer.asInstanceOf[AnyRef] eq Frame.NotReady then registering
    else
      fiber.pop(): Unit
      answered(fiber, answer)

  def step(fiber: TaskFiber, value: Any): Task[Any] | Null = state match
    case Registering => answered(fiber, value)
    case Masked =>
      fiber.removeMask()
      ended(fiber, value)
    case _ => ended(fiber, value)

  private def answered(fiber: TaskFiber, answer: Any): Task[Any] | Null =
    answer.asInstanceOf[Either[Option[Task[Unit]], Any]] match
      case Right(value) =>
        fiber.removeMask()
        ended(fiber, value)
      case _ if waiter.hasValue =>
        fiber.removeMask()
        ended(fiber, waiter.value)
      case Left(finalizer) =>
        fiber.push(this)
        finalizer match
          case Some(task) =>
            onCancel = task
            state = Waiting
            fiber.removeMask()
          case None => state = Masked
        waiter.await

  private def ended(fiber: TaskFiber, value: Any): Null =
    fiber.frameResult = value
    null

  override def failed(fiber: TaskFiber, error: Throwable): Task[Any] | Null =
    if state != Waiting then fiber.removeMask()
    Fail(error)

  override def finalizer(fiber: TaskFiber): Task[Unit] | Null = onCancel

private object AsyncFrame:
  val noFinalizer: Task[Any] = Pure(Left(None))

  inline val Registering = 0
  inline val Masked = 1
  inline val Waiting = 2

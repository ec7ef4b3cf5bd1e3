package weir.task

import weir.kernel.{CancelSelf, Defer, Enter, Fail, Loop, RunLoop, Tag}
import weir.{Outcome, Task}

/** A task and a finalizer that runs once, masked, however the task ends. Its frame is in place before a cancel is looked for. */
private[weir] final class Guarantee[A](source: Task[A], release: Outcome[A] => Task[Unit])
    extends Enter[A](Tag.EnterMasked):
  def begin(fiber: RunLoop): Loop = new FinalizerFrame(FinalizerFrame.Using):
    def start(fiber: RunLoop): Task[Any] | Null =
      fiber.push(this)
      run(fiber, source)
    protected def keep(value: Any): Unit = ()
    protected def use(): Task[Any] = source
    protected def finalizerOf(outcome: Outcome[Any]): Task[Unit] =
      release(outcome.asInstanceOf[Outcome[A]])

/** Something acquired, used and released. Acquiring and releasing are masked. */
private[weir] final class Bracket[A, B](
    acquire: Task[A],
    body: A => Task[B],
    release: (A, Outcome[B]) => Task[Unit]
) extends Enter[B](Tag.EnterMasked):
  def begin(fiber: RunLoop): Loop = new FinalizerFrame(FinalizerFrame.Acquiring):
    private var resource: A | Null = null
    def start(fiber: RunLoop): Task[Any] | Null =
      fiber.push(this)
      fiber.enterMask()
      run(fiber, acquire)
    protected def keep(value: Any): Unit = resource = value.asInstanceOf[A]
    protected def use(): Task[Any] = body(resource.asInstanceOf[A])
    protected def finalizerOf(outcome: Outcome[Any]): Task[Unit] =
      release(resource.asInstanceOf[A], outcome.asInstanceOf[Outcome[B]])

/** The one frame of both: what `uncancelable`, `attempt`, `onCancel` and `flatMap` would do with eight instructions.
  *
  * {{{
  * Acquiring --value--> Using --value or error, masked--> Releasing --> gone
  *     |                  +----cancel, unwinding--------> Releasing
  *     +--error, cancel--> gone
  * }}}
  *
  *   - The frame is on the stack again before the user's functions are called, so what they throw comes to `failed`.
  *   - No cancel is looked for between the end of the use and the finalizer, which is told how the use has ended.
  */
private abstract class FinalizerFrame(private var state: Int) extends Loop(Tag.Claiming):
  import FinalizerFrame.*

  private var result: Any = null
  private var error: Throwable | Null = null

  /** Keeps what has been acquired. */
  protected def keep(value: Any): Unit
  protected def use(): Task[Any]
  protected def finalizerOf(outcome: Outcome[Any]): Task[Unit]

  def step(fiber: RunLoop, value: Any): Task[Any] | Null =
    if state == Releasing then ended(fiber)
    else
      fiber.push(this)
      run(fiber, next(fiber, value))

  /** Runs `first` and what follows, without the run loop for as long as that is ready. The frame stays on the stack. */
  final protected def run(fiber: RunLoop, first: Task[Any]): Task[Any] | Null =
    var child = first
    var value = Loop.ready(fiber, child)
    while !(value.asInstanceOf[AnyRef] eq Loop.NotReady) do
      if state == Releasing then
        fiber.pop(): Unit
        return ended(fiber)
      child = next(fiber, value)
      value = Loop.ready(fiber, child)
    child

  private def next(fiber: RunLoop, value: Any): Task[Any] =
    if state == Acquiring then
      keep(value)
      state = Using
      fiber.leaveMask()
      if fiber.shouldCancel then CancelSelf else use()
    else
      result = value
      finish(fiber, Outcome.Succeeded(value))

  override def failed(fiber: RunLoop, thrown: Throwable): Task[Any] | Null = state match
    case Using =>
      error = thrown
      fiber.push(this)
      finish(fiber, Outcome.Failed(thrown))
    case _ =>
      error = Failures.add(error, thrown)
      ended(fiber)

  private def finish(fiber: RunLoop, outcome: Outcome[Any]): Task[Any] =
    fiber.enterMask()
    state = Releasing
    finalizerOf(outcome)

  /** Everything has run; the mask of `Acquiring` or `Releasing` comes off. A cancel that has come meanwhile is found by what is next: the
    * result must not be lost to it.
    */
  private def ended(fiber: RunLoop): Task[Any] | Null =
    fiber.leaveMask()
    val thrown = error
    if thrown ne null then Fail(thrown)
    else
      fiber.loopResult = result
      null

  override def finalizer(fiber: RunLoop): Task[Unit] | Null =
    if state != Using then null
    else
      state = Releasing
      Defer(() =>
        finalizerOf(Outcome.Canceled)
      ) // not here: what it throws must not stop the unwinding

private object FinalizerFrame:
  inline val Acquiring = 0
  inline val Using = 1
  inline val Releasing = 2

package weir.sync

import weir.Task
import weir.fiber.{Awaited, BeginFrame, CancelSelf, Delay, Frame, Pure, Suspend, Tag, TaskFiber}

/** Runs `body` with permits, which are returned however it ends.
  *
  * It uses one frame instead of a bracket. Returning permits needs no task, so nothing has to be
  * masked. `start` takes the permits and pushes the frame without a check for a cancel in between.
  */
private[weir] final class WithPermits[A](permits: Permits, n: Long, body: Task[A])
    extends BeginFrame[A]:
  def begin(fiber: TaskFiber): Frame = Holding(permits, n, body)

private final class Holding(permits: Permits, n: Long, body: Task[Any])
    extends Frame(Tag.HandlingFrame):
  private var waits: Permits.Entry | Null = null
  private var holds = false

  def start(fiber: TaskFiber): Task[Any] | Null =
    val entry = permits.take(fiber, n)
    if entry eq null then run(fiber)
    else
      waits = entry
      fiber.push(this)
      Holding.Wait(entry)

  /** Called at the end of the wait, and at the end of the body. */
  def step(fiber: TaskFiber, value: Any): Task[Any] | Null =
    if holds then
      permits.give(fiber, n)
      fiber.frameResult = value
      null
    else run(fiber)

  private def run(fiber: TaskFiber): Task[Any] | Null =
    holds = true
    body match
      case delay: Delay[?] if fiber.mayGoOn => runHere(fiber, delay.run())
      case pure: Pure[?] if fiber.mayGoOn => runHere(fiber, pure.value)
      case _ =>
        fiber.push(this)
        if fiber.shouldCancel then CancelSelf else body

  private inline def runHere(fiber: TaskFiber, inline value: Any): Null =
    try fiber.frameResult = value
    finally permits.give(fiber, n)
    null

  override def failed(fiber: TaskFiber, error: Throwable): Task[Any] | Null =
    giveBack(fiber)
    Task.fail(error)

  override def canceled(fiber: TaskFiber): Unit = giveBack(fiber)

  override def held: Awaited | Null = if holds && n > 0 then permits else null
  override def heldPermits: Long = n

  private def giveBack(fiber: TaskFiber): Unit =
    val entry = waits
    if holds then permits.give(fiber, n)
    else if entry ne null then
      permits.leave(entry)
      // It was served before `leave`: the fiber was cancelled before it suspended.
      if entry.isDone then permits.give(fiber, n)

private object Holding:
  final class Wait(entry: Permits.Entry) extends Suspend[Unit]:
    def begin(fiber: TaskFiber): Any = entry

package weir.sync

import weir.Task
import weir.kernel.{CancelSelf, Delay, Enter, Loop, Pure, RunLoop, Suspend, Tag}

/** Runs `body` with permits, which are given back however it ends.
  *
  * One frame in place of a bracket: giving back needs no task, so there is nothing to mask; and taking the permits is one with
  * putting the frame onto the stack, so no cancel can fall in between.
  */
private[weir] final class WithPermits[A](permits: Permits, n: Long, body: Task[A]) extends Enter[A]:
  def begin(fiber: RunLoop): Loop = Holding(permits, n, body)

private final class Holding(permits: Permits, n: Long, body: Task[Any]) extends Loop(Tag.Claiming):
  private var waits: Permits.Entry | Null = null
  private var holds = false

  def start(fiber: RunLoop): Task[Any] | Null =
    val entry = permits.take(fiber, n)
    if entry eq null then run(fiber)
    else
      waits = entry
      fiber.push(this)
      Holding.Wait(entry)

  /** The wait has ended, or the body. */
  def step(fiber: RunLoop, value: Any): Task[Any] | Null =
    if holds then
      permits.give(fiber, n)
      fiber.loopResult = value
      null
    else run(fiber)

  private def run(fiber: RunLoop): Task[Any] | Null =
    holds = true
    body match
      case delay: Delay[?] if fiber.mayGoOn => runHere(fiber, delay.run())
      case pure: Pure[?] if fiber.mayGoOn => runHere(fiber, pure.value)
      case _ =>
        fiber.push(this)
        if fiber.shouldCancel then CancelSelf else body

  private inline def runHere(fiber: RunLoop, inline value: Any): Null =
    try fiber.loopResult = value
    finally permits.give(fiber, n)
    null

  override def failed(fiber: RunLoop, error: Throwable): Task[Any] | Null =
    giveBack(fiber)
    Task.fail(error)

  override def canceled(fiber: RunLoop): Unit = giveBack(fiber)

  private def giveBack(fiber: RunLoop): Unit =
    val entry = waits
    if holds then permits.give(fiber, n)
    else if entry ne null then
      permits.leave(entry)
      // Served, and cancelled before it could run; or cancelled before it began to wait, and served all the same.
      if entry.isDone then permits.give(fiber, n)

private object Holding:
  final class Wait(entry: Permits.Entry) extends Suspend[Unit]:
    def begin(fiber: RunLoop): Any = entry

package weir.stream

import weir.Task
import weir.fiber.{CancelSignal, DirectCode, HoldsUserCode, TaskFiber}

/** A fiber that works for a stage, usually by pulling its upstream.
  *
  * {{{
  * not begun --begin--> works --returns, throws, is cancelled--> tells how it has ended --> ended
  * }}}
  *
  *   - **Callers**: the stage calls `begin`, and the fiber that closes the stage calls the rest:
  *     one fiber at a time.
  *   - **Invariant**: once it has begun, it tells its `Terminal` once, as its last step. It tells
  *     none if no more is wanted of it (`work` has returned false), or if it was cancelled before
  *     its first step.
  *   - **Ordering**: after `stop` or `join` has returned, the caller reads everything that the
  *     fiber has written, and no fiber pulls upstream any more.
  */
private[stream] abstract class ProducerFiber extends HoldsUserCode:
  // written by `begin`; read by the fiber that closes the stage, also while `begin` runs
  @volatile private var running: TaskFiber | Null = null

  /** Does the work, on the fiber. Returns true if upstream has ended, false if no more is wanted.
    */
  protected def work(fiber: TaskFiber): Boolean

  /** Passes the end of the fiber to the consumer, without waiting. */
  protected def tell(terminal: Terminal, fiber: TaskFiber): Unit

  final def hasBegun: Boolean = running ne null

  final def begin(parent: TaskFiber): Unit = running = parent.fork(DirectCode(run))

  private def run(fiber: TaskFiber): Unit =
    val terminal: Terminal | Null =
      try if work(fiber) then Terminal.Ended else null
      catch
        case CancelSignal =>
          tell(Terminal.canceled, fiber) // if the stage closes, nobody reaches this
          throw CancelSignal
        case error: Throwable => Terminal.of(error, fiber)
    if terminal ne null then tell(terminal, fiber)

  final def requestCancel(): Unit =
    val begun = running
    if begun ne null then begun.requestCancel()

  /** Waits for the end of the fiber. */
  final def join(fiber: TaskFiber): Unit =
    val begun = running
    if begun ne null then fiber.await(begun.join): Unit

  /** Cancels the fiber, and waits for its end. */
  final def stop(fiber: TaskFiber): Unit =
    val begun = running
    if begun ne null then fiber.await(begun.cancel)

  /** Returns a task that runs `task` after the end of the fiber, or at once if that has not begun.
    */
  final def whenEnded[A](task: Task[A]): Task[A] =
    val begun = running
    if begun eq null then task else begun.join.flatMap(_ => task)

/** Puts the elements of `upstream` into `buffer`, then `end`, or a `Terminal.Failed`. Elements that
  * exist already upstream follow an element at once.
  */
private[stream] final class BufferProducer(upstream: Pull, buffer: Buffer, end: Any)
    extends ProducerFiber:
  /** The largest number of elements that it puts; after the last of them it puts no end. Written
    * before the fiber begins.
    */
  var demand: Long = Long.MaxValue

  protected def work(fiber: TaskFiber): Boolean =
    var left = demand
    var isEnd = false
    while left > 0 && !isEnd do
      val value = upstream.next(fiber)
      isEnd = Pull.isEnd(value)
      if !isEnd then
        buffer.put(value, fiber)
        left -= 1
        left -= putReady(left, fiber)
    isEnd

  private def putReady(left: Long, fiber: TaskFiber): Int =
    val ready =
      if buffer.takesReady then upstream.takeReady(math.min(left, Chunk.most).toInt) else null
    if ready eq null then 0
    else
      buffer.put(ready, fiber)
      ready.count

  protected def tell(terminal: Terminal, fiber: TaskFiber): Unit =
    buffer.force(if terminal eq Terminal.Ended then end else terminal, fiber)

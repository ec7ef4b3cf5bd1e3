package weir.stream

import weir.Task
import weir.fiber.{CancelSignal, DirectCode, HoldsUserCode, TaskFiber}

/** A fiber that works for a stage, as a rule by pulling its upstream.
  *
  * {{{
  * not begun --begin--> works --returns, throws, is cancelled--> tells how it has ended --> ended
  * }}}
  *
  *   - **Who calls**: `begin`, and whoever closes the stage the rest: one fiber at a time.
  *   - **Invariant**: once it has begun, it tells once how it has ended, as its last step, unless
  *     nobody wants more of it (`work` returned false), or it was cancelled before its first step.
  *   - **Ordering**: after `stop` or `join` has returned, the caller reads all that the fiber has
  *     written, and no fiber pulls upstream any more.
  */
private[stream] abstract class ProducerFiber extends HoldsUserCode:
  // written by `begin`, read by whoever closes the stage, also while that runs
  @volatile private var running: TaskFiber | Null = null

  /** Works, as the fiber. Returns true if upstream has ended, false if nobody wants more. */
  protected def work(fiber: TaskFiber): Boolean

  /** Tells the consumer how the fiber has ended, without waiting. */
  protected def tell(terminal: Terminal, fiber: TaskFiber): Unit

  final def hasBegun: Boolean = running ne null

  final def begin(parent: TaskFiber): Unit = running = parent.fork(DirectCode(run))

  private def run(fiber: TaskFiber): Unit =
    val terminal: Terminal | Null =
      try if work(fiber) then Terminal.Ended else null
      catch
        case CancelSignal =>
          tell(Terminal.canceled, fiber) // of a stage that closes, nobody reaches it
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

  /** Runs `task` after the end of the fiber; at once if that has not begun. */
  final def whenEnded[A](task: Task[A]): Task[A] =
    val begun = running
    if begun eq null then task else begun.join.flatMap(_ => task)

/** Puts the elements of `upstream` into `buffer`, then `end`, or a `Terminal.Failed`. What is ready
  * upstream follows an element at once.
  */
private[stream] final class BufferProducer(upstream: Pull, buffer: Buffer, end: Any)
    extends ProducerFiber:
  /** The most elements that it puts; after the last of them it puts no end. Written before the
    * fiber begins.
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

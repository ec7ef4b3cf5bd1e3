package weir.stream

import scala.annotation.unused
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

/** Pulls `upstream`, and puts its elements where the stage has them. Elements that exist already
  * upstream follow an element at once.
  */
private[stream] abstract class UpstreamProducer(upstream: Pull) extends ProducerFiber:
  /** The largest number of elements that it puts; after the last of them it tells no end. Written
    * before the fiber begins.
    */
  final var demand: Long = Long.MaxValue

  protected def put(value: Any, fiber: TaskFiber): Unit
  protected def takesReady: Boolean = true

  /** Puts elements that upstream had already. */
  protected def putReady(ready: Chunk, fiber: TaskFiber): Unit

  /** Called after the last `putReady`: the next element has to be made. */
  protected def readyPut(@unused fiber: TaskFiber): Unit = ()

  final protected def work(fiber: TaskFiber): Boolean =
    var left = demand
    var isEnd = false
    while left > 0 && !isEnd do
      val value = upstream.next(fiber)
      isEnd = Pull.isEnd(value)
      if !isEnd then
        put(value, fiber)
        left = if takesReady then putAllReady(left - 1, fiber) else left - 1
    isEnd

  private def putAllReady(demand: Long, fiber: TaskFiber): Long =
    var left = demand
    var ready = upstream.takeReady(math.min(left, Chunk.most).toInt)
    if ready ne null then
      while ready ne null do
        left -= ready.count
        putReady(ready, fiber)
        fiber.checkpoint() // a collection may be large, and `putReady` may never wait
        ready = upstream.takeReady(math.min(left, Chunk.most).toInt)
      readyPut(fiber)
    left

/** Puts the elements of `upstream` into `buffer`, then `end`, or a `Terminal.Failed`. */
private[stream] final class BufferProducer(upstream: Pull, buffer: Buffer, end: Any)
    extends UpstreamProducer(upstream):
  protected def put(value: Any, fiber: TaskFiber): Unit = buffer.put(value, fiber)
  protected def putReady(ready: Chunk, fiber: TaskFiber): Unit = buffer.put(ready, fiber)
  override protected def takesReady: Boolean = buffer.takesReady

  protected def tell(terminal: Terminal, fiber: TaskFiber): Unit =
    buffer.force(if terminal eq Terminal.Ended then end else terminal, fiber)

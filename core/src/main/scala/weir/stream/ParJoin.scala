package weir.stream

import scala.collection.mutable.ArrayBuffer
import weir.fiber.{CancelSignal, DirectCode, Suspend, TaskFiber, Uncancelable, Waiter}
import weir.group.Finalizers
import weir.{Outcome, Stream, Task}

/** The elements of many streams as they come, of at most `limit` streams at a time. `parJoin`,
  * `merge`.
  *
  * One fiber pulls the outer stream, and one more pulls each inner stream. All put into one buffer.
  * The end of an inner stream is a message in that buffer too. So the consumer, which closes the
  * inner stream, has used all of its elements by then.
  */
private[weir] final class ParJoinStage(outer: Pull, limit: Int) extends Pull:
  private val buffer = Buffer(ParJoinStage.bufferSize, null)

  // consumer only
  private var ended = false
  private var outerEnded = false

  // the fiber of the outer stream, then the consumer
  private var outerFiber: TaskFiber | Null = null

  // shared, under this object's lock
  private val inners = ArrayBuffer[Inner]()
  private var room = limit

  /** No inner stream is begun any more. */
  private var isClosing = false
  private var waitingForRoom: Waiter | Null = null

  private final class Inner(val pull: Pull):
    /** The fiber that pulls it; null if the stage was closing by then. */
    var fiber: TaskFiber | Null = null

  override def hasFibers: Boolean = true

  def next(fiber: TaskFiber): Any =
    fiber.checkpoint() // what is in the buffer is used without one
    if outerFiber eq null then outerFiber = fiber.fork(DirectCode(runOuter))
    while !ended do
      buffer.take(fiber) match
        case Pull.End =>
          outerEnded = true
          ended = isOver
        case inner: Inner =>
          fiber.masked(finish(inner, fiber))
          ended = outerEnded && isOver
        case failed: Producer.Failed =>
          ended = true
          failed.rethrow(fiber)
        case value => return value
    Pull.End

  private def isOver: Boolean = synchronized(inners.isEmpty)

  private def finish(inner: Inner, fiber: TaskFiber): Unit =
    synchronized(inners -= inner): Unit
    try inner.pull.close(fiber, Pull.succeeded)
    finally giveRoom()

  private val takeRoom: Task[Unit] = new Suspend[Unit]:
    def begin(fiber: TaskFiber): Any = ParJoinStage.this.synchronized {
      if room > 0 then room -= 1
      else
        val waiter = Waiter(fiber)
        waitingForRoom = waiter
        waiter
    }

  /** A waiter is cancelled only when the stage closes, and after that no fiber takes room. */
  private def giveRoom(): Unit = synchronized {
    val waiter = waitingForRoom
    waitingForRoom = null
    if waiter eq null then room += 1 else waiter.complete(()): Unit
  }

  private def runOuter(fiber: TaskFiber): Unit =
    try
      var going = true
      while going do
        fiber.await(takeRoom)
        val value = outer.next(fiber)
        if Pull.isEnd(value) then going = false
        else start(value.asInstanceOf[Stream[Any]], fiber)
      buffer.force(Pull.End, fiber)
    catch
      case CancelSignal =>
        buffer.force(Producer.canceled, fiber)
        throw CancelSignal
      case error: Throwable => buffer.force(Producer.failed(error, fiber), fiber)

  private def start(stream: Stream[Any], fiber: TaskFiber): Unit =
    val inner = Inner(stream.open())
    synchronized {
      inners.addOne(inner) // first: `close` has to find the fiber
      if !isClosing then
        inner.fiber = fiber.fork(DirectCode(Producer.run(inner.pull, buffer, inner, Long.MaxValue)))
    }

  override private[stream] def takeReady(limit: Int): Ready | Null = buffer.takeReady(limit)

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    Pull.both(
      Pull.both(closeInners(fiber, outcome), keepErrors(fiber, outcome)),
      outer.close(fiber, outcome)
    )

  /** Cancels the fibers and does not wait for them. No inner stream begins after that. `close` must
    * follow.
    */
  private[stream] def requestCancel(): Unit =
    val begun = synchronized {
      isClosing = true
      inners.toList
    }
    begun.foreach(inner => if inner.fiber ne null then inner.fiber.nn.requestCancel())
    val running = outerFiber
    if running ne null then running.requestCancel()

  /** Each inner stream is closed by a fiber of its own, as soon as the fiber that pulls it has
    * ended. One after the other would not do: what its finalizer gives back may be what another
    * inner stream, or the outer one, waits for, masked.
    */
  private def closeInners(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    requestCancel()
    val begun = synchronized(inners.toList)
    val running = outerFiber
    val closers = begun.map(inner => fiber.fork(closer(inner, outcome)))
    if running ne null then fiber.await(running.join): Unit
    val late = synchronized {
      val late = inners.drop(begun.size).toList
      inners.clear()
      late
    }
    fiber.await(
      Finalizers.join(closers ++ late.map(inner => fiber.fork(closer(inner, outcome))))
    )

  private def closer(inner: Inner, outcome: Outcome[Unit]): Task[Any] =
    val close = DirectCode(inner.pull.close(_, outcome))
    val pulling = inner.fiber
    Uncancelable(_ => if pulling eq null then close else pulling.join.flatMap(_ => close))

  private def keepErrors(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val kept =
      java.util.Collections.newSetFromMap(java.util.IdentityHashMap[Throwable, java.lang.Boolean]())
    buffer.untaken.foreach {
      case failed: Producer.Failed =>
        if kept.add(failed.error) then Producer.keepError(failed, fiber, outcome)
      case _ => ()
    }

private[weir] object ParJoinStage:
  inline val bufferSize = 64

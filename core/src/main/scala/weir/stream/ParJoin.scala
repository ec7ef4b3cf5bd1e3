package weir.stream

import scala.collection.mutable.ArrayBuffer
import weir.kernel.{CancelSignal, Direct, RunLoop, Suspend, Uncancelable, Waiter}
import weir.task.Finalizers
import weir.{Outcome, Stream, Task}

/** The elements of many streams as they come, of at most `limit` streams at a time.
  *
  * A fiber pulls the outer stream, one more runs each inner stream, and all put into one buffer of 64
  * places. The end of an inner stream is a message in that buffer too: so the consumer, who closes it, has used all of its
  * elements by then.
  */
private[weir] final class ParJoinStage(outer: Pull, limit: Int) extends Pull:
  private val buffer = Buffer(ParJoinStage.bufferSize, null)

  // consumer only
  private var ended = false
  private var outerEnded = false

  // the fiber of the outer stream, then the consumer
  private var outerFiber: RunLoop | Null = null

  // shared, under this object's lock
  private val inners = ArrayBuffer[Inner]()
  private var room = limit

  /** Nothing is begun any more. */
  private var isClosing = false
  private var waitingForRoom: Waiter | Null = null

  private final class Inner(val pull: Pull):
    /** Null if the stage was closing by then. */
    var fiber: RunLoop | Null = null

  def next(fiber: RunLoop): Any =
    if outerFiber eq null then outerFiber = fiber.fork(Direct(runOuter))
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

  private def finish(inner: Inner, fiber: RunLoop): Unit =
    synchronized(inners -= inner): Unit
    try inner.pull.close(fiber, Pull.succeeded)
    finally giveRoom()

  private val takeRoom: Task[Unit] = new Suspend[Unit]:
    def begin(fiber: RunLoop): Any = ParJoinStage.this.synchronized {
      if room > 0 then room -= 1
      else
        val waiter = Waiter(fiber)
        waitingForRoom = waiter
        waiter
    }

  private def giveRoom(): Unit = synchronized {
    val waiter = waitingForRoom
    waitingForRoom = null
    if (waiter eq null) || !waiter.complete(()) then room += 1
  }

  private def runOuter(fiber: RunLoop): Unit =
    try
      var going = true
      while going do
        fiber.await(takeRoom)
        val value = outer.next(fiber)
        if Pull.isEnd(value) then going = false
        else start(value.asInstanceOf[Stream[Any]], fiber)
      buffer.force(Pull.End)
    catch
      case CancelSignal =>
        buffer.force(Producer.canceled)
        throw CancelSignal
      case error: Throwable => buffer.force(Producer.failed(error, fiber))

  private def start(stream: Stream[Any], fiber: RunLoop): Unit =
    val inner = Inner(stream.open())
    synchronized {
      if !isClosing then
        inner.fiber = fiber.fork(Direct(Producer.run(inner.pull, buffer, inner, Long.MaxValue)))
      inners.addOne(inner): Unit
    }

  def close(fiber: RunLoop, outcome: Outcome[Unit]): Unit =
    Pull.both(
      Pull.both(closeInners(fiber, outcome), keepErrors(fiber, outcome)),
      outer.close(fiber, outcome)
    )

  /** Each inner stream is closed by a fiber of its own, as soon as the one that pulls it has ended: what its finalizer gives back may be
    * what another inner stream, or the outer one, waits for, masked.
    */
  private def closeInners(fiber: RunLoop, outcome: Outcome[Unit]): Unit =
    val begun = synchronized {
      isClosing = true
      inners.toList
    }
    begun.foreach(_.fiber.nn.requestCancel())
    val running = outerFiber
    if running ne null then running.requestCancel()
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
    val close = Direct(inner.pull.close(_, outcome))
    val pulling = inner.fiber
    Uncancelable(_ => if pulling eq null then close else pulling.join.flatMap(_ => close))

  private def keepErrors(fiber: RunLoop, outcome: Outcome[Unit]): Unit =
    val kept =
      java.util.Collections.newSetFromMap(java.util.IdentityHashMap[Throwable, java.lang.Boolean]())
    buffer.untaken.foreach {
      case failed: Producer.Failed =>
        if kept.add(failed.error) then Producer.keepError(failed, fiber, outcome)
      case _ => ()
    }

private[weir] object ParJoinStage:
  inline val bufferSize = 64

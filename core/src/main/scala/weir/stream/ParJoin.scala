package weir.stream

import scala.annotation.tailrec
import scala.collection.mutable.ArrayBuffer
import weir.fiber.{DirectCode, Suspend, TaskFiber, Uncancelable}
import weir.group.Finalizers
import weir.{Outcome, Stream, Task}

/** Emits the elements of many streams as they arrive, of at most `limit` streams at a time.
  * `parJoin`, `merge`.
  *
  * One fiber pulls the outer stream, and one more pulls each inner stream. All put into one buffer.
  * The end of an inner stream is a message in that buffer too. So the consumer, which closes the
  * inner stream, has used all of its elements by then.
  */
private[weir] final class ParJoinStage(outer: Pull, limit: Int) extends ConcurrentStage:
  private val buffer = Buffer(ParJoinStage.bufferSize, null)

  // consumer only
  private var outerEnded = false

  // shared, under this object's monitor, since a fiber is forked under it
  private val inners = ArrayBuffer[Inner]()

  /** True if no further inner stream begins. */
  private var isClosing = false

  // shared, under `lock`
  private val lock = StageLock()
  private val waitsForRoom = WaitSlot(lock)
  private var room = limit

  /** An inner stream. The fiber that pulls it has not begun if the stage was closing by then. */
  private final class Inner(val pull: Pull):
    val producer: ProducerFiber = BufferProducer(pull, buffer, end = this)

  @transient private val outerProducer: ProducerFiber = new ProducerFiber:
    protected def work(fiber: TaskFiber): Boolean = startAll(fiber)
    protected def tell(terminal: Terminal, fiber: TaskFiber): Unit = buffer.force(terminal, fiber)

  def next(fiber: TaskFiber): Any = ask(fiber) {
    if !outerProducer.hasBegun then outerProducer.begin(fiber)
    takeJoined(fiber)
  }

  @tailrec
  private def takeJoined(fiber: TaskFiber): Any = buffer.take(fiber) match
    case Terminal.Ended =>
      outerEnded = true
      if isOver then Pull.End else takeJoined(fiber)
    case inner: Inner =>
      fiber.masked(finish(inner, fiber))
      if outerEnded && isOver then Pull.End else takeJoined(fiber)
    case value => value

  private def isOver: Boolean = synchronized(inners.isEmpty)

  private def finish(inner: Inner, fiber: TaskFiber): Unit =
    synchronized(inners -= inner): Unit
    try inner.pull.close(fiber, Pull.succeeded)
    finally
      lock.locked(fiber) {
        room += 1
        waitsForRoom.wake()
      }

  private object TakeRoom extends Suspend[Any]:
    def begin(fiber: TaskFiber): Any = WaitSlot.lookOrWait(lock, waitsForRoom, fiber) {
      if room > 0 then room -= 1 else WaitSlot.Nothing
    }

  private def startAll(fiber: TaskFiber): Boolean =
    var value = nextStream(fiber)
    while !Pull.isEnd(value) do
      start(value.asInstanceOf[Stream[Any]], fiber)
      value = nextStream(fiber)
    true

  private def nextStream(fiber: TaskFiber): Any =
    WaitSlot.repeat(fiber.await(TakeRoom)): Unit
    outer.next(fiber)

  private def start(stream: Stream[Any], fiber: TaskFiber): Unit =
    val inner = Inner(stream.open())
    synchronized {
      inners.addOne(inner) // first: `close` has to find the fiber
      if !isClosing then inner.producer.begin(fiber)
    }

  override private[stream] def takeReady(limit: Int): Chunk | Null = buffer.takeReady(limit)

  protected def closeStage(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
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
    begun.foreach(_.producer.requestCancel())
    outerProducer.requestCancel()

  /** Closes each inner stream by a fiber of its own, as soon as the fiber that pulls it has ended.
    * Closing them one after the other would not do: another inner stream, or the outer one, may
    * wait, masked, for a resource that a finalizer returns.
    */
  private def closeInners(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    requestCancel()
    val begun = synchronized(inners.toList)
    val closers = begun.map(inner => fiber.fork(closer(inner, outcome)))
    outerProducer.join(fiber)
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
    Uncancelable(_ => inner.producer.whenEnded(close))

  private def keepErrors(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val kept =
      java.util.Collections.newSetFromMap(java.util.IdentityHashMap[Throwable, java.lang.Boolean]())
    Terminal.keepAll(buffer.untaken) {
      case failed: Terminal.Failed => if kept.add(failed.error) then keep(failed, fiber, outcome)
      case _ => ()
    }

private[weir] object ParJoinStage:
  inline val bufferSize = 64

package weir.stream

import weir.fiber.{CancelSelf, CancelSignal, DirectBlock, DirectCode, Suspend, TaskFiber}
import weir.fiber.{WaitList, Waiter}
import weir.{Outcome, Stream, Task}

/** The elements that code of a `Task.direct` emits on a fiber of its own: `Stream.direct`.
  *
  * The code and the consumer take turns. `emit` delivers its element and waits until the consumer
  * asks for the next one; so nothing is made ahead. Fibers that the code waits for may emit as
  * well: their elements wait in line.
  *
  * {{{
  * emit: in line --the consumer asks--> delivered --it asks again--> returns
  * code: running --it ends, fails--> ended;  --close--> closing, and cancelled
  * }}}
  *
  *   - **Shared, under this object's lock**: `line`, `delivered`, `consumer`, `ending`,
  *     `isClosing`.
  *   - **The race we fear**: the consumer waits and an element is in line. Both `Ask` and `Emit`
  *     look and begin to wait in one critical section: if the consumer waits, the line was empty,
  *     and the next `Emit` delivers to it. A consumer that was cancelled meanwhile does not take
  *     the element, which stays in line; `close` follows.
  *   - **After `close` has begun** nobody takes an element. So each `emit` that waits, or comes
  *     later, cancels its own fiber; where that is masked, it returns at once.
  */
private[weir] final class EmitterSource(body: Stream.Emitter[Any] => DirectBlock ?=> Unit)
    extends Pull:
  import EmitterSource.*

  // consumer only
  private var code: TaskFiber | Null = null
  private var ended = false

  // shared, under this object's lock
  private val line = WaitList()
  private var delivered: Entry | Null = null
  private var consumer: Waiter | Null = null
  private var ending: Any = Running
  private var isClosing = false

  override def hasFibers: Boolean = true

  def next(fiber: TaskFiber): Any =
    if ended then Pull.End
    else
      fiber.checkpoint()
      if code eq null then code = fiber.fork(DirectCode(run))
      Observation.awaitInput(fiber, Ask) match
        case Pull.End =>
          ended = true
          Pull.End
        case failed: Producer.Failed =>
          ended = true
          synchronized { ending = Pull.End } // it has been delivered: `close` need not keep it
          failed.rethrow(fiber)
        case value => value

  private object emitter extends Stream.Emitter[Any]:
    def apply(value: Any)(using direct: Task.Direct): Unit = direct.await(Emit(value)) match
      case Answer.Taken => ()
      case Answer.Closing => direct.await(CancelSelf): Unit
      case Answer.Ended =>
        throw IllegalStateException(
          "Stream.direct: emit was called after the block had ended, by a fiber that it has not " +
            "waited for. Join what the block forks, or let a group or a supervisor wait for it."
        )

  private def run(fiber: TaskFiber): Unit =
    try
      fiber.await(DirectBlock.runApart(body(emitter)))
      end(Pull.End)
    catch
      case CancelSignal =>
        end(Producer.canceled)
        throw CancelSignal
      case error: Throwable => end(Producer.failed(error, fiber))

  /** What is in line still comes before the end. */
  private def end(message: Any): Unit = synchronized {
    ending = message
    val waiting = consumer
    consumer = null
    if waiting ne null then waiting.complete(message): Unit
  }

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val running = code
    if running ne null then
      synchronized { isClosing = true }
      running.requestCancel()
      releaseAll()
      fiber.await(running.cancel)
      Producer.keepError(ending, fiber, outcome)

  /** Of a fiber that is cancelled already, the entry is not in the line any more. */
  private def releaseAll(): Unit = synchronized {
    resumeEmitter(Answer.Closing)
    var entry = line.poll()
    while entry ne null do
      entry.complete(Answer.Closing): Unit
      entry = line.poll()
  }

  private def resumeEmitter(answer: Answer): Unit =
    val last = delivered
    delivered = null
    if last ne null then last.complete(answer): Unit

  private final class Entry(fiber: TaskFiber, val element: Any)
      extends WaitList.Entry(fiber, line, EmitterSource.this)

  private object Ask extends Suspend[Any]:
    def begin(fiber: TaskFiber): Any = EmitterSource.this.synchronized {
      resumeEmitter(Answer.Taken)
      line.poll() match
        case entry: Entry =>
          delivered = entry
          entry.element
        case _ if ending.asInstanceOf[AnyRef] ne Running => ending
        case _ =>
          val waiter = Waiter(fiber)
          consumer = waiter
          waiter
    }

  private final class Emit(value: Any) extends Suspend[Answer]:
    def begin(fiber: TaskFiber): Any = EmitterSource.this.synchronized {
      if ending.asInstanceOf[AnyRef] ne Running then Answer.Ended
      else if isClosing then Answer.Closing
      else
        val entry = Entry(fiber, value)
        val waiting = consumer
        consumer = null
        if (waiting ne null) && waiting.complete(value) then delivered = entry else line.add(entry)
        entry
    }

private[weir] object EmitterSource:
  /** The code has not ended. */
  private object Running

  enum Answer:
    case Taken, Closing, Ended

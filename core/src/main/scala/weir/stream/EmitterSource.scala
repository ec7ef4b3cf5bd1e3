package weir.stream

import weir.fiber.{CancelSelf, DirectBlock, Suspend, TaskFiber, WaitList}
import weir.sync.GuardedEntry
import weir.{Outcome, Stream, Task}

/** Emits the elements that code of a `Task.direct` emits on a fiber of its own: `Stream.direct`.
  *
  * The code and the consumer take turns. `emit` delivers its element and waits until the consumer
  * asks for the next one; so no element is made ahead of demand. Fibers that the code waits for may
  * emit as well: their elements wait in line.
  *
  * {{{
  * emit: in line --the consumer asks--> delivered --it asks again--> returns
  * code: running --it ends, fails--> ended;  --close--> closing, and cancelled
  * }}}
  *
  *   - **Shared, under `lock`**: `line`, `delivered`, `consumer`, `ending`, `isClosing`.
  *   - **The race we fear**: the consumer waits and an element is in line. Both `Ask` and `Emit`
  *     look and begin to wait in one critical section: if the consumer waits, the line was empty,
  *     and the next `Emit` delivers to it. A consumer that was cancelled meanwhile does not take
  *     the element, which stays in line; `close` follows.
  *   - **After `close` has begun**, nobody takes an element. So each `emit` that waits, or comes
  *     later, cancels its own fiber; if that is masked, it returns at once.
  */
private[weir] final class EmitterSource(body: Stream.Emitter[Any] => DirectBlock ?=> Unit)
    extends ConcurrentStage:
  import EmitterSource.*

  // shared, under `lock`
  private val lock = StageLock()
  private val consumer = WaitSlot(lock)
  private val line = WaitList()
  private var delivered: Entry | Null = null
  private var ending: Terminal | Null = null
  private var isClosing = false

  @transient private val code: ProducerFiber = new ProducerFiber:
    protected def work(fiber: TaskFiber): Boolean =
      fiber.await(DirectBlock.runApart(body(emitter)))
      true

    /** Ends the code. Elements in line still come before the end. */
    protected def tell(terminal: Terminal, fiber: TaskFiber): Unit = lock.locked(fiber) {
      ending = terminal
      consumer.give(terminal): Unit
    }

  def next(fiber: TaskFiber): Any = ask(fiber) {
    if !code.hasBegun then code.begin(fiber)
    Observation.awaitInput(fiber, Ask)
  }

  private object emitter extends Stream.Emitter[Any]:
    def apply(value: Any)(using direct: Task.Direct): Unit = direct.await(Emit(value)) match
      case Answer.Taken => ()
      case Answer.Closing => direct.await(CancelSelf): Unit
      case Answer.Ended =>
        throw IllegalStateException(
          "Stream.direct: emit was called after the block had ended, by a fiber for which the " +
            "block did not wait. Join the fibers that the block starts, or fork them into a Scope."
        )

  protected def closeStage(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    if code.hasBegun then
      lock.locked(fiber) { isClosing = true }
      code.requestCancel()
      releaseAll(fiber)
      code.stop(fiber)
      keep(ending, fiber, outcome)

  /** Releases all emitters. The entry of a fiber that is cancelled already is not in the line any
    * more.
    */
  private def releaseAll(fiber: TaskFiber): Unit = lock.locked(fiber) {
    resumeEmitter(Answer.Closing)
    var entry = line.poll()
    while entry ne null do
      lock.hand(entry, Answer.Closing): Unit
      entry = line.poll()
  }

  private def resumeEmitter(answer: Answer): Unit =
    val last = delivered
    delivered = null
    if last ne null then lock.hand(last, answer): Unit

  private final class Entry(fiber: TaskFiber, val element: Any)
      extends GuardedEntry(fiber, line, lock)

  private object Ask extends Suspend[Any]:
    def begin(fiber: TaskFiber): Any = lock.locked(fiber) {
      resumeEmitter(Answer.Taken)
      line.poll() match
        case entry: Entry =>
          delivered = entry
          entry.element
        case _ if ending ne null => ending
        case _ => consumer.enter(fiber)
    }

  private final class Emit(value: Any) extends Suspend[Answer]:
    def begin(fiber: TaskFiber): Any = lock.locked(fiber) {
      if ending ne null then Answer.Ended
      else if isClosing then Answer.Closing
      else
        val entry = Entry(fiber, value)
        if consumer.give(value) then delivered = entry else line.add(entry)
        entry
    }

private[weir] object EmitterSource:
  enum Answer:
    case Taken, Closing, Ended

package weir.stream

import java.util.ArrayDeque
import weir.fiber.{Awaited, Suspend, TaskFiber}
import weir.{BufferOverflow, Overflow, Stream, Task}

/** The buffer of `Stream.async`: the elements that callbacks have passed and the stream has not
  * taken.
  *
  * A consumer looks and begins to wait in one critical section, and looks again once it is woken:
  * see `WaitSlot`.
  */
private[weir] final class CallbackBuffer[A](bound: Int, overflow: Overflow)
    extends Stream.Emit[A],
      Awaited:
  import CallbackBuffer.*

  // under the lock
  private val lock = StageLock()
  private val consumer = WaitSlot(lock, outside = this)
  private val elements = ArrayDeque[Any]()
  private var ending: Terminal | Null = null

  private[weir] def awaitedAs: String = "Stream.async, whose callbacks have passed nothing more"

  def apply(value: A): Boolean = lock.lockedOutside {
    consumer.wake()
    if ending ne null then false
    else
      val isFull = elements.size == bound
      if isFull && overflow == Overflow.DropOldest then elements.removeFirst(): Unit
      val accepted = !isFull || overflow == Overflow.DropOldest
      if accepted then elements.addLast(boxed(value))
      else if overflow == Overflow.Fail then
        ending = Terminal.Failed(BufferOverflow("Stream.async", bound))
      accepted
  }

  def end(): Unit = endWith(Terminal.Ended)
  def fail(error: Throwable): Unit = endWith(Terminal.Failed(error))

  private def endWith(terminal: Terminal): Unit = lock.lockedOutside {
    if ending eq null then ending = terminal
    consumer.wake()
  }

  /** Drops the elements and refuses later ones, since the stream is over. */
  def discard(): Unit = lock.lockedOutside {
    ending = Terminal.Ended
    elements.clear()
  }

  /** Takes the next element, or `Pull.End`. */
  val next: Task[Any] = Look.flatMap {
    case WaitSlot.Nothing => next
    case Terminal.Failed(error) => Task.fail(error)
    case value => Task.pure(value)
  }

  private object Look extends Suspend[Any]:
    def begin(fiber: TaskFiber): Any = WaitSlot.lookOrWait(lock, consumer, fiber) {
      if !elements.isEmpty then unboxed(elements.removeFirst())
      else if ending ne null then ending
      else WaitSlot.Nothing
    }

private[weir] object CallbackBuffer:
  /** Stands for null, which the deque refuses. */
  private object Null

  def boxed(value: Any): Any = if value.asInstanceOf[AnyRef] eq null then Null else value
  def unboxed(value: Any): Any = if value.asInstanceOf[AnyRef] eq Null then null else value

package weir.stream

import java.util.ArrayDeque
import weir.fiber.{Suspend, TaskFiber, Waiter}
import weir.{BufferOverflow, Overflow, Stream, Task}

/** The buffer of `Stream.async`: the elements that callbacks have passed and the stream has not
  * taken.
  *
  * A consumer that waits is only told that the buffer may have changed, and looks again: so a
  * cancelled wait loses no element. It looks and begins to wait in one critical section: so no
  * callback comes between the two.
  */
private[weir] final class CallbackBuffer[A](bound: Int, overflow: Overflow) extends Stream.Emit[A]:
  import CallbackBuffer.*

  // under this object's lock
  private val elements = ArrayDeque[Any]()
  private var ending: Ending | Null = null
  private var consumer: Waiter | Null = null

  def apply(value: A): Boolean = wakeAfter {
    if ending ne null then false
    else
      val isFull = elements.size == bound
      if isFull && overflow == Overflow.DropOldest then elements.removeFirst(): Unit
      val accepted = !isFull || overflow == Overflow.DropOldest
      if accepted then elements.addLast(boxed(value))
      else if overflow == Overflow.Fail then ending = Ending(BufferOverflow("Stream.async", bound))
      accepted
  }

  def end(): Unit = endWith(null)
  def fail(error: Throwable): Unit = endWith(error)

  /** Drops the elements and refuses later ones, since the stream is over. */
  def discard(): Unit = synchronized {
    ending = Ending(null)
    elements.clear()
  }

  private def endWith(error: Throwable | Null): Unit =
    wakeAfter { if ending eq null then ending = Ending(error) }

  private def wakeAfter[R](change: => R): R =
    var waiting: Waiter | Null = null
    val result = synchronized {
      val result = change
      waiting = consumer
      consumer = null
      result
    }
    if waiting ne null then waiting.nn.complete(Changed): Unit
    result

  /** Takes the next element, or `Pull.End`. */
  val next: Task[Any] = Look.flatMap {
    case Changed => next
    case Ending(null) => Task.pure(Pull.End)
    case Ending(error: Throwable) => Task.fail(error)
    case value => Task.pure(value)
  }

  private object Look extends Suspend[Any]:
    def begin(fiber: TaskFiber): Any = CallbackBuffer.this.synchronized {
      if !elements.isEmpty then unboxed(elements.removeFirst())
      else if ending ne null then ending
      else
        val waiter = Waiter(fiber)
        fiber.runtime.waitsOutside(waiter)
        consumer = waiter
        waiter
    }

private[weir] object CallbackBuffer:
  /** The buffer may have changed. */
  private object Changed

  /** The end of the stream by a callback. */
  private final case class Ending(error: Throwable | Null)

  /** Stands for null, which the deque refuses. */
  private object Null

  def boxed(value: Any): Any = if value.asInstanceOf[AnyRef] eq null then Null else value
  def unboxed(value: Any): Any = if value.asInstanceOf[AnyRef] eq Null then null else value

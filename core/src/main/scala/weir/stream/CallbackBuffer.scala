package weir.stream

import java.util.ArrayDeque
import weir.{BufferOverflow, Overflow, Stream, Task}

/** The elements that callbacks have given and the stream has not taken, of `Stream.async`.
  *
  * A consumer that waits is told that there may be something, and looks again: so a cancelled wait
  * loses no element.
  */
private[weir] final class CallbackBuffer[A](bound: Int, overflow: Overflow) extends Stream.Emit[A]:
  import CallbackBuffer.*

  // under this object's lock
  private val elements = ArrayDeque[Any]()
  private var ending: Ending | Null = null
  private var waiter: Wake | Null = null

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
    var wake: Wake | Null = null
    val result = synchronized {
      val result = change
      wake = waiter
      waiter = null
      result
    }
    if wake ne null then wake.nn(Right(()))
    result

  /** The next element, or `Pull.End`. */
  val next: Task[Any] = Task.defer {
    synchronized {
      if !elements.isEmpty then Task.pure(unboxed(elements.removeFirst()))
      else if ending eq null then null
      else
        ending.nn.error match
          case null => Task.pure(Pull.End)
          case error: Throwable => Task.fail(error)
    } match
      case null => changed.flatMap(_ => next)
      case task: Task[Any] => task
  }

  private def changed: Task[Unit] = Task.async { wake =>
    val isReady = synchronized {
      val isReady = !elements.isEmpty || (ending ne null)
      if !isReady then waiter = wake
      isReady
    }
    if isReady then wake(Right(()))
  }

private[weir] object CallbackBuffer:
  type Wake = Either[Throwable, Unit] => Unit

  /** How the callbacks have ended the stream. */
  final class Ending(val error: Throwable | Null)

  /** In place of null, which the deque refuses. */
  private object Null

  def boxed(value: Any): Any = if value.asInstanceOf[AnyRef] eq null then Null else value
  def unboxed(value: Any): Any = if value.asInstanceOf[AnyRef] eq Null then null else value

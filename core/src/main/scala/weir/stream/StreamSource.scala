package weir.stream

import java.util.NoSuchElementException
import weir.fiber.{CancelSignal, DirectCode, TaskFiber}
import weir.io.Source
import weir.{Mutex, Outcome, Resource, Stream, Task}

/** One run of a stream, whose elements are asked for one by one: `toSource`, `uncons`,
  * `toIterator`.
  *
  * Fibers that share it take turns, and so does the release: a pull belongs to one fiber at a time.
  * After an error, or a cancel within a pull, the pull can only be closed.
  */
private[weir] final class StreamSource[A] private (pull: Pull) extends Source[A]:
  private val turn = Mutex.unsafe()

  /** The reason why there is no next element. Under `turn`. */
  private var over: () => Throwable = StreamSource.notOver

  /** Takes the next element, or `Pull.End`. */
  val take: Task[Any] = turn.withLock(DirectCode(next))

  def next()(using Task.Direct): A | Source.End =
    val value = take.await
    if Pull.isEnd(value) then Source.End else value.asInstanceOf[A]

  private def next(fiber: TaskFiber): Any =
    if over ne StreamSource.notOver then throw over()
    try pull.next(fiber)
    catch
      case CancelSignal =>
        over = () => StreamSource.canceled()
        throw CancelSignal
      case error: Throwable =>
        over = () => error
        throw error

  private def close(outcome: Outcome[Unit]): Task[Unit] = turn.withLock(DirectCode { fiber =>
    over = () => StreamSource.released()
    pull.close(fiber, outcome)
  })

private[weir] object StreamSource:
  private val notOver: () => Throwable = () => AssertionError()

  private def canceled() = IllegalStateException(
    "A fiber was cancelled while it took an element of this stream, which has ended the stream. " +
      "To stop a wait without that, let another fiber take the element, and do not cancel it."
  )

  private def released() = IllegalStateException(
    "The resource of this source has been released, which has closed its stream. Use the source " +
      "only inside of `use`."
  )

  def apply[A](stream: Stream[A]): Resource[StreamSource[A]] =
    Resource.makeCase(Task.delay(new StreamSource[A](stream.open())))((source, outcome) =>
      source.close(outcome)
    )

  def uncons[A](stream: Stream[A]): Resource[Option[(A, Stream[A])]] =
    apply(stream).evalMap(source =>
      source.take.map(value =>
        Option.when(!Pull.isEnd(value)) {
          val rest = Stream.fromSource(Task.pure(source))
          (value.asInstanceOf[A], rest)
        }
      )
    )

  def iterator[A](stream: Stream[A]): Resource[Iterator[A]] =
    apply(stream).evalMap(source => Task.onRuntime(Elements(source, _)))

  /** Runs the stream on the calling thread, which it blocks, from element to element. */
  private final class Elements[A](source: StreamSource[A], runtime: weir.WeirRuntime)
      extends Iterator[A]:
    private var value: Any = StreamSource

    def hasNext: Boolean =
      if value.asInstanceOf[AnyRef] eq StreamSource then
        value = source.take.runSync()(using runtime)
      !Pull.isEnd(value)

    def next(): A =
      if !hasNext then throw NoSuchElementException("The stream has no more elements.")
      val taken = value
      value = StreamSource
      taken.asInstanceOf[A]

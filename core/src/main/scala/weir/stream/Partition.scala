package weir.stream

import java.util.concurrent.atomic.AtomicInteger
import weir.fiber.DirectCode
import weir.{Channel, Outcome, Resource, Stream, Task}

/** Two streams over one that runs on a fiber of its own, the feeder: `partition`.
  *
  * The feeder ends also when both streams are over. The source is closed with the resource, not by
  * the feeder: its last elements are used after that has ended. An error of the source comes
  * through both channels, after the elements before it. If no stream has reached it, it is kept at
  * the release: see `Terminal.keep`.
  */
private[weir] final class Partition[A] private ():
  import Partition.bufferSize

  private val first, second = Channel.unsafe[A](bufferSize)

  // shared
  private val over = AtomicInteger()
  @volatile private var failure: Throwable | Null = null
  @volatile private var failureSeen = false

  private def feed(source: Stream[A], isFirst: A => Boolean): Task[Unit] =
    source
      .evalMap(a => (if isFirst(a) then first else second).sendOrClosed(a))
      .takeWhile(_ => over.get < 2)
      .drain
      .guaranteeCase {
        case Outcome.Succeeded(_) => close(Channel.Closed.Done)
        case Outcome.Failed(error) =>
          Task { failure = error }.andThen(close(Channel.Closed.Failed(error)))
        case Outcome.Canceled => close(Channel.Closed.Failed(Terminal.canceled.error))
      }

  private def close(how: Channel.Closed): Task[Unit] =
    Task(List(first, second).foreach(_.closeNow(how): Unit))

  /** Returns the stream of a channel. A stream that is over takes no more elements. */
  private def of(channel: Channel[A]): Stream[A] =
    channel.stream
      .onError { case error if error eq failure => Task { failureSeen = true } }
      .onFinalize(Task(if channel.closeNow(Partition.isOver) then over.incrementAndGet(): Unit))

  private def release(outcome: Outcome[Unit]): Task[Unit] =
    close(Channel.Closed.Failed(Terminal.canceled.error)).andThen(DirectCode { fiber =>
      val error = failure
      if (error ne null) && !failureSeen then Terminal.Failed(error).keep(fiber, outcome)
    })

private[weir] object Partition:
  inline val bufferSize = 16

  /** The end of a stream that is over while the source continues. */
  private def isOver = Channel.Closed.Failed(
    IllegalStateException(
      "Stream.partition: this stream is over. Run each of the two streams only once."
    )
  )

  def apply[A](
      source: Stream[A],
      isFirst: A => Boolean
  ): Resource[(Stream[A], Stream[A])] =
    for
      halves <- Resource.makeCase(Task(new Partition[A]()))(_.release(_))
      run <- StreamSource(source)
      _ <- halves.feed(Stream.fromSource(Task.pure(run)), isFirst).attempt.background
    yield (halves.of(halves.first), halves.of(halves.second))

package weir.stream

import weir.{Channel, Outcome, Resource, Stream, Task}

/** Two streams over one that runs on a fiber of its own: `partition`. */
private[weir] object Partition:
  inline val bufferSize = 16

  def apply[A](
      source: Stream[A],
      isFirst: A => Boolean
  ): Resource[(Stream[A], Stream[A])] =
    val channels = Task((Channel.unsafe[A](bufferSize), Channel.unsafe[A](bufferSize)))
    Resource.make(channels)(_ => Task.unit).flatMap { (first, second) =>
      val feed = source
        .evalMap(a => (if isFirst(a) then first else second).sendOrClosed(a))
        .drain
        .guaranteeCase {
          case Outcome.Succeeded(_) => first.close.andThen(second.close).void
          case Outcome.Failed(error) => close(first, second, error)
          case Outcome.Canceled => close(first, second, Producer.canceled.error)
        }
      feed.attempt.background.map(_ => (of(first), of(second)))
    }

  private def close[A](first: Channel[A], second: Channel[A], error: Throwable): Task[Unit] =
    first.closeWithError(error).andThen(second.closeWithError(error)).void

  /** A stream that is over takes no more. */
  private def of[A](channel: Channel[A]): Stream[A] = channel.stream.onFinalize(channel.close.void)

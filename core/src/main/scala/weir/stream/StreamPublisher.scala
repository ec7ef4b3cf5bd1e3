package weir.stream

import java.util.Objects
import java.util.concurrent.Flow
import weir.{Stream, WeirRuntime}

/** Runs `stream` anew for each subscriber: `Stream.toPublisher`. */
private[weir] final class StreamPublisher(stream: Stream[Any], runtime: WeirRuntime)
    extends Flow.Publisher[Any]:

  def subscribe(subscriber: Flow.Subscriber[? >: Any]): Unit =
    Objects.requireNonNull(subscriber, "Stream.toPublisher: the subscriber was null."): Unit
    StreamSubscription(
      "Stream.toPublisher",
      stream,
      subscriber,
      runtime,
      isAhead = false,
      atEnd = () => ()
    ).begin()

/** A pipe between one publisher and one subscriber: `Stream.processor`.
  *
  * The pipe runs once, from when there is a subscriber; elements are requested when the pipe first
  * asks for one. The pipe is asked for one element before that is requested: so an end or an error
  * comes through without a request.
  */
private[weir] final class StreamProcessor(
    pipe: Stream[Any] => Stream[Any],
    buffer: Int,
    runtime: WeirRuntime
) extends Flow.Processor[Any, Any]:
  import StreamProcessor.name
  private val input = PublisherInput(name, "the publisher before it", buffer)

  // shared, under this object's lock
  private var hasSubscriber = false

  private def stream: Stream[Any] =
    Stream.suspend(pipe(Stream.of(() => PublisherSource(input, _ => (), buffer))))

  def subscribe(subscriber: Flow.Subscriber[? >: Any]): Unit =
    Objects.requireNonNull(subscriber, s"$name: the subscriber was null."): Unit
    val isFirst = synchronized {
      val first = !hasSubscriber
      hasSubscriber = true
      first
    }
    StreamSubscription(
      name,
      if isFirst then stream else refused,
      subscriber,
      runtime,
      isAhead = true,
      // If a cancel comes before the pipe asks, or the pipe never does.
      atEnd = () => if isFirst then PublisherSource.cancel(input)
    ).begin()

  private def refused: Stream[Nothing] = Stream.fail(
    IllegalStateException(
      s"$name: it has a subscriber already. A processor has one, since its pipe runs once. For " +
        "several, share the elements: with broadcastThrough in the pipe, or a Topic."
    )
  )

  def onSubscribe(subscription: Flow.Subscription): Unit = input.onSubscribe(subscription)
  def onNext(element: Any): Unit = input.onNext(element)
  def onError(error: Throwable): Unit = input.onError(error)
  def onComplete(): Unit = input.onComplete()

private[weir] object StreamProcessor:
  private inline val name = "Stream.processor"

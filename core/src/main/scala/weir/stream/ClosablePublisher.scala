package weir.stream

import java.util.Objects
import java.util.concurrent.Flow
import weir.{Resource, Stream, Task, WeirRuntime}

/** As [[StreamPublisher]], until it is closed: `Stream.toPublisherResource`.
  *
  *   - **Shared**, under this object's lock: all fields, and those of runs.
  *   - **The race that we fear**: a run begins while the publisher is closed. It is entered after
  *     it has begun, so `close` may not find it. Then `enter` finds `isClosed`.
  *   - **Another race**: a run ends before it is entered. `hasEnded` keeps it out.
  */
private[weir] final class ClosablePublisher private (stream: Stream[Any], runtime: WeirRuntime)
    extends Flow.Publisher[Any]:
  import ClosablePublisher.*

  private var runs = Set.empty[Run]
  private var isClosed = false

  def subscribe(subscriber: Flow.Subscriber[? >: Any]): Unit =
    Objects.requireNonNull(subscriber, s"$name: the subscriber was null."): Unit
    val run = Run()
    val isOpen = synchronized(!isClosed)
    val subscription = StreamSubscription(
      name,
      if isOpen then stream else Stream.fail(closed),
      subscriber,
      runtime,
      isAhead = false,
      atEnd = () => ended(run)
    )
    subscription.begin()
    if isOpen && !enter(run, subscription) then subscription.endWith(closed)

  /** Returns false if the publisher is closed. */
  private def enter(run: Run, subscription: StreamSubscription): Boolean = synchronized {
    if !isClosed && !run.hasEnded then
      run.subscription = subscription
      runs += run
    !isClosed
  }

  private def ended(run: Run): Unit = synchronized {
    run.hasEnded = true
    runs -= run
  }

  private def close(): Unit =
    val open = synchronized {
      isClosed = true
      val open = runs
      runs = Set.empty
      open
    }
    open.foreach(_.subscription.nn.endWith(closed))

private[weir] object ClosablePublisher:
  private inline val name = "Stream.toPublisherResource"
  private def closed = IllegalStateException(
    s"$name: the use of the publisher has ended. Subscribe, and read to the end, within it."
  )

  private final class Run:
    var subscription: StreamSubscription | Null = null
    var hasEnded = false

  def of(stream: Stream[Any], runtime: WeirRuntime): Resource[Flow.Publisher[Any]] =
    Resource.make(Task.delay(new ClosablePublisher(stream, runtime)))(publisher =>
      Task.delay(publisher.close())
    )

package weir.stream

import weir.fiber.{CancelSelf, TaskFiber}
import weir.sync.Receive
import weir.{Channel, Outcome, Stream}

/** Pipes over channels that one fiber, the feeder, fills with the elements of upstream, and then
  * closes: `broadcastThrough`, `balance`.
  *
  * An error of upstream comes through the channels, after the elements before it. If no pipe has
  * reached it, it is kept: see `Terminal.keep`.
  *
  *   - **The end**: a channel is closed with `Done` in only one place, where upstream has ended. So
  *     a pipe that sees an end may rely on it.
  *   - **Closing**: first the pipes are cancelled, then the feeder. Then the channels are closed
  *     with `FanOutStage.Stopped`, and only then does the stage wait for the pipes. That last close
  *     is for a fiber that waits for an element and that the cancel does not reach: a masked one,
  *     or one that a pipe has started, which is cancelled later or never. At `Stopped` it cancels
  *     itself, or fails if it is masked. After the pipes, upstream is closed.
  *   - **The race we fear**: the feeder is between two elements, or has not begun, while the stage
  *     closes. Whatever it does then, the channels are closed with `Stopped` or, if upstream has
  *     ended by itself, with its end.
  *
  * @param feed puts an element into channels, as the feeder; returns false once none takes any more
  * @param feedsReady true if `feed` takes a `Chunk`, too
  * @param make makes the pipes over the streams of the channels
  */
private[weir] final class FanOutStage(
    upstream: Pull,
    channels: Seq[Channel[Any]],
    feed: (Any, TaskFiber) => Boolean,
    feedsReady: Boolean,
    make: Seq[Stream[Any]] => Seq[Stream[Any]]
) extends Pull:
  import FanOutStage.{Ended, Stopped}

  @transient private val feeder: ProducerFiber = new ProducerFiber:
    protected def work(fiber: TaskFiber): Boolean = feedAll(fiber)
    protected def tell(terminal: Terminal, fiber: TaskFiber): Unit = tellPipes(terminal)

  // consumer only
  private var pipes: ParJoinStage | Null = null

  /** The error of upstream. It belongs to the feeder until that has ended. */
  private var failure: Terminal.Failed | Null = null

  // shared
  @volatile private var failureSeen = false
  @volatile private var isClosing = false

  override def hasFibers: Boolean = true

  def next(fiber: TaskFiber): Any =
    var joined = pipes
    if joined eq null then
      val streams = make(channels.map(channel => Stream.of(() => elementsOf(channel))))
      joined = ParJoinStage(Stream.fromIterable(streams).open(), streams.size)
      pipes = joined
      feeder.begin(fiber)
    joined.next(fiber)

  private def elementsOf(channel: Channel[Any]): Pull =
    UnchunkStage(Elements(Receive[Any](channel, Ended(_))), isShared = true)

  private final class Elements(receive: Receive[Any]) extends PlainSource:
    def next(fiber: TaskFiber): Any =
      fiber.checkpoint()
      fiber.await(receive) match
        case Ended(Channel.Closed.Done) => Pull.End
        case Ended(Channel.Closed.Failed(Stopped)) =>
          fiber.await(CancelSelf) // returns if the fiber is masked
          Terminal.Failed(Terminal.SelfCanceled(FanOutStage.stoppedMessage)).reach(fiber)
        case Ended(Channel.Closed.Failed(error)) =>
          failureSeen = true
          Terminal.Failed(error).reach(fiber)
        case value => value

  private def feedAll(fiber: TaskFiber): Boolean =
    var value = upstream.next(fiber)
    while !Pull.isEnd(value) && feed(value, fiber) && (!feedsReady || feedReady(fiber)) do
      value = upstream.next(fiber)
    Pull.isEnd(value)

  private def tellPipes(terminal: Terminal): Unit = terminal match
    case _: Terminal.Canceled if isClosing => closeAll(FanOutStage.stopped)
    case failed: Terminal.Failed =>
      failure = failed
      closeAll(Channel.Closed.Failed(failed.error))
    case Terminal.Ended => closeAll(Channel.Closed.Done)

  private def feedReady(fiber: TaskFiber): Boolean =
    val ready = upstream.takeReady(Chunk.most)
    (ready eq null) || feed(ready, fiber)

  /** Closes all channels. The first close of a channel counts. */
  private def closeAll(how: Channel.Closed): Unit = channels.foreach(_.closeNow(how): Unit)

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val unreached = Terminal.unreached(outcome) // a pipe may handle an error of upstream
    isClosing = true
    val joined = pipes
    // first: a cancelled feeder closes the channels
    if joined ne null then joined.requestCancel()
    feeder.requestCancel()
    closeAll(FanOutStage.stopped)
    Pull.both(
      Pull.both(
        if joined ne null then joined.close(fiber, outcome),
        feeder.join(fiber)
      ),
      Pull.both(
        upstream.close(fiber, unreached),
        if (failure ne null) && !failureSeen then failure.nn.keep(fiber, unreached)
      )
    )

private[weir] object FanOutStage:
  /** The largest number of elements that wait in the channel of each pipe, apart from those that
    * upstream had already.
    */
  inline val bufferSize = 16

  /** The message that a fiber receives at the end of a channel. It is never an element. */
  private final case class Ended(how: Channel.Closed)

  /** Closes a channel whose elements are not wanted any more, although upstream has not ended. */
  private object Stopped extends Throwable(null, null, false, false)

  private val stopped = Channel.Closed.Failed(Stopped)

  private val stoppedMessage =
    "The stage that this pipe belongs to has been closed: there are no more elements, and the " +
      "source has not ended. A masked fiber of the pipe waited for one. Wait for elements " +
      "outside of masks."

  private def send(channel: Channel[Any], value: Any, fiber: TaskFiber): Boolean =
    Observation.awaitRoom(fiber, channel.sendOrClosed(value)) match
      case _: Channel.Closed => false
      case _ => true

  /** Runs each of `pipes` over all elements. A pipe that has ended closes its channel, which then
    * takes no more.
    */
  def broadcast(upstream: Pull, pipes: Seq[Stream[Any] => Stream[Any]]): Pull =
    val channels = pipes.map(_ => Channel.unsafe[Any](bufferSize))
    FanOutStage(
      upstream,
      channels,
      (value, fiber) => channels.count(send(_, value, fiber)) > 0,
      feedsReady = true,
      sources =>
        pipes.indices.map { i =>
          pipes(i)(sources(i)).onFinalize(weir.Task(channels(i).closeNow(stopped): Unit))
        }
    )

  /** Runs each of `pipes` over the elements that it takes from one channel. */
  def balance(upstream: Pull, pipes: Seq[Stream[Any] => Stream[Any]]): Pull =
    val channel = Channel.unsafe[Any](0)
    FanOutStage(
      upstream,
      List(channel),
      send(channel, _, _),
      feedsReady = false, // the pipe that is free takes the next element
      sources => pipes.map(_(sources.head))
    )

package weir.stream

import weir.fiber.{CancelSignal, DirectCode, TaskFiber}
import weir.{Channel, Outcome, Stream}

/** A stream over channels that one fiber, the feeder, fills with the elements of upstream, and then
  * closes: `broadcastThrough`, `balance`.
  *
  * An error of upstream comes through the channels, after the elements before it. Where no stream
  * has come to it, it is kept: see `Producer.keepError`.
  *
  * On close the feeder is cancelled and the channels are closed, so that code that waits for an
  * element, masked, sees the end: the feeder cannot do that, where it had not begun yet. Then the
  * stream ends, then upstream is closed.
  *
  * @param feed puts an element into channels, as the feeder; false once none takes any more
  * @param feedsReady whether `feed` takes a `Ready`, too
  * @param make the stream over those of the channels
  */
private[weir] final class FedStage(
    upstream: Pull,
    channels: Seq[Channel[Any]],
    feed: (Any, TaskFiber) => Boolean,
    feedsReady: Boolean,
    make: Seq[Stream[Any]] => Stream[Any]
) extends Pull:
  // consumer only
  private var feeder: TaskFiber | Null = null
  private var downstream: Pull | Null = null

  /** The error of upstream. The feeder's until that has ended. */
  private var failure: Producer.Failed | Null = null

  // shared
  @volatile private var failureSeen = false

  override def hasFibers: Boolean = true

  def next(fiber: TaskFiber): Any =
    var pull = downstream
    if pull eq null then
      pull = make(channels.map(elementsOf)).open()
      downstream = pull
      feeder = fiber.fork(DirectCode(run))
    pull.next(fiber)

  private def elementsOf(channel: Channel[Any]): Stream[Any] =
    Stream.of(() => ReadyStage(channel.stream.open(), isShared = true)).handleErrorWith { error =>
      failureSeen = true
      Stream.fail(error)
    }

  private def run(fiber: TaskFiber): Unit =
    try
      var going = true
      while going do
        val value = upstream.next(fiber)
        going = !Pull.isEnd(value) && feed(value, fiber)
        val ready = if going && feedsReady then upstream.takeReady(Ready.most) else null
        if ready ne null then going = feed(ready, fiber)
      closeAll(Channel.Closed.Done)
    catch
      case CancelSignal =>
        closeAll(Channel.Closed.Failed(Producer.canceled.error)) // no effect if `close` was first
        throw CancelSignal
      case error: Throwable =>
        val failed = Producer.failed(error, fiber)
        failure = failed
        closeAll(Channel.Closed.Failed(failed.error))

  private def closeAll(how: Channel.Closed): Unit = channels.foreach(_.closeNow(how): Unit)

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val running = feeder
    closeAll(Channel.Closed.Done)
    if running ne null then running.requestCancel()
    Pull.both(
      Pull.both(
        if downstream ne null then downstream.nn.close(fiber, outcome),
        if running ne null then fiber.await(running.join): Unit
      ),
      Pull.both(
        upstream.close(fiber, outcome),
        if (failure ne null) && !failureSeen then Producer.keepError(failure, fiber, outcome)
      )
    )

private[weir] object FedStage:
  /** How many elements wait in the channel of each stream, at most, but for those that upstream had
    * already.
    */
  inline val bufferSize = 16

  private def send(channel: Channel[Any], value: Any, fiber: TaskFiber): Boolean =
    Observation.awaitRoom(fiber, channel.sendOrClosed(value)) match
      case _: Channel.Closed => false
      case _ => true

  /** Each of `pipes` over all elements. A pipe that has ended closes its channel, which then takes
    * no more.
    */
  def broadcast(upstream: Pull, pipes: Seq[Stream[Any] => Stream[Any]]): Pull =
    val channels = pipes.map(_ => Channel.unsafe[Any](bufferSize))
    FedStage(
      upstream,
      channels,
      (value, fiber) => channels.count(send(_, value, fiber)) > 0,
      feedsReady = true,
      sources =>
        joined(pipes.indices.map { i =>
          pipes(i)(sources(i)).onFinalize(channels(i).close.void)
        })
    )

  /** Each of `pipes` over the elements that it takes out of one channel. */
  def balance(upstream: Pull, pipes: Seq[Stream[Any] => Stream[Any]]): Pull =
    val channel = Channel.unsafe[Any](0)
    FedStage(
      upstream,
      List(channel),
      send(channel, _, _),
      feedsReady = false, // whichever stream is free takes the next element
      sources => joined(pipes.map(_(sources.head)))
    )

  private def joined(streams: Seq[Stream[Any]]): Stream[Any] =
    Stream.fromIterable(streams).parJoin[Any](streams.size)

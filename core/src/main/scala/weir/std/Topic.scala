package weir.std

import weir.{Channel, Mutex, Resource, Stream, Task}

/** Publishes values to every subscriber: each gets all values that are published while it is
  * subscribed, in the same order as all others.
  *
  * Each subscriber has a separate channel. Publishers take turns, which gives all subscribers the
  * same order.
  */
final class Topic[A] private (state: Signal[Topic.State[A]]):
  private val turn = Mutex.unsafe()

  /** Publishes `value`: returns true once every subscriber has it in its channel, or false if the
    * topic is closed. If the topic was closed meanwhile, some subscribers may have the value.
    *
    * **Waits** while the channel of a subscriber is full, and for publishers that came before.
    * **Cancelled** while it waits: some subscribers may have the value. **Order**: each subscriber
    * gets values in the order in which the publishers came.
    * {{{
    * def changed(topic: Topic[Config], config: Config): Task[Unit] =
    *   topic.publish(config).flatMap(isOpen => Task.unless(isOpen)(Task(log("closed"))))
    * }}}
    */
  def publish(value: A): Task[Boolean] =
    turn
      .withLock(
        state.get
          .flatMap(now => Task.foreach(now.channels)(channel => channel.sendOrClosed(value).void))
      )
      .andThen(state.get.map(!_.isClosed))

  /** Emits the values that are published after the first element is asked for, until the topic is
    * closed. Up to `bound` values wait for the consumer; then publishers wait too.
    *
    * **Waits** for a value. To be sure that no value is missed, use `subscription`. **Fails** with
    * the error that the topic was closed with.
    * {{{
    * def stored(topic: Topic[String]): Task[Unit] = topic.subscribe(100).evalForeach(store)
    * }}}
    */
  def subscribe(bound: Int): Stream[A] =
    Topic.requireBound("subscribe", bound)
    Stream.resource(subscription(bound)).flatMap(identity)

  /** Subscribes, and returns a stream of the values that are published from now on until the topic
    * is closed. Run the stream once. The values come to the channel of this subscriber until that
    * run is over or the resource is released. **Fails** with an `IllegalStateException` after that,
    * and with the error that the topic was closed with.
    * {{{
    * def answered(topic: Topic[String]): Task[Option[String]] =
    *   topic.subscription(10).use(values => topic.publish("question").flatMap(_ => values.head))
    * }}}
    */
  def subscription(bound: Int): Resource[Stream[A]] =
    Topic.requireBound("subscription", bound)
    Resource.make(Channel.bounded[A](bound).flatTap(enter))(leave).map(values)

  /** Closes the topic. Returns true if this call has closed it. Subscribers get the values that
    * were published before, then the end. If only one stream is published,
    * `stream.intoTopic(topic)` closes the topic.
    * {{{
    * def last(topic: Topic[String]): Task[Boolean] = topic.publish("end") >> topic.close
    * }}}
    */
  def close: Task[Boolean] = closeAs(Channel.Closed.Done)

  /** As `close`, but the streams of the subscribers fail with `error`, also those of later
    * subscribers.
    * {{{
    * def lost(topic: Topic[String]): Task[Boolean] =
    *   topic.closeWithError(IOException("the connection was lost"))
    * }}}
    */
  def closeWithError(error: Throwable): Task[Boolean] = closeAs(Channel.Closed.Failed(error))

  private def closeAs(how: Channel.Closed): Task[Boolean] = Task.uncancelable { _ =>
    state
      .modify(now => (Topic.State(Vector.empty, now.closed.orElse(Some(how))), now))
      .flatMap(before => Task.foreach(before.channels)(Topic.end(_, how)).as(!before.isClosed))
  }

  /** Emits the number of subscribers, and the latest number after each change.
    * {{{
    * def whenTwo(topic: Topic[String]): Task[Unit] =
    *   topic.subscribers.find(_ >= 2).flatMap(_ => topic.publish("begin")).void
    * }}}
    */
  def subscribers: Stream[Int] = state.discrete.map(_.channels.size).changes

  /** Returns the number of subscribers. */
  def subscriberCount: Task[Int] = state.get.map(_.channels.size)

  private def enter(channel: Channel[A]): Task[Unit] = state
    .modify { now =>
      if now.isClosed then (now, now.closed)
      else (now.copy(channels = now.channels :+ channel), None)
    }
    .flatMap(closed => Task.foreach(closed)(Topic.end(channel, _)))

  private def values(channel: Channel[A]): Stream[A] = channel.stream.onFinalize(leave(channel))

  /** Removes the channel and closes it, so that publishers no longer wait for it. It is closed with
    * an error, since the topic has not ended.
    */
  private def leave(channel: Channel[A]): Task[Unit] = state
    .update(now => now.copy(channels = now.channels.filterNot(_ eq channel)))
    .andThen(channel.closeWithError(Topic.left).void)

object Topic:
  private def requireBound(method: String, bound: Int): Unit =
    require(bound >= 1, s"Topic.$method: the bound was $bound. It must be at least 1.")

  private def left = IllegalStateException(
    "Topic.subscription: the subscription is over, since its stream has ended or its resource " +
      "was released. The topic goes on. Run the stream once, inside of `use`."
  )

  private final case class State[A](channels: Vector[Channel[A]], closed: Option[Channel.Closed]):
    def isClosed: Boolean = closed.nonEmpty

  private def end(channel: Channel[?], how: Channel.Closed): Task[Unit] = how match
    case Channel.Closed.Done => channel.close.void
    case Channel.Closed.Failed(error) => channel.closeWithError(error).void

  /** Returns a new topic without subscribers.
    * {{{
    * val seen = Topic[Config].flatMap { topic =>
    *   val published = Stream.repeatEval(configChanged).evalMap(topic.publish)
    *   topic.subscribe(10).take(3).concurrently(published).toList
    * }
    * }}}
    */
  def apply[A]: Task[Topic[A]] = Task.delay(unsafe[A])

  /** As `apply`, but makes the topic at once, for use outside of tasks. */
  def unsafe[A]: Topic[A] = new Topic(Signal.unsafe(State(Vector.empty, None)))

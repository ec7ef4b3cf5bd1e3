package weir.japi

import java.util.Optional
import scala.jdk.OptionConverters.*
import weir.Channel as ScalaChannel

/** A queue between fibers that can be closed, with or without an error. It holds no nulls: `send`
  * and `trySend` **fail** with a `NullPointerException`.
  */
final class Channel[A] private (underlying: ScalaChannel[A]):

  /** Sends `value`. **Waits** while the channel is full. **Fails** with a `weir.ChannelClosed` if
    * it is closed.
    */
  def send(value: A): Task[Void] =
    Task.ofUnit(weir.Task.defer(underlying.send(Queue.notNull(value))))

  /** Sends `value` and returns true if there is room; returns false otherwise. **Fails** with a
    * `weir.ChannelClosed` if the channel is closed.
    */
  def trySend(value: A): Task[java.lang.Boolean] = Task(
    weir.Task.defer(underlying.trySend(Queue.notNull(value))).map(Boolean.box)
  )

  /** Receives the next value. **Waits** for one. **Fails** with a `weir.ChannelClosed` once the
    * channel is closed and empty, or with the error that it was closed with.
    */
  def receive(): Task[A] = Task(underlying.receive)

  /** Receives the next value, if there is one. */
  def tryReceive(): Task[Optional[A]] = Task(underlying.tryReceive.map(_.toJava))

  /** Emits the values of the channel, up to its end. **Fails** with the error that it was closed
    * with.
    */
  def stream(): Stream[A] = Stream.from(underlying.stream)

  /** Closes the channel: values that were sent can still be received. Returns true if it was open.
    */
  def close(): Task[java.lang.Boolean] = Task(underlying.close.map(Boolean.box))

  /** Closes the channel with an error, which receivers get after the values that were sent. Returns
    * true if it was open.
    */
  def closeWithError(error: Throwable): Task[java.lang.Boolean] =
    Task(underlying.closeWithError(error).map(Boolean.box))

  /** Returns true if the channel is closed. */
  def isClosed(): Task[java.lang.Boolean] =
    Task(underlying.closed.map(closed => Boolean.box(closed.nonEmpty)))

  /** Names this channel, for `WeirRuntime.metrics`. Returns this channel. */
  def named(name: String): Channel[A] =
    underlying.named(name): Unit
    this

  /** Returns the channel of Weir's Scala API. */
  def asScala: ScalaChannel[A] = underlying

object Channel:
  /** Makes a channel that holds at most `capacity` values; with 0, `send` waits for a receiver. */
  def bounded[A](capacity: Int): Channel[A] = new Channel(ScalaChannel.unsafe(capacity))

  /** Makes a channel without a bound: if it is filled faster than it is emptied, memory runs out.
    */
  def unbounded[A](): Channel[A] = bounded(Int.MaxValue)

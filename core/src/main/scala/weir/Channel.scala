package weir

import weir.fiber.WaitList
import weir.stream.{ChannelSource, Pull}
import weir.sync.{AtEnd, ChannelCore, Receive, ReceiveClause, Select, Send, SendClause}

/** A queue that can be closed, with or without an error. Values go from fibers that send to fibers
  * that receive, first in, first out. Values that were sent before the close can still be received.
  */
final class Channel[A] private (capacity: Int) extends ChannelCore(capacity):

  // ---- sending ----

  /** Sends `value`: returns once it is in the channel, or, if the channel is `synchronous`, once it
    * is received.
    *
    * **Waits** while the channel is full. **Cancelled** while it waits: the value is not sent.
    * **Fails** with `ChannelClosed` if the channel is closed, also while it waits: the value is not
    * sent. **Order**: waiting senders send in the order in which they came.
    */
  def send(value: A): Task[Unit] = Send[Unit](this, value, AtEnd.sendFails)

  /** As `send`, but if the channel is closed, returns a `Closed` instead of failing. */
  def sendOrClosed(value: A): Task[Unit | Channel.Closed] =
    Send[Unit | Channel.Closed](this, value, AtEnd.asValue)

  /** Sends `value` if that needs no wait. Returns true if the value is in the channel or received,
    * false if the channel is full. **Fails** with `ChannelClosed` if the channel is closed.
    */
  def trySend(value: A): Task[Boolean] =
    Task.delay(!ChannelCore.isNotReady(locked(sendNow(value, AtEnd.sendFails))))

  // ---- receiving ----

  /** Receives the oldest value.
    *
    * **Waits** while the channel is empty. **Cancelled** while it waits: the next value goes to the
    * next receiver. **Fails** with `ChannelClosed` once the channel is closed and all its values
    * are received, also while it waits. **Order**: waiting receivers are served in the order in
    * which they came.
    */
  val receive: Task[A] = Receive[A](this, AtEnd.receiveFails)

  /** As `receive`, but if the channel is closed and all its values are received, returns a `Closed`
    * instead of failing.
    */
  val receiveOrClosed: Task[A | Channel.Closed] =
    Receive[A | Channel.Closed](this, AtEnd.asValue)

  /** Receives the oldest value if there is one. **Fails** with `ChannelClosed` once the channel is
    * closed and all its values are received.
    */
  def tryReceive: Task[Option[A]] = Task.delay {
    locked(receiveNow(AtEnd.receiveFails)) match
      case ChannelCore.NotReady => None
      case value => Some(value.asInstanceOf[A])
  }

  /** Emits the values until the channel is closed and all of them are received. A value is received
    * when the stream is asked for an element. Streams and other receivers share the values: each
    * value goes to one of them. **Fails** with the error that the channel was closed with.
    */
  def stream: Stream[A] = ChannelSource.stream(Receive[Any](this, Channel.asPull))

  // ---- the end ----

  /** Closes the channel. Returns true if this call has closed it, false if it was closed before.
    * Values that were sent can still be received; after them, receivers see the end. Waiting
    * senders fail.
    */
  def close: Task[Boolean] = Task.delay(closeNow(Channel.Closed.Done))

  /** As `close`, but receivers see `error` at the end. */
  def closeWithError(error: Throwable): Task[Boolean] =
    Task.delay(closeNow(Channel.Closed.Failed(error)))

  /** Returns a `Closed` if the channel is closed. The channel may still hold values that are not
    * received.
    */
  def closed: Task[Option[Channel.Closed]] = Task.delay(Option(ending))

  /** Returns the number of values in the channel. */
  def size: Task[Int] = Task.delay(synchronized(values.size))

  // ---- for Channel.select ----

  /** Returns a clause that does a `receive` in a select. */
  def receiveClause: Channel.Clause[Received] =
    ReceiveClause(this, Received(_), AtEnd.receiveFails)

  /** Returns a clause that does a `receiveOrClosed` in a select. */
  def receiveOrClosedClause: Channel.Clause[Received | Ended] =
    ReceiveClause(this, Received(_), Ended(_))

  /** Returns a clause that does a `send` in a select. */
  def sendClause(value: A): Channel.Clause[Sent] = SendClause(this, value, Sent(value))

  /** The result of a select that has completed a `receiveClause` of this channel. */
  final case class Received(value: A)

  /** The result of a select that has completed a `sendClause` of this channel. */
  final case class Sent(value: A)

  /** The result of a select whose `receiveOrClosedClause` has found this channel closed and all its
    * values received.
    */
  final case class Ended(closed: Channel.Closed)

object Channel:

  /** The way in which a channel was closed: without or with an error. */
  enum Closed:
    case Done
    case Failed(error: Throwable)

  /** Returns a new channel that holds at most `capacity` values; 0 is the same as `synchronous`.
    * **Fails** with an `IllegalArgumentException` if `capacity` is below 0.
    */
  def bounded[A](capacity: Int): Task[Channel[A]] = Task.delay(unsafe(capacity))

  /** Returns a new channel that holds any number of values, so that no sender waits. */
  def unbounded[A]: Task[Channel[A]] = bounded(Int.MaxValue)

  /** Returns a new channel that holds no value: a sender waits until its value is received. */
  def synchronous[A]: Task[Channel[A]] = bounded(0)

  /** As `bounded`, but makes the channel at once, for use outside of tasks. */
  def unsafe[A](capacity: Int): Channel[A] =
    require(
      capacity >= 0,
      s"Channel.bounded: capacity was $capacity. It must be at least 0. For no limit, use " +
        "Channel.unbounded."
    )
    new Channel[A](capacity)

  /** Does one of `clauses` and returns its result: the first in the given order that is ready, or
    * else the one that is ready first. The other clauses are not done, and lose no value.
    *
    * **Waits** until a clause is ready. **Cancelled** while it waits: none is done. **Fails** with
    * `ChannelClosed` where a `receive` or `send` of a clause would. **Order**: an earlier clause
    * has precedence over a later one, and may keep it from ever being done. At each channel the
    * select waits in line with other fibers.
    */
  def select[R](clauses: Clause[R]*): Task[R] =
    require(clauses.nonEmpty, "Channel.select: there was no clause. Give it at least one.")
    Select(clauses.toArray[Clause[Any]])

  /** Does the first of `clauses` that is ready now and returns its result, or `None` if none is
    * ready. **Fails** as `select`.
    */
  def trySelect[R](clauses: Clause[R]*): Task[Option[R]] =
    Task.delay(Select.now(clauses.toArray[Clause[Any]]) match
      case ChannelCore.NotReady => None
      case result => Some(result.asInstanceOf[R]))

  /** One of the operations that a select waits for. */
  abstract class Clause[+R] private[weir] (private[weir] val channel: ChannelCore):

    /** Under the channel's lock: does the operation and returns its result, or returns `NotReady`.
      */
    private[weir] def now(): Any

    /** The list in which it waits. */
    private[weir] def list: WaitList

    /** The value that it sends. */
    private[weir] def offered: Any

    /** Returns the result for the value received. */
    private[weir] def result(value: Any): Any

    /** Returns the result for a channel that is closed, or throws. */
    private[weir] def atEnd(closed: Closed): Any

  private val asPull: Closed => Any =
    case Closed.Done => Pull.End
    case Closed.Failed(error) => throw error

/** The error of an operation on a closed channel. The cause is the error that the channel was
  * closed with, if any.
  */
final class ChannelClosed private[weir] (operation: String, val closed: Channel.Closed)
    extends RuntimeException(
      ChannelClosed.message(operation, closed),
      closed match
        case Channel.Closed.Done => null
        case Channel.Closed.Failed(error) => error
    )

private object ChannelClosed:
  def message(operation: String, closed: Channel.Closed): String =
    val how = closed match
      case Channel.Closed.Done => "was closed"
      case Channel.Closed.Failed(error) => s"was closed with $error"
    val rule = operation match
      case "send" => "Nothing can be sent after that."
      case _ => "All values that were sent before have been received."
    s"Channel.$operation: the channel $how. $rule To handle that as a value, use " +
      s"${operation}OrClosed."

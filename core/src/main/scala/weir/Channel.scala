package weir

import weir.fiber.WaitList
import weir.stream.{ChannelSource, Pull}
import weir.sync.{AtEnd, ChannelCore, Receive, ReceiveClause, Select, Send, SendClause}

/** A queue that can be closed, for good or with an error. Values go from fibers that send to fibers
  * that receive, first in, first out. What was sent before the close is still received.
  */
final class Channel[A] private (capacity: Int) extends ChannelCore(capacity):

  // ---- sending ----

  /** Nothing, once `value` is in the channel, or received where the channel is `synchronous`.
    *
    * **Waits** while the channel is full. **Cancelled** while it waits: the value is not sent.
    * **Fails** with `ChannelClosed` if the channel is closed, also while it waits: the value is not
    * sent. **Order**: values of senders that wait are sent in the order in which the senders came.
    */
  def send(value: A): Task[Unit] = Send[Unit](this, value, AtEnd.sendFails)

  /** As `send`, with how the channel was closed as a value, not as an error. */
  def sendOrClosed(value: A): Task[Unit | Channel.Closed] =
    Send[Unit | Channel.Closed](this, value, AtEnd.asValue)

  /** True if `value` is in the channel now, or received; false if the channel is full. **Fails**
    * with `ChannelClosed` if the channel is closed.
    */
  def trySend(value: A): Task[Boolean] =
    Task.delay(!ChannelCore.isNotReady(locked(sendNow(value, AtEnd.sendFails))))

  // ---- receiving ----

  /** The oldest value.
    *
    * **Waits** while the channel is empty. **Cancelled** while it waits: the next value is for the
    * next receiver. **Fails** with `ChannelClosed` once the channel is closed and all its values
    * are received, also while it waits. **Order**: receivers that wait are served in the order in
    * which they came.
    */
  val receive: Task[A] = Receive[A](this, AtEnd.receiveFails)

  /** As `receive`, with how the channel was closed as a value, not as an error. */
  val receiveOrClosed: Task[A | Channel.Closed] =
    Receive[A | Channel.Closed](this, AtEnd.asValue)

  /** The oldest value, if there is one. **Fails** with `ChannelClosed` once the channel is closed
    * and all its values are received.
    */
  def tryReceive: Task[Option[A]] = Task.delay {
    locked(receiveNow(AtEnd.receiveFails)) match
      case ChannelCore.NotReady => None
      case value => Some(value.asInstanceOf[A])
  }

  /** The values, until the channel is closed and all of them are received. Each is received when
    * the stream asks for it, and by one receiver: several streams, and fibers that receive, share
    * the values. **Fails** with the error that the channel was closed with.
    */
  def stream: Stream[A] = ChannelSource.stream(Receive[Any](this, Channel.asPull))

  // ---- the end ----

  /** True if this call has closed the channel; false if it was closed before. What was sent is
    * still received, then receivers see the end. Senders that wait fail.
    */
  def close: Task[Boolean] = Task.delay(closeNow(Channel.Closed.Done))

  /** As `close`; receivers see `error` at the end. */
  def closeWithError(error: Throwable): Task[Boolean] =
    Task.delay(closeNow(Channel.Closed.Failed(error)))

  /** How the channel was closed, if it is. It may hold values that are not received yet. */
  def closed: Task[Option[Channel.Closed]] = Task.delay(Option(ending))

  /** How many values are in the channel. */
  def size: Task[Int] = Task.delay(synchronized(values.size))

  // ---- for Channel.select ----

  /** A `receive` as one of several operations that a select waits for. */
  def receiveClause: Channel.Clause[Received] =
    ReceiveClause(this, Received(_), AtEnd.receiveFails)

  /** A `receiveOrClosed` as one of several operations that a select waits for. */
  def receiveOrClosedClause: Channel.Clause[Received | Ended] =
    ReceiveClause(this, Received(_), Ended(_))

  /** A `send` as one of several operations that a select waits for. */
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

  /** How a channel was closed. */
  enum Closed:
    case Done
    case Failed(error: Throwable)

  /** A new channel that holds at most `capacity` values; 0 is the same as `synchronous`. **Fails**
    * with an `IllegalArgumentException` if `capacity` is below 0.
    */
  def bounded[A](capacity: Int): Task[Channel[A]] = Task.delay(unsafe(capacity))

  /** A new channel that holds any number of values, so that no sender waits. */
  def unbounded[A]: Task[Channel[A]] = bounded(Int.MaxValue)

  /** A new channel that holds no value: a sender waits until its value is received. */
  def synchronous[A]: Task[Channel[A]] = bounded(0)

  /** As `bounded`, made at once, for use outside of tasks. */
  def unsafe[A](capacity: Int): Channel[A] =
    require(
      capacity >= 0,
      s"Channel.bounded: capacity was $capacity. It must be at least 0. For no limit, use " +
        "Channel.unbounded."
    )
    new Channel[A](capacity)

  /** The result of one of `clauses`: the first in the order given that is ready, or else the one
    * that is ready first. The others are not done, and lose no value.
    *
    * **Waits** until a clause is ready. **Cancelled** while it waits: none is done. **Fails** with
    * `ChannelClosed` where a `receive` or `send` of a clause would. **Order**: an earlier clause
    * goes before a later one, and may keep it from ever being done. At each channel the select
    * waits in line with other fibers.
    */
  def select[R](clauses: Clause[R]*): Task[R] =
    require(clauses.nonEmpty, "Channel.select: there was no clause. Give it at least one.")
    Select(clauses.toArray[Clause[Any]])

  /** The result of the first of `clauses` that is ready now, or none. **Fails** as `select`. */
  def trySelect[R](clauses: Clause[R]*): Task[Option[R]] =
    Task.delay(Select.now(clauses.toArray[Clause[Any]]) match
      case ChannelCore.NotReady => None
      case result => Some(result.asInstanceOf[R]))

  /** One of the operations that a select waits for. */
  abstract class Clause[+R] private[weir] (private[weir] val channel: ChannelCore):

    /** Under the channel's lock: the result, or `NotReady`. */
    private[weir] def now(): Any

    /** Where it waits. */
    private[weir] def list: WaitList

    /** What it sends. */
    private[weir] def offered: Any

    /** The result for the value received. */
    private[weir] def result(value: Any): Any

    /** The result for a channel that is closed, or an exception. */
    private[weir] def atEnd(closed: Closed): Any

  private val asPull: Closed => Any =
    case Closed.Done => Pull.End
    case Closed.Failed(error) => throw error

/** A channel was used after its end; the cause is the error that it was closed with, if any. */
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

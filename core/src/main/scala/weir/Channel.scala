package weir

import java.util.concurrent.atomic.AtomicLong
import weir.kernel.{Linked, RunLoop, Suspend}
import weir.stream.{ChannelSource, Pull}
import weir.sync.{Awaited, Select, Values, WaitList}

/** A queue that ends: values go from fibers that send to fibers that receive, first in, first out, until somebody closes
  * it, for good or with an error. What was sent before is still received.
  *
  *   - **Shared, under this object's lock**: everything that is not a `val`.
  *   - **Invariant**: fibers wait to receive only while it is empty and open, to send only while it is full and open. A
  *     channel for no values, `synchronous`, is empty and full at once: there a sender waits for its receiver.
  *   - A value, or a place for one, passes to whoever waits by `Party.happen`, which tells whether it was still there: so
  *     who is cancelled while waiting loses nothing.
  *   - **Closing**: `ending` is set under the lock, and from then on nobody starts to wait; those who do are woken outside
  *     of the lock.
  *
  * `Select` has the protocol for fibers that wait at several channels at once.
  */
final class Channel[A] private (capacity: Int) extends Awaited:

  // immutable
  /** The order in which a select takes the locks of its channels. */
  private[weir] val id: Long = Channel.ids.incrementAndGet()

  // shared, under this object's lock
  private val values = Values(capacity)
  private[weir] val receivers = WaitList()
  private[weir] val senders = WaitList()
  @volatile private var ending: Channel.Closed | Null = null

  /** The select whose clause has just happened, to be taken out of the lists of its other channels. */
  private var met: Select.Waiting | Null = null

  // ---- sending ----

  /** Nothing, once `value` is in the channel, or received where the channel is `synchronous`.
    *
    * '''Waits''' while the channel is full. '''Cancelled''' while it waits: the value is not sent. '''Fails''' with
    * `ChannelClosed` if the channel is closed, also while it waits: the value is not sent. '''Order''': those who wait
    * get their place in the order in which they came.
    */
  def send(value: A): Task[Unit] = Channel.Send[Unit](this, value, Channel.sendFails)

  /** As `send`, with how the channel was closed as a value, not as an error. */
  def sendOrClosed(value: A): Task[Unit | Channel.Closed] =
    Channel.Send[Unit | Channel.Closed](this, value, Channel.asValue)

  /** True if `value` is in the channel now, or received; false if the channel is full. '''Fails''' with `ChannelClosed`
    * if the channel is closed.
    */
  def trySend(value: A): Task[Boolean] =
    Task.delay(!Channel.isNotReady(locked(sendNow(value, Channel.sendFails))))

  // ---- receiving ----

  /** The oldest value.
    *
    * '''Waits''' while the channel is empty. '''Cancelled''' while it waits: the next value is for the next receiver.
    * '''Fails''' with `ChannelClosed` once the channel is closed and all its values are received, also while it waits.
    * '''Order''': those who wait are served in the order in which they came.
    */
  val receive: Task[A] = Channel.Receive[A](this, Channel.receiveFails)

  /** As `receive`, with how the channel was closed as a value, not as an error. */
  val receiveOrClosed: Task[A | Channel.Closed] =
    Channel.Receive[A | Channel.Closed](this, Channel.asValue)

  /** The oldest value, if there is one. '''Fails''' with `ChannelClosed` once the channel is closed and all its values are
    * received.
    */
  def tryReceive: Task[Option[A]] = Task.delay {
    locked(receiveNow(Channel.receiveFails)) match
      case Channel.NotReady => None
      case value => Some(value.asInstanceOf[A])
  }

  /** The values, until the channel is closed and all of them are received. Each is received when it is asked for, and by
    * one stream: several streams, and fibers that receive, share them. '''Fails''' with the error that the channel was
    * closed with.
    */
  def stream: Stream[A] = ChannelSource.stream(Channel.Receive[Any](this, Channel.asPull))

  // ---- the end ----

  /** True if this call has closed the channel; false if it was closed before. What was sent is still received, then
    * receivers see the end. Senders that wait fail.
    */
  def close: Task[Boolean] = Task.delay(closeNow(Channel.Closed.Done))

  /** As `close`; receivers see `error` at the end. */
  def closeWithError(error: Throwable): Task[Boolean] =
    Task.delay(closeNow(Channel.Closed.Failed(error)))

  /** How the channel was closed, if it is. There may be values in it that are not received yet. */
  def closed: Task[Option[Channel.Closed]] = Task.delay(Option(ending))

  /** How many values are in the channel. */
  def size: Task[Int] = Task.delay(synchronized(values.size))

  // ---- for Channel.select ----

  /** A `receive` as one of several that a select waits for. */
  def receiveClause: Channel.Clause[Received] =
    Channel.ReceiveClause(this, Received(_), Channel.receiveFails)

  /** A `receiveOrClosed` as one of several that a select waits for. */
  def receiveOrClosedClause: Channel.Clause[Received | Ended] =
    Channel.ReceiveClause(this, Received(_), Ended(_))

  /** A `send` as one of several that a select waits for. */
  def sendClause(value: A): Channel.Clause[Sent] = Channel.SendClause(this, value, Sent(value))

  /** What a select returns whose `receiveClause` of this channel has happened. */
  final case class Received(value: A)

  /** What a select returns whose `sendClause` of this channel has happened. */
  final case class Sent(value: A)

  /** What a select returns whose `receiveOrClosedClause` has found this channel closed and all its values received. */
  final case class Ended(closed: Channel.Closed)

  // ---- under the lock ----

  /** `body` under the lock; then the select that it has met leaves its other channels. */
  private[weir] inline def locked(inline body: Any): Any =
    var left: Select.Waiting | Null = null
    val result = synchronized {
      val result = body
      left = takeMet()
      result
    }
    if left ne null then left.leave()
    result

  private[weir] def takeMet(): Select.Waiting | Null =
    val select = met
    if select ne null then met = null
    select

  /** Nothing, or `NotReady` if the channel is full, or what `ended` makes of its end. */
  private[weir] def sendNow(value: Any, ended: Channel.Closed => Any): Any =
    val closed = ending
    if closed ne null then ended(closed)
    else if meet(receivers, value) ne null then ()
    else if !values.isFull then values.append(value)
    else Channel.NotReady

  /** The oldest value, or `NotReady` if the channel is empty, or what `ended` makes of its end. */
  private[weir] def receiveNow(ended: Channel.Closed => Any): Any =
    val closed = ending
    if !values.isEmpty then
      val value = values.removeOldest()
      if closed eq null then
        val sender = meet(senders, ())
        if sender ne null then values.append(sender.offered)
      value
    else if closed ne null then ended(closed)
    else
      val sender = meet(senders, ()) // the channel is synchronous, or there is none
      if sender ne null then sender.offered else Channel.NotReady

  /** The first in the list that is still there, whose operation has now happened. */
  private def meet(list: WaitList, value: Any): Channel.Party | Null =
    var party = list.poll().asInstanceOf[Channel.Party | Null]
    while (party ne null) && !party.happen(value) do
      party = list.poll().asInstanceOf[Channel.Party | Null]
    if party ne null then met = party.select
    party

  private def closeNow(closed: Channel.Closed): Boolean =
    val first = synchronized {
      val open = ending eq null
      if open then ending = closed
      open
    }
    if first then
      wakeAll(receivers, closed)
      wakeAll(senders, closed)
    first

  /** Nobody comes into the list any more. */
  private def wakeAll(list: WaitList, closed: Channel.Closed): Unit =
    def next() = synchronized(list.poll()).asInstanceOf[Channel.Party | Null]
    var party = next()
    while party ne null do
      if party.close(closed) then
        val select = party.select
        if select ne null then select.leave()
      party = next()

  def awaitedAs: String =
    val name = capacity match
      case 0 => "Channel.synchronous"
      case Int.MaxValue => "Channel.unbounded"
      case _ => s"Channel.bounded($capacity)"
    if ending ne null then s"$name, which is closed"
    else if capacity == 0 then s"$name, where nobody has come to the other side"
    else if values.isEmpty then s"$name, which is empty"
    else s"$name, which has ${values.size} values"

object Channel:
  Linked( // before there is a channel
    classOf[Single],
    classOf[Select.Standing],
    classOf[ReceiveClause[?, ?]],
    classOf[SendClause[?]]
  )

  private val ids = AtomicLong()
  private[weir] object NotReady
  private[weir] inline def isNotReady(value: Any): Boolean = value.asInstanceOf[AnyRef] eq NotReady

  /** How a channel was closed. */
  enum Closed:
    case Done
    case Failed(error: Throwable)

  /** A new channel in which at most `capacity` values wait; 0 is the same as `synchronous`. '''Fails''' with an
    * `IllegalArgumentException` if `capacity` is below 0.
    */
  def bounded[A](capacity: Int): Task[Channel[A]] = Task.delay(unsafe(capacity))

  /** A new channel in which any number of values wait, so that nobody waits to send. */
  def unbounded[A]: Task[Channel[A]] = bounded(Int.MaxValue)

  /** A new channel in which no value waits: a sender goes on once its value is received. */
  def synchronous[A]: Task[Channel[A]] = bounded(0)

  /** As `bounded`, made at once, for use outside of tasks. */
  def unsafe[A](capacity: Int): Channel[A] =
    require(
      capacity >= 0,
      s"Channel.bounded: capacity was $capacity. It must be at least 0. For no limit, use Channel.unbounded."
    )
    new Channel[A](capacity)

  /** The result of the one clause that happens: the first of `clauses` that can, or else the one that can first. The others
    * do not happen, and lose no value.
    *
    * '''Waits''' until a clause can happen. '''Cancelled''' while it waits: none happens. '''Fails''' with
    * `ChannelClosed` where a `receive` or `send` of a clause would. '''Order''': clauses that stand first go first, and
    * may keep later ones from ever happening. At each channel it waits in line with other fibers.
    */
  def select[R](clauses: Clause[R]*): Task[R] =
    require(clauses.nonEmpty, "Channel.select: there was no clause. Give it at least one.")
    Select(clauses.toArray[Clause[Any]])

  /** The result of the first of `clauses` that can happen now, or none. '''Fails''' as `select`. */
  def trySelect[R](clauses: Clause[R]*): Task[Option[R]] =
    Task.delay(Select.now(clauses.toArray[Clause[Any]]) match
      case NotReady => None
      case result => Some(result.asInstanceOf[R]))

  /** One of the operations that a select waits for. */
  sealed abstract class Clause[+R] private[weir] (private[weir] val channel: Channel[?]):

    /** Under the channel's lock: the result, or `NotReady`. */
    private[weir] def now(): Any

    /** Where it waits. */
    private[weir] def list: WaitList

    /** What it sends. */
    private[weir] def offered: Any

    /** The result for the value received. */
    private[weir] def happened(value: Any): Any

    /** The result for a channel that is closed, or an exception. */
    private[weir] def ended(closed: Closed): Any

  private final class ReceiveClause[A, R](
      channel: Channel[A],
      received: A => R,
      atEnd: Closed => R
  ) extends Clause[R](channel):
    def now(): Any =
      var closed = false
      val value = channel.receiveNow { end =>
        closed = true
        atEnd(end)
      }
      if closed || isNotReady(value) then value else happened(value)
    def list: WaitList = channel.receivers
    def offered: Any = ()
    def happened(value: Any): Any = received(value.asInstanceOf[A])
    def ended(closed: Closed): Any = atEnd(closed)

  private final class SendClause[R](channel: Channel[?], val offered: Any, sent: R)
      extends Clause[R](channel):
    def now(): Any = if isNotReady(channel.sendNow(offered, sendFails)) then NotReady else sent
    def list: WaitList = channel.senders
    def happened(value: Any): Any = sent
    def ended(closed: Closed): Any = sendFails(closed)

  /** Somebody in one of a channel's lists. */
  private[weir] abstract class Party(fiber: RunLoop, list: WaitList, channel: Channel[?])
      extends WaitList.Entry(fiber, list, channel):

    /** What it sends. */
    def offered: Any

    /** Its operation happens, with `value` received, or with what it offers sent. False if it is gone. */
    def happen(value: Any): Boolean

    /** The channel is closed. False if it is gone. */
    def close(closed: Closed): Boolean

    /** The select that it stands for, if it stands for one. */
    def select: Select.Waiting | Null

  /** A fiber that waits for one operation. */
  private final class Single(
      fiber: RunLoop,
      list: WaitList,
      channel: Channel[?],
      val offered: Any,
      atEnd: Closed => Any
  ) extends Party(fiber, list, channel):
    def happen(value: Any): Boolean = complete(value)
    def close(closed: Closed): Boolean =
      try complete(atEnd(closed))
      catch case error: Throwable => fail(error)
    def select: Select.Waiting | Null = null

  private final class Send[R](channel: Channel[?], value: Any, atEnd: Closed => Any)
      extends Suspend[R]:
    def begin(fiber: RunLoop): Any = channel.locked {
      val result = channel.sendNow(value, atEnd)
      if isNotReady(result) then stand(fiber) else result
    }

    private def stand(fiber: RunLoop): Single =
      val party = Single(fiber, channel.senders, channel, value, atEnd)
      channel.senders.add(party)
      party

  private final class Receive[R](channel: Channel[?], atEnd: Closed => Any) extends Suspend[R]:
    def begin(fiber: RunLoop): Any = channel.locked {
      val result = channel.receiveNow(atEnd)
      if isNotReady(result) then stand(fiber) else result
    }

    private def stand(fiber: RunLoop): Single =
      val party = Single(fiber, channel.receivers, channel, (), atEnd)
      channel.receivers.add(party)
      party

  // What an operation makes of the end of its channel.
  private val sendFails: Closed => Nothing = closed => throw ChannelClosed("send", closed)
  private val receiveFails: Closed => Nothing = closed => throw ChannelClosed("receive", closed)
  private val asValue: Closed => Any = identity
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
    s"Channel.$operation: the channel $how. $rule To handle that as a value, use ${operation}OrClosed."

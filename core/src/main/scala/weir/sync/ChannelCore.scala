package weir.sync

import java.util.concurrent.atomic.AtomicLong
import weir.Channel.Closed
import weir.fiber.{Awaited, EagerlyLinked, WaitList}
import weir.metrics.{Metric, NamedMetrics}

/** The values of a `Channel`, and the fibers that wait at it.
  *
  *   - **Shared, under this object's lock**: everything that is not a `val`.
  *   - **Invariant**: fibers wait to receive only while the channel is empty and open, to send only
  *     while it is full and open. A `synchronous` one has the capacity 0: it is empty and full at
  *     once, and there a sender waits for its receiver.
  *   - **Handing over**: a value, or room for one, goes to a waiter by
  *     `ChannelWaiter.completeWith`, which returns whether it was still waiting. So a fiber that is
  *     cancelled while it waits loses nothing: the value goes to the next waiter.
  *   - **Closing**: `ending` is set under the lock. From then on no fiber begins to wait. Those
  *     that wait are woken without the lock.
  *
  * `Select` has the protocol for fibers that wait at several channels at once.
  */
private[weir] abstract class ChannelCore(capacity: Int) extends Awaited:

  // immutable
  /** The order in which a select takes the locks of its channels. The first select of a channel
    * sets it: so a channel that is in no select writes no counter that all carriers share.
    */
  private[weir] lazy val id: Long = ChannelCore.ids.incrementAndGet()

  // shared, under this object's lock
  private[weir] val values = Values(capacity)
  private[weir] val receivers = WaitList()
  private[weir] val senders = WaitList()
  @volatile private[weir] var ending: Closed | Null = null

  /** The select of which a clause was just completed here. It is still in the lists of its other
    * channels.
    */
  private var matched: SelectWaiter | Null = null

  /** Runs `body` under the lock. Then the select that it has matched leaves its other channels. */
  private[weir] inline def locked(inline body: Any): Any =
    var select: SelectWaiter | Null = null
    val result = synchronized {
      val result = body
      select = takeMatched()
      result
    }
    if select ne null then select.dequeue()
    result

  private[weir] def takeMatched(): SelectWaiter | Null =
    val select = matched
    if select ne null then matched = null
    select

  /** Under the lock: sends `value` and returns unit. Returns `NotReady` if the channel is full, or
    * the result of `atEnd` if it is closed.
    */
  private[weir] def sendNow(value: Any, atEnd: Closed => Any): Any =
    val closed = ending
    if closed ne null then atEnd(closed)
    else if completeFirst(receivers, value) ne null then ()
    else if !values.isFull then values.append(value)
    else ChannelCore.NotReady

  /** Under the lock: removes and returns the oldest value. Returns `NotReady` if the channel is
    * empty, or the result of `atEnd` if it is empty and closed.
    */
  private[weir] def receiveNow(atEnd: Closed => Any): Any =
    val closed = ending
    if !values.isEmpty then
      val value = values.removeOldest()
      if closed eq null then
        val sender = completeFirst(senders, ())
        if sender ne null then values.append(sender.offered)
      value
    else if closed ne null then atEnd(closed)
    else
      val sender = completeFirst(senders, ()) // only a synchronous channel has one here
      if sender ne null then sender.offered else ChannelCore.NotReady

  /** Completes the first waiter in the list that is still waiting, and returns it. Returns null if
    * there is none.
    */
  private def completeFirst(list: WaitList, value: Any): ChannelWaiter | Null =
    var waiter = list.poll().asInstanceOf[ChannelWaiter | Null]
    while (waiter ne null) && !waiter.completeWith(value) do
      waiter = list.poll().asInstanceOf[ChannelWaiter | Null]
    if waiter ne null then matched = waiter.select
    waiter

  /** Closes the channel. Returns true if this call has closed it. */
  private[weir] def closeNow(closed: Closed): Boolean =
    val first = synchronized {
      val open = ending eq null
      if open then ending = closed
      open
    }
    if first then
      endAll(receivers, closed)
      endAll(senders, closed)
    first

  /** Ends all waiters of the list. No waiter is added to the list any more. */
  private def endAll(list: WaitList, closed: Closed): Unit =
    def next() = synchronized(list.poll()).asInstanceOf[ChannelWaiter | Null]
    var waiter = next()
    while waiter ne null do
      if waiter.end(closed) then
        val select = waiter.select
        if select ne null then select.dequeue()
      waiter = next()

  /** Names this channel: `weir.WeirRuntime.metrics` then has its figures under the name. Returns
    * this channel.
    * {{{
    * val orders = Channel.bounded[String](10).map(_.named("orders"))
    * }}}
    */
  def named(name: String): this.type =
    NamedMetrics.register(this, name)((channel, named) => channel.figures(named))
    this

  private def figures(named: NamedMetrics): Vector[Metric] =
    named.queue("channel", values.size, capacity, givers = senders.size, takers = receivers.size)

  private[weir] def awaitedAs: String =
    val name = capacity match
      case 0 => "Channel.synchronous"
      case Int.MaxValue => "Channel.unbounded"
      case _ => s"Channel.bounded($capacity)"
    if ending ne null then s"$name, which is closed"
    else if capacity == 0 then s"$name, where no fiber has come to the other side"
    else if values.isEmpty then s"$name, which is empty"
    else s"$name, which has ${values.size} values"

private[weir] object ChannelCore:
  EagerlyLinked( // before there is a channel
    classOf[OperationWaiter],
    classOf[SelectEntry],
    classOf[ReceiveClause[?, ?]],
    classOf[SendClause[?]]
  )

  private val ids = AtomicLong()

  /** The result of an operation that would have to wait. */
  object NotReady
  inline def isNotReady(value: Any): Boolean = value.asInstanceOf[AnyRef] eq NotReady

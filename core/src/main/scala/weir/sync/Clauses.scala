package weir.sync

import weir.Channel
import weir.Channel.{Clause, Closed}
import weir.fiber.WaitList
import weir.sync.ChannelCore.{NotReady, isNotReady}

/** A `receive` or `receiveOrClosed` that a select waits for. */
private[weir] final class ReceiveClause[A, R](
    channel: Channel[A],
    received: A => R,
    ended: Closed => R
) extends Clause[R](channel):
  private[weir] def now(): Any =
    var closed = false
    val value = channel.receiveNow { end =>
      closed = true
      ended(end)
    }
    if closed || isNotReady(value) then value else result(value)
  private[weir] def list: WaitList = channel.receivers
  private[weir] def offered: Any = ()
  private[weir] def result(value: Any): Any = received(value.asInstanceOf[A])
  private[weir] def atEnd(closed: Closed): Any = ended(closed)

/** A `send` that a select waits for. */
private[weir] final class SendClause[R](
    channel: Channel[?],
    private[weir] val offered: Any,
    sent: R
) extends Clause[R](channel):
  private[weir] def now(): Any =
    if isNotReady(channel.sendNow(offered, AtEnd.sendFails)) then NotReady else sent
  private[weir] def list: WaitList = channel.senders
  private[weir] def result(value: Any): Any = sent
  private[weir] def atEnd(closed: Closed): Any = AtEnd.sendFails(closed)

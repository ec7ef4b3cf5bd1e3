package weir.sync

import weir.Channel.Closed
import weir.ChannelClosed
import weir.fiber.{Exchange, TaskFiber, WaitList}
import weir.sync.ChannelCore.isNotReady

/** A waiter in one of a channel's lists: a fiber with one operation, or a clause of a select. */
private[weir] abstract class ChannelWaiter(fiber: TaskFiber, list: WaitList, channel: ChannelCore)
    extends WaitList.Entry(fiber, list, channel):

  /** The value that it sends. */
  def offered: Any

  /** Ends the wait, with `value` received or `offered` sent. Returns false if it had ended before.
    */
  def completeWith(value: Any): Boolean

  /** Ends the wait, since the channel is closed. Returns false if it had ended before. */
  def end(closed: Closed): Boolean

  /** The select that it belongs to, or null if it is a single operation. */
  def select: SelectWaiter | Null

/** A fiber that waits for one operation. */
private[weir] final class OperationWaiter(
    fiber: TaskFiber,
    list: WaitList,
    channel: ChannelCore,
    val offered: Any,
    atEnd: Closed => Any
) extends ChannelWaiter(fiber, list, channel):
  def completeWith(value: Any): Boolean = complete(value)
  def end(closed: Closed): Boolean =
    try complete(atEnd(closed))
    catch case error: Throwable => fail(error)
  def select: SelectWaiter | Null = null

/** Sends `value`. Waits while the channel is full. */
private[weir] final class Send[R](channel: ChannelCore, value: Any, atEnd: Closed => Any)
    extends Exchange[R]:
  def begin(fiber: TaskFiber): Any = channel.locked {
    val result = channel.sendNow(value, atEnd)
    if isNotReady(result) then enqueue(fiber) else result
  }

  private def enqueue(fiber: TaskFiber): OperationWaiter =
    val waiter = OperationWaiter(fiber, channel.senders, channel, value, atEnd)
    channel.senders.add(waiter)
    waiter

/** Receives the oldest value. Waits while the channel is empty. */
private[weir] final class Receive[R](channel: ChannelCore, atEnd: Closed => Any)
    extends Exchange[R]:
  def begin(fiber: TaskFiber): Any = channel.locked {
    val result = channel.receiveNow(atEnd)
    if isNotReady(result) then enqueue(fiber) else result
  }

  private def enqueue(fiber: TaskFiber): OperationWaiter =
    val waiter = OperationWaiter(fiber, channel.receivers, channel, (), atEnd)
    channel.receivers.add(waiter)
    waiter

/** Turns the end of a channel into the result of an operation, or throws. */
private[weir] object AtEnd:
  val sendFails: Closed => Nothing = closed => throw ChannelClosed("send", closed)
  val receiveFails: Closed => Nothing = closed => throw ChannelClosed("receive", closed)
  val asValue: Closed => Any = identity

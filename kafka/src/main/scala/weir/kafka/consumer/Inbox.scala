package weir.kafka.consumer

import java.util.concurrent.LinkedBlockingQueue

/** What the poll thread gives to a stream: elements, then the end or an error. The poll thread
  * never waits; what it gives is bounded by pausing partitions.
  */
private[kafka] final class Inbox[A]:
  private val queue = LinkedBlockingQueue[Inbox.Message[A]]()

  def offer(value: A): Unit = queue.add(Inbox.Value(value)): Unit

  def end(): Unit = queue.add(Inbox.Ended(null)): Unit

  def fail(error: Throwable): Unit = queue.add(Inbox.Ended(error)): Unit

  /** The next element, or null at the end. **Waits** for it; an interrupt ends the wait. **Fails**
    * with the error, as often as it is called.
    */
  def take(): A | Null = queue.take() match
    case Inbox.Value(value) => value
    case last @ Inbox.Ended(error) =>
      queue.add(last)
      if error == null then null else throw error

private[kafka] object Inbox:
  sealed trait Message[+A]
  final case class Value[A](value: A) extends Message[A]
  final case class Ended(error: Throwable | Null) extends Message[Nothing]

package weir

import weir.kernel.{RunLoop, Suspend}
import weir.sync.WaitList

/** A bounded queue that parks the fiber, never a thread. First in, first out, for values and for those who wait.
  *
  *   - **Shared, under this object's lock**: everything.
  *   - **Invariant**: takers wait only while it is empty, and offers only while it is full.
  *   - A value passes to a waiting taker, and a place to a waiting offer, by `Waiter.complete`, which tells whether
  *     the other side was still there: so whoever is cancelled while waiting loses nothing.
  */
final class Queue[A] private (capacity: Int):
  private var values = new Array[Any](math.min(capacity, 16))
  private var head = 0
  private var count = 0
  private val takers = WaitList()
  private val offers = WaitList()

  /** Nothing, once `value` is in the queue. '''Waits''' while the queue is full. '''Cancelled''' while it waits: the
    * value is not in the queue. '''Order''': those who wait get their place in the order in which they came.
    */
  def offer(value: A): Task[Unit] = new Suspend[Unit]:
    def begin(fiber: RunLoop): Any = Queue.this.synchronized {
      if accept(value) then ()
      else
        val entry = Queue.Offer(fiber, offers, Queue.this, value)
        offers.add(entry)
        entry
    }

  /** The oldest value. '''Waits''' while the queue is empty. '''Cancelled''' while it waits: the next value is for the
    * next taker. '''Order''': those who wait are served in the order in which they came.
    */
  val take: Task[A] = new Suspend[A]:
    def begin(fiber: RunLoop): Any = Queue.this.synchronized {
      if count > 0 then remove()
      else
        val entry = WaitList.Entry(fiber, takers, Queue.this)
        takers.add(entry)
        entry
    }

  /** True if `value` is in the queue now; false if the queue is full. */
  def tryOffer(value: A): Task[Boolean] = Task.delay(synchronized(accept(value)))

  /** The oldest value, if there is one. */
  def tryTake: Task[Option[A]] = Task.delay(synchronized {
    if count > 0 then Some(remove().asInstanceOf[A]) else None
  })

  /** How many values are in the queue. */
  def size: Task[Int] = Task.delay(synchronized(count))

  private def accept(value: Any): Boolean =
    var taker = takers.poll()
    while (taker ne null) && !taker.complete(value) do taker = takers.poll()
    if taker ne null then true
    else if count < capacity then
      append(value)
      true
    else false

  private def remove(): Any =
    val value = values(head)
    values(head) = null
    head = if head + 1 == values.length then 0 else head + 1
    count -= 1
    var offer = offers.poll()
    while (offer ne null) && !offer.complete(()) do offer = offers.poll()
    offer match
      case offer: Queue.Offer => append(offer.offered)
      case _ => ()
    value

  private def append(value: Any): Unit =
    if count == values.length then grow()
    val end = head + count
    values(if end >= values.length then end - values.length else end) = value
    count += 1

  private def grow(): Unit =
    val larger = new Array[Any](math.min(capacity.toLong, values.length * 2L).toInt)
    var i = 0
    while i < count do
      larger(i) = values((head + i) % values.length)
      i += 1
    values = larger
    head = 0

object Queue:
  private final class Offer(fiber: RunLoop, list: WaitList, lock: AnyRef, val offered: Any)
      extends WaitList.Entry(fiber, list, lock)

  /** A new queue for at most `capacity` values. '''Fails''' with an `IllegalArgumentException` if that is below 1. */
  def bounded[A](capacity: Int): Task[Queue[A]] = Task.delay(unsafe(capacity))

  /** A new queue, made at once, for use outside of tasks. */
  def unsafe[A](capacity: Int): Queue[A] =
    require(
      capacity >= 1,
      s"Queue.bounded: capacity was $capacity. It must be at least 1."
    )
    new Queue[A](capacity)

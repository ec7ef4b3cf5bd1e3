package weir

import weir.kernel.{RunLoop, Suspend}
import weir.sync.{Guarded, GuardedEntry, Values, WaitList}

/** A queue that parks the fiber, never a thread. First in, first out, for values and for those who wait.
  *
  *   - **Kinds**: all of them are this one, with a capacity and a rule for values that come while it is full. A `synchronous` one
  *     has the capacity 0.
  *   - **Invariant**: takers wait only while it is empty, offers only while it is full; so never both.
  *   - A value passes to a waiting taker, and a place to a waiting offer, by `hand`, which tells whether the other side was
  *     still there. The side that hands over is not waiting itself: so whoever is cancelled while waiting loses nothing.
  */
final class Queue[A] private (kind: Queue.Kind, capacity: Int) extends Guarded:

  // under the lock
  private val values = Values(capacity)
  private val takers = WaitList()
  private val offers = WaitList()

  /** Nothing, once `value` is in the queue or, where the queue is dropping, has been dropped. '''Waits''' while a bounded queue
    * is full, and until there is a taker for a synchronous one. '''Cancelled''' while it waits: the value is not in the queue.
    * '''Order''': those who wait get their place in the order in which they came.
    */
  def offer(value: A): Task[Unit] = new Suspend[Unit]:
    def begin(fiber: RunLoop): Any = locked(fiber) {
      if accept(value) || !kind.waits then ()
      else
        val entry = Queue.Offer(fiber, offers, Queue.this, value)
        offers.add(entry)
        entry
    }

  /** The oldest value. '''Waits''' while the queue is empty. '''Cancelled''' while it waits: the next value is for the
    * next taker. '''Order''': those who wait are served in the order in which they came.
    */
  val take: Task[A] = new Suspend[A]:
    def begin(fiber: RunLoop): Any = locked(fiber) {
      val value = remove()
      if value.asInstanceOf[AnyRef] ne Queue.Nothing then value
      else
        val entry = GuardedEntry(fiber, takers, Queue.this)
        takers.add(entry)
        entry
    }

  /** True if `value` is in the queue now, or with a taker; false if there is no place for it. A sliding queue drops its oldest value
    * instead.
    */
  def tryOffer(value: A): Task[Boolean] = new Suspend[Boolean]:
    def begin(fiber: RunLoop): Any = locked(fiber)(accept(value))

  /** The oldest value, if there is one. */
  val tryTake: Task[Option[A]] = new Suspend[Option[A]]:
    def begin(fiber: RunLoop): Any =
      val value = locked(fiber)(remove())
      if value.asInstanceOf[AnyRef] eq Queue.Nothing then None else Some(value.asInstanceOf[A])

  /** The oldest values, at most `limit`; none if the queue is empty. '''Order''': the oldest one first. */
  def tryTakeN(limit: Int): Task[List[A]] = new Suspend[List[A]]:
    def begin(fiber: RunLoop): Any =
      val taken = List.newBuilder[Any]
      locked(fiber) {
        var left = limit
        while left > 0 do
          val value = remove()
          if value.asInstanceOf[AnyRef] eq Queue.Nothing then left = 0
          else
            taken += value
            left -= 1
      }
      taken.result()

  /** How many values are in the queue; those of offers that wait are not. */
  def size: Task[Int] = new Suspend[Int]:
    def begin(fiber: RunLoop): Any = locked(fiber)(values.size)

  /** False if there is no place for `value`. */
  private def accept(value: Any): Boolean =
    var taker = takers.poll()
    while (taker ne null) && !hand(taker, value) do taker = takers.poll()
    if taker ne null then true
    else if !values.isFull then
      values.append(value)
      true
    else if kind == Queue.Kind.Sliding then
      values.removeOldest(): Unit
      values.append(value)
      true
    else false

  /** The oldest value, or `Nothing`; its place is for the offer that has waited longest. */
  private def remove(): Any =
    val value = if !values.isEmpty then values.removeOldest() else Queue.Nothing
    var offer = offers.poll()
    while (offer ne null) && !hand(offer, ()) do offer = offers.poll()
    offer match
      case offer: Queue.Offer =>
        if capacity == 0 then offer.offered
        else
          values.append(offer.offered)
          value
      case _ => value

  private[weir] def leave(entry: GuardedEntry): Unit = locked(entry.fiber)(entry.leaveList())

  def awaitedAs: String =
    val name =
      if kind == Queue.Kind.Unbounded || kind == Queue.Kind.Synchronous then kind.word
      else s"${kind.word}($capacity)"
    if capacity == 0 && !offers.isEmpty then s"Queue.$name, without a taker"
    else s"Queue.$name, which is ${if values.isEmpty then "empty" else "full"}"

object Queue:
  private object Nothing

  private enum Kind(val word: String, val waits: Boolean):
    case Bounded extends Kind("bounded", waits = true)
    case Unbounded extends Kind("unbounded", waits = true)
    case Dropping extends Kind("dropping", waits = false)
    case Sliding extends Kind("sliding", waits = false)
    case Synchronous extends Kind("synchronous", waits = true)

  private final class Offer(fiber: RunLoop, list: WaitList, queue: Guarded, val offered: Any)
      extends GuardedEntry(fiber, list, queue)

  /** A new queue for at most `capacity` values. An offer waits while it is full. '''Fails''' with an
    * `IllegalArgumentException` if `capacity` is below 1.
    */
  def bounded[A](capacity: Int): Task[Queue[A]] = Task.delay(unsafe(capacity))

  /** A new queue without a limit: an offer never waits, and what is not taken stays in memory. */
  def unbounded[A]: Task[Queue[A]] = Task.delay(new Queue[A](Kind.Unbounded, Int.MaxValue))

  /** A new queue for at most `capacity` values. While it is full, a value that is offered is dropped. '''Fails''' as `bounded`. */
  def dropping[A](capacity: Int): Task[Queue[A]] =
    Task.delay(new Queue[A](Kind.Dropping, checked("dropping", capacity)))

  /** A new queue for at most `capacity` values. While it is full, a value that is offered takes the place of the oldest one.
    * '''Fails''' as `bounded`.
    */
  def sliding[A](capacity: Int): Task[Queue[A]] =
    Task.delay(new Queue[A](Kind.Sliding, checked("sliding", capacity)))

  /** A new queue that holds nothing: an offer waits for its taker, and a taker for its offer. */
  def synchronous[A]: Task[Queue[A]] = Task.delay(new Queue[A](Kind.Synchronous, 0))

  /** As `bounded`, made at once, for use outside of tasks. */
  def unsafe[A](capacity: Int): Queue[A] =
    new Queue[A](Kind.Bounded, checked("bounded", capacity))

  private def checked(kind: String, capacity: Int): Int =
    require(
      capacity >= 1,
      s"Queue.$kind: capacity was $capacity. It must be at least 1. For no limit, use Queue.unbounded."
    )
    capacity

package weir

import scala.collection.mutable.ArrayBuffer
import weir.fiber.{Exchange, Suspend, TaskFiber, WaitList}
import weir.metrics.{Metric, NamedMetrics}
import weir.stream.IteratorSource
import weir.sync.{Guarded, GuardedEntry, Values}

/** A queue of values. Values leave it in the order in which they came, and waiting fibers are
  * served in the order in which they came.
  *
  *   - **Kinds**: each kind is this class, with a capacity and a rule for a value that is offered
  *     while the queue is full. A `synchronous` queue has the capacity 0.
  *   - **Invariant**: takers wait only while the queue is empty, offers only while it is full; so
  *     never both.
  *   - **Handing over**: a value goes to a waiting taker, and room to a waiting offer, by `hand`,
  *     which returns whether the other fiber was still waiting. The fiber that hands over does not
  *     wait itself. So a fiber that is cancelled while it waits loses nothing.
  */
final class Queue[A] private (kind: Queue.Kind, capacity: Int) extends Guarded:

  // under the lock
  private val values = Values(capacity)
  private val takers = WaitList()
  private val offers = WaitList()

  /** Offers `value`: returns once it is in the queue, or, if the queue is dropping, once it has
    * been dropped.
    *
    * **Waits** while a bounded queue is full, and until there is a taker for a synchronous one.
    * **Cancelled** while it waits: the value is not in the queue. **Order**: values of waiting
    * offers enter the queue in the order in which the offers came.
    */
  def offer(value: A): Task[Unit] = new Exchange[Unit]:
    def begin(fiber: TaskFiber): Any = locked(fiber) {
      if accept(value) || !kind.waits then ()
      else
        val entry = Queue.Offer(fiber, offers, Queue.this, value, accepted = ())
        offers.add(entry)
        entry
    }

  /** Takes the oldest value.
    *
    * **Waits** while the queue is empty. **Cancelled** while it waits: the next value goes to the
    * next taker. **Order**: waiting takers are served in the order in which they came.
    */
  val take: Task[A] = new Exchange[A]:
    def begin(fiber: TaskFiber): Any = locked(fiber) {
      val value = remove()
      if value.asInstanceOf[AnyRef] ne Queue.Nothing then value
      else
        val entry = GuardedEntry(fiber, takers, Queue.this)
        takers.add(entry)
        entry
    }

  /** Offers `value` without waiting. Returns true if it is in the queue or with a taker, false if
    * there is no room for it. A sliding queue drops its oldest value to make room.
    */
  def tryOffer(value: A): Task[Boolean] = new Suspend[Boolean]:
    def begin(fiber: TaskFiber): Any = locked(fiber)(accept(value))

  /** Takes the oldest value if there is one. */
  val tryTake: Task[Option[A]] = new Suspend[Option[A]]:
    def begin(fiber: TaskFiber): Any =
      val value = locked(fiber)(remove())
      if value.asInstanceOf[AnyRef] eq Queue.Nothing then None else Some(value.asInstanceOf[A])

  /** Takes the oldest values, at most `limit`. Returns an empty list if the queue is empty.
    * **Order**: the oldest first.
    */
  def tryTakeN(limit: Int): Task[List[A]] = new Suspend[List[A]]:
    def begin(fiber: TaskFiber): Any =
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

  /** Takes all values that are in the queue, and those of waiting offers. Returns an empty list if
    * there are none.
    */
  def takeAll: Task[List[A]] = tryTakeN(Int.MaxValue)

  /** Takes the `n` oldest values. See `takeBetween`. */
  def takeN(n: Int): Task[List[A]] = takeBetween(n, n)

  /** Takes the oldest values: at least `min`, and at most `max` if there are more by then.
    *
    * **Waits** until there are `min` values, and takes them as they arrive. **Cancelled** while it
    * waits: the values that it has taken are at the front of the queue again, even if the queue
    * then holds more than its capacity. Once the task has ended, the values are the caller's. To
    * lose none to a cancel, process them under the same mask. **Fails** with an
    * `IllegalArgumentException` if `max` is below `min`. **Order**: as the values leave the queue;
    * other takers may take values in between.
    * {{{
    * def storing(lines: Queue[String]): Task[Nothing] = Task
    *   .uncancelable(poll => poll(lines.takeBetween(1, 100)).flatMap(b => store(b.mkString("\n"))))
    *   .forever
    * }}}
    */
  def takeBetween(min: Int, max: Int): Task[List[A]] = Task.uncancelable { poll =>
    require(
      min <= max,
      s"Queue.takeBetween: min was $min and max $max. min must be at most max."
    )
    val taken = ArrayBuffer[A]()
    def fill: Task[List[A]] = tryTakeN(max - taken.size).flatMap { now =>
      taken ++= now
      if taken.size >= min then Task.pure(taken.toList)
      else
        poll(take).flatMap { value =>
          taken += value
          fill
        }
    }
    fill.onCancel(putBack(taken))
  }

  /** Offers all of `values`, one after the other: see `offer`. This costs less than an `offer` of
    * each. If `values` is lazy, each value is offered before the next one is asked for, at the cost
    * of an `offer` each. **Cancelled** while it waits: the rest of the values are not in the queue.
    * **Order**: values of other fibers may come in between.
    * {{{
    * def offering(lines: Queue[String]): Task[Unit] = Stream
    *   .linesOf(path)
    *   .chunks()
    *   .evalForeach(lines.offerAll)
    * }}}
    */
  def offerAll(values: Iterable[A]): Task[Unit] =
    if IteratorSource.isStrict(values) then
      Task.defer(offerGroups(values.iterator.grouped(Queue.mostAtOnce)))
    else Task.foreach(values)(offer)

  private def offerGroups(groups: Iterator[Seq[A]]): Task[Unit] = Task.defer {
    if groups.hasNext then offerFrom(groups.next(), 0).flatMap(_ => offerGroups(groups))
    else Task.unit
  }

  private def offerFrom(values: Seq[A], first: Int): Task[Unit] =
    if first == values.size then Task.unit
    else OfferMany(values, first).flatMap(next => offerFrom(values, next))

  /** Offers `values` from the index `first` on, as many as there is room for, and at least one.
    * Returns the index after them.
    */
  private final class OfferMany(values: Seq[A], first: Int) extends Exchange[Int]:
    def begin(fiber: TaskFiber): Any = locked(fiber) {
      var next = first
      while next < values.size && (accept(values(next)) || !kind.waits) do next += 1
      if next > first then next
      else
        val entry = Queue.Offer(fiber, offers, Queue.this, values(first), accepted = first + 1)
        offers.add(entry)
        entry
    }

  /** Returns the number of values in the queue, without those of waiting offers. */
  def size: Task[Int] = new Suspend[Int]:
    def begin(fiber: TaskFiber): Any = locked(fiber)(values.size)

  /** Makes `taken` the oldest values again, or gives them to takers that wait by now. */
  private def putBack(taken: ArrayBuffer[A]): Task[Unit] = new Suspend[Unit]:
    def begin(fiber: TaskFiber): Any = locked(fiber) {
      var served = 0
      while served < taken.size && handToTaker(taken(served)) do served += 1
      var last = taken.size
      while last > served do
        last -= 1
        values.prepend(taken(last))
    }

  /** Under the lock: puts `value` into the queue, or gives it to a taker. Returns false if there is
    * no room for it.
    */
  private def accept(value: Any): Boolean =
    if handToTaker(value) then true
    else if !values.isFull then
      values.append(value)
      true
    else if kind == Queue.Kind.Sliding then
      while values.isFull do values.removeOldest(): Unit
      values.append(value)
      true
    else false

  /** Under the lock: gives `value` to a waiting taker. Returns false if no taker waits. */
  private def handToTaker(value: Any): Boolean =
    var taker = takers.poll()
    while (taker ne null) && !hand(taker, value) do taker = takers.poll()
    taker ne null

  /** Under the lock: removes and returns the oldest value, or returns `Nothing` if there is none.
    * Gives the room to the offer that has waited longest, unless values that were put back still
    * fill the capacity.
    */
  private def remove(): Any =
    val value = if !values.isEmpty then values.removeOldest() else Queue.Nothing
    if (value.asInstanceOf[AnyRef] ne Queue.Nothing) && values.isFull then value
    else
      var offer = offers.poll()
      while (offer ne null) && !hand(offer, Queue.accepted(offer)) do offer = offers.poll()
      offer match
        case offer: Queue.Offer =>
          if capacity == 0 then offer.offered
          else
            values.append(offer.offered)
            value
        case _ => value

  /** Names this queue: `WeirRuntime.metrics` then reports its metrics under that name. Returns this
    * queue.
    * {{{
    * val orders = Queue.bounded[String](10).map(_.named("orders"))
    * }}}
    */
  def named(name: String): this.type =
    NamedMetrics.register(this, name)((queue, named) => queue.figures(named))
    this

  private def figures(named: NamedMetrics): Vector[Metric] =
    named.queue("queue", values.size, capacity, givers = offers.size, takers = takers.size)

  private[weir] def leave(entry: GuardedEntry): Unit = locked(entry.fiber)(entry.leaveList())

  private[weir] def awaitedAs: String =
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

  /** @param accepted the value that the fiber gets once the value that it has offered is in the
    *   queue
    */
  private final class Offer(
      fiber: TaskFiber,
      list: WaitList,
      queue: Guarded,
      val offered: Any,
      val accepted: Any
  ) extends GuardedEntry(fiber, list, queue)

  private def accepted(entry: WaitList.Entry): Any = entry.asInstanceOf[Offer].accepted

  /** The number of values of an `offerAll` that go in under the lock at once: the lock is held for
    * about 0.5 µs.
    */
  private inline val mostAtOnce = 64

  /** Returns a new queue for at most `capacity` values. An offer waits while the queue is full.
    * **Fails** with an `IllegalArgumentException` if `capacity` is below 1.
    * {{{
    * val stored = Queue.bounded[String](10).flatMap { pages =>
    *   val fetching = Task.foreach(urls)(url => Task(fetch(url)).flatMap(pages.offer))
    *   val storing = Task.foreach(urls)(_ => pages.take.flatMap(store))
    *   fetching.both(storing)
    * }
    * }}}
    */
  def bounded[A](capacity: Int): Task[Queue[A]] = Task.delay(unsafe(capacity))

  /** Returns a new queue without a limit: an offer never waits, and values that are not taken stay
    * in memory.
    */
  def unbounded[A]: Task[Queue[A]] = Task.delay(new Queue[A](Kind.Unbounded, Int.MaxValue))

  /** Returns a new queue for at most `capacity` values. While the queue is full, an offered value
    * is dropped. **Fails** as `bounded`.
    */
  def dropping[A](capacity: Int): Task[Queue[A]] =
    Task.delay(new Queue[A](Kind.Dropping, checked("dropping", capacity)))

  /** Returns a new queue for at most `capacity` values. While the queue is full, an offered value
    * replaces the oldest one. **Fails** as `bounded`.
    */
  def sliding[A](capacity: Int): Task[Queue[A]] =
    Task.delay(new Queue[A](Kind.Sliding, checked("sliding", capacity)))

  /** Returns a new queue that holds no value: an offer waits for its taker, and a taker for its
    * offer.
    */
  def synchronous[A]: Task[Queue[A]] = Task.delay(new Queue[A](Kind.Synchronous, 0))

  /** As `bounded`, but makes the queue at once, for use outside of tasks. */
  def unsafe[A](capacity: Int): Queue[A] =
    new Queue[A](Kind.Bounded, checked("bounded", capacity))

  private def checked(kind: String, capacity: Int): Int =
    require(
      capacity >= 1,
      s"Queue.$kind: capacity was $capacity. It must be at least 1. For no limit, use " +
        "Queue.unbounded."
    )
    capacity

package weir.std

import java.util.HashSet
import java.util.concurrent.ConcurrentLinkedQueue
import scala.concurrent.duration.{Duration, FiniteDuration}
import scala.jdk.CollectionConverters.*
import weir.fiber.{Awaited, Exchange, RunsUserCode, TaskFiber, WaitList}
import weir.runtime.{Alarm, Timers}
import weir.sync.KeyedLines
import weir.{Stream, Task, WeirRuntime}

/** A queue of values with keys, which gives out only values that may begin. Examples are a
  * crawler's addresses by host, jobs by customer, and messages by account.
  *
  *   - **Fair**: the keys with a value that may begin take turns, however many values they have.
  *   - **Limits**: at most `perKey` values of a key are in flight at once. With 1, the values of a
  *     key are processed one after the other.
  *   - **Again**: a value may come back after a delay, and all values of a key may be delayed. A
  *     value that waits for a delay, or for other values of its key, does not count as in flight.
  *   - **Order**: within a key, values that come back begin before those that were never in flight.
  *     In both groups the values with the highest `priority` are first. Values of the same priority
  *     begin in the order in which they arrived or came back.
  *
  * {{{
  * val pages: Stream[String] = Stream
  *   .eval(KeyedQueue[String, java.net.URI](capacity = 1000, _.getHost, perKey = _ => 4))
  *   .flatMap { waiting =>
  *     waiting
  *       .process(32)(url => Task(KeyedQueue.Next.Done(fetch(url))))
  *       .concurrently(Stream.exec(waiting.offerAll(urls) >> waiting.close))
  *   }
  * }}}
  *
  *   - **Shared, under this object's monitor**: the values, the lines of fibers, the alarm.
  *   - **Invariant**, with the monitor free: no fiber waits for a value while one may begin, and no
  *     offer waits while there is room. While a fiber waits for a value, the alarm is set for the
  *     next time at which something happens.
  *   - **The race that we fear**: a cancel comes after a value was handed to a fiber, and the value
  *     is lost. So a run owns each value from the hand-over on, which happens under the monitor,
  *     and at its end gives back the values that it has not answered.
  */
final class KeyedQueue[K, A] private (
    capacity: Int,
    key: A => K,
    perKey: K => Int,
    priority: A => Long,
    timers: Timers
) extends Awaited:
  import KeyedQueue.*

  private val lines = KeyedLines[K, A]()
  private val takers = WaitList()
  private val offers = WaitList()
  private var alarm: Alarm | Null = null
  private var closed = false

  // ---- offering ----

  /** Offers `value`: returns once it is in the queue.
    *
    * **Waits** while `capacity` values wait that were never in flight. **Cancelled** while it
    * waits: the value is not in the queue. **Fails** with an `IllegalStateException` if the queue
    * is closed, also while it waits: the value is not in the queue. **Order**: waiting offers are
    * served in the order in which they came.
    */
  def offer(value: A): Task[Unit] = new Exchange[Unit] with RunsUserCode:
    def begin(fiber: TaskFiber): Any =
      val item = itemOf(value, isFresh = true)
      KeyedQueue.this.synchronized {
        if closed then throw closedError
        lines.place(List(item)) // may throw: nothing is changed before it
        if offers.isEmpty && lines.fresh < capacity then
          lines.add(item)
          serve()
        else
          val entry = OfferEntry(fiber, item)
          offers.add(entry)
          entry
      }

  /** Offers all of `values`, one after the other: see `offer`. **Cancelled** while it waits: the
    * rest of the values are not in the queue.
    */
  def offerAll(values: Iterable[A]): Task[Unit] = Task.foreach(values)(offer)

  /** Closes the queue. Returns true if this call has closed it, false if it was closed before.
    * Nothing can be offered after that, and waiting offers fail. Values that are in flight may
    * still add others by `Next.Done`. `process` ends when nothing waits and nothing is in flight.
    */
  val close: Task[Boolean] = Task.delay(synchronized {
    val isFirst = !closed
    closed = true
    var offer = firstOffer()
    while offer ne null do
      if offer.fail(closedError) then lines.drop(offer.item)
      offer = firstOffer()
    serve()
    isFirst
  })

  /** Lets no value of `key` begin for `delay`. Values that are in flight continue. A shorter hold
    * has no effect on a longer one.
    */
  def hold(key: K, delay: FiniteDuration): Task[Unit] = Task.delay {
    val limit = limitOf(key)
    synchronized {
      lines.hold(key, limit, dueIn(delay))
      serve()
    }
  }

  // ---- processing ----

  /** Runs `f` with each value that may begin, for at most `parallel` values at once, and emits the
    * results in the order in which the runs end. `f` returns the next step for its value: see
    * `Next`.
    *
    * Ends when the queue is closed, nothing waits and nothing is in flight. Several of these
    * streams, one after the other or concurrently, share the values. **Waits** for values that may
    * begin. **Fails** with the first error of `f`, and with an `IllegalArgumentException` if
    * `parallel` is below 1. **Cancelled**, failed or not read to its end: values for which there
    * was no answer are in the queue again, before those that were never in flight. Results that
    * were not read are lost.
    */
  def process[B](parallel: Int)(f: A => Task[Next[A, B]]): Stream[B] =
    require(
      parallel >= 1,
      s"KeyedQueue.process: parallel was $parallel. It must be at least 1."
    )
    Stream
      .bracket(Task.delay(Turns[B]()))(turns => Task.delay(giveBack(turns)))
      .flatMap { turns =>
        Stream
          .repeatEvalOption(Take(turns))
          .parEvalMapUnordered(parallel)(item =>
            Task.uncancelable(poll => poll(f(item.value)).flatMap(answered(turns, item, _)))
          )
          .filter(hasResult => hasResult)
          .map(_ => turns.results.poll().nn.get)
      }

  /** Takes a value that may begin, and waits until there is one. Returns `None` at the end. */
  private final class Take(turns: Turns[?]) extends Exchange[Option[Item]]:
    def begin(fiber: TaskFiber): Any = KeyedQueue.this.synchronized {
      lines.wake(timers.nanoTime)
      val item = lines.first()
      if item ne null then
        begun(turns, item)
        serve()
        Some(item)
      else if isOver then None
      else
        val entry = TakeEntry(fiber, turns)
        takers.add(entry)
        setAlarm()
        entry
    }

  /** Applies the answer for `item`. Returns true if there is a result. */
  private def answered[B](turns: Turns[B], item: Item, next: Next[A, B]): Task[Boolean] =
    Task.delay {
      val (result, added, delay, holds) = next match
        case Next.Done(result, found) =>
          (Some(result), found.iterator.map(itemOf(_, isFresh = true)).toList, Duration.Zero, false)
        case Next.Again(value, delay) => (None, List(itemOf(value, isFresh = false)), delay, false)
        case Next.Hold(value, delay) => (None, List(itemOf(value, isFresh = false)), delay, true)
      val isLater = delay > Duration.Zero && !holds
      synchronized {
        lines.place(added) // may throw: nothing is changed before it
        turns.items.remove(item): Unit
        if result.nonEmpty then turns.results.add(result): Unit
        if holds then added.foreach(lines.holdLineOf(_, dueIn(delay)))
        if isLater then added.foreach(lines.addLater(_, dueIn(delay))) else added.foreach(lines.add)
        lines.finish(item)
        serve()
      }
      result.nonEmpty
    }

  private def giveBack(turns: Turns[?]): Unit = synchronized {
    turns.items.asScala.foreach(lines.giveBack)
    turns.items.clear()
    serve()
  }

  // ---- how much there is ----

  /** Returns the number of values that wait: for their turn, or for the end of a delay. */
  val size: Task[Int] = Task.delay(synchronized(lines.size))

  /** Returns the number of values that are in flight. */
  val underWay: Task[Int] = Task.delay(synchronized(lines.underWay))

  /** Returns the number of keys that have a value, or are held. */
  val keys: Task[Int] = Task.delay(synchronized {
    serve() // holds may be over, of which no fiber has waited for the end
    lines.keys
  })

  // ---- under the monitor ----

  /** Hands values to the fibers that wait for one, and room to the offers that wait, as far as
    * there are any. Then sets the alarm.
    */
  private def serve(): Unit =
    lines.wake(timers.nanoTime)
    while serveTaker() || serveOffer() do ()
    if isOver then
      var taker = takers.poll()
      while taker ne null do
        taker.complete(None): Unit
        taker = takers.poll()
    setAlarm()

  /** Hands a value to a fiber that waits for one. Returns false if there is no value that may
    * begin, or no such fiber.
    */
  private def serveTaker(): Boolean =
    val item = lines.first()
    val taker = if item eq null then null else takers.poll().asInstanceOf[TakeEntry | Null]
    if (item ne null) && (taker ne null) && taker.complete(Some(item)) then begun(taker.turns, item)
    taker ne null

  /** Hands room to an offer that waits for it. Returns false if there is no room, or no such offer.
    */
  private def serveOffer(): Boolean =
    val offer = if lines.fresh < capacity then firstOffer() else null
    if (offer ne null) && offer.complete(()) then lines.add(offer.item)
    offer ne null

  private def firstOffer(): OfferEntry | Null = offers.poll().asInstanceOf[OfferEntry | Null]

  private def begun(turns: Turns[?], item: Item): Unit =
    lines.take()
    turns.items.add(item): Unit

  private def isOver: Boolean = closed && lines.isEmpty

  private def setAlarm(): Unit =
    val before = alarm
    val isNeeded = !takers.isEmpty && lines.hasLater
    if before ne null then
      if !isNeeded || before.dueNanos != lines.nextNanos then
        alarm = null
        timers.remove(before): Unit
    if isNeeded && (alarm eq null) then
      try
        val next = Ring(lines.nextNanos)
        timers.add(next)
        alarm = next
      catch case error: Throwable => failTakers(error)

  /** Fails the fibers that wait for a value, which no alarm would wake. The next fiber that takes
    * sets an alarm.
    */
  private def failTakers(error: Throwable): Unit =
    var taker = takers.poll()
    while taker ne null do
      taker.fail(error): Unit
      taker = takers.poll()

  private final class Ring(val dueNanos: Long) extends Alarm:
    def ring(): Unit = KeyedQueue.this.synchronized {
      if alarm eq this then
        alarm = null
        serve()
    }

  // ---- without the monitor ----

  private type Item = KeyedLines.Item[K, A]

  /** Makes the item for `value`, with the functions of the user. */
  private def itemOf(value: A, isFresh: Boolean): Item =
    val itsKey = key(value)
    KeyedLines.Item(itsKey, limitOf(itsKey), value, priority(value), isFresh)

  private def limitOf(key: K): Int =
    val limit = perKey(key)
    require(
      limit >= 1,
      s"KeyedQueue: perKey was $limit for the key $key. It must be at least 1, or no value of " +
        "the key would ever begin."
    )
    limit

  private def dueIn(delay: FiniteDuration): Long = Alarm.due(timers, delay.toNanos max 0)

  /** The values that a run of `process` has taken. */
  private final class Turns[B]:
    /** The values for which there is no answer. Under the monitor. */
    val items = HashSet[Item]()

    /** The results that were not read, in the order in which the runs of `f` have ended. A result
      * is added under the monitor, before the next value of its key can begin. So the results of a
      * key are in the order of its values, even if the stage that runs `f` passes them on in
      * another order.
      */
    val results = ConcurrentLinkedQueue[Option[B]]()

  /** An offer that waits. Its item has been placed in a line; a cancel drops it. */
  private final class OfferEntry(fiber: TaskFiber, val item: Item)
      extends WaitList.Entry(fiber, offers, KeyedQueue.this):
    override def abandon(): Unit = KeyedQueue.this.synchronized {
      offers.remove(this)
      lines.drop(item)
    }

  private final class TakeEntry(fiber: TaskFiber, val turns: Turns[?])
      extends WaitList.Entry(fiber, takers, KeyedQueue.this):
    override def abandon(): Unit = KeyedQueue.this.synchronized {
      takers.remove(this)
      setAlarm()
    }

  private[weir] def awaitedAs: String =
    s"KeyedQueue, with ${lines.size} values that wait and ${lines.underWay} under way"

object KeyedQueue:
  /** The answer for a value that was processed: it is done, or begins again. */
  enum Next[+A, +B]:
    /** The value is done, with a result. The values `found` are added to the queue, even beyond its
      * capacity: otherwise all values that are in flight could wait for room that only they can
      * make.
      */
    case Done(result: B, found: Iterable[A] = Nil)

    /** `value` begins again once `delay` is over, before others of its key that were never in
      * flight. Meanwhile it does not count as in flight.
      */
    case Again(value: A, delay: FiniteDuration = Duration.Zero)

    /** No value of the key of `value` begins for `delay`; then `value` begins again. */
    case Hold(value: A, delay: FiniteDuration)

  /** Returns a new queue.
    *
    * @param capacity the number of values that may wait and were never in flight; offers wait while
    *   there are as many
    * @param key returns the key of a value
    * @param perKey returns the number of values of a key that may be in flight at once, at least 1;
    *   it must return the same for a key each time
    * @param priority returns the priority of a value: those with the highest priority of a key
    *   begin first
    *
    * **Fails** with an `IllegalArgumentException` if `capacity` is below 1. `offer`, `hold` and
    * `process` fail with that error if `perKey` returns less than 1.
    */
  def apply[K, A](
      capacity: Int,
      key: A => K,
      perKey: K => Int,
      priority: A => Long = (_: A) => 0L
  ): Task[KeyedQueue[K, A]] =
    Task.onRuntime(runtime => unsafe(capacity, key, perKey, priority)(using runtime))

  /** As `apply`, but makes the queue at once, for use outside of tasks, with the clock of
    * `runtime`.
    */
  def unsafe[K, A](
      capacity: Int,
      key: A => K,
      perKey: K => Int,
      priority: A => Long = (_: A) => 0L
  )(using runtime: WeirRuntime): KeyedQueue[K, A] =
    require(
      capacity >= 1,
      s"KeyedQueue: capacity was $capacity. It must be at least 1."
    )
    new KeyedQueue[K, A](capacity, key, perKey, priority, runtime.timers)

  private def closedError = IllegalStateException(
    "KeyedQueue.offer: the queue is closed, so the value was not added. Offer values before the " +
      "close; after it, a value in flight can still add others by Next.Done."
  )

package weir.cli.feeds.run

import java.util.concurrent.locks.ReentrantLock
import scala.collection.mutable
import scala.concurrent.duration.*
import scala.util.hashing.byteswap64

import weir.cli.feeds.store.DueFeed

/** The feeds that wait to be fetched: hands out only those that can begin at once.
  *
  * What waits for the turn of its host, or for the end of a back-off, waits in here and holds none
  * of the `--parallel` places; so neither a slow host nor a failing one keeps others from being
  * fetched.
  *
  *   - **Waiting is blocking**: a plain lock and two conditions. Callers are tasks; a task that
  *     blocks costs no thread, and its cancellation is the interrupt of the wait.
  *   - **Fair**: hosts that have something to fetch and a turn free take turns, round robin.
  *   - **Order**: within a host the longest expected first, so that no long one begins when all
  *     else is done. Those that differ by less than twice are shuffled by `seed`, so that processes
  *     which share the feeds do not ask for the same one at the same time. A feed that is tried
  *     again goes before all others, since it is on its way.
  *   - **The start**: nothing is handed out until each source has delivered a page, or the longest
  *     feeds of a source that is a little late would find all places taken.
  *   - **Invariant**: a host is in `ready` if and only if it has a waiting feed and a free turn,
  *     and is not held.
  *   - **The end**: nothing more is offered, nothing waits, nothing is under way.
  *
  * @param perHost
  *   how many feeds of a host may be under way at once
  * @param capacity
  *   how many feeds may wait before `offer` does
  * @param sources
  *   how many sources offer feeds, numbered from 0
  * @param seed
  *   another one in each process
  */
final class Backlog(perHost: String => Int, capacity: Int, sources: Int, seed: Long):
  private val order = Ordering.by: (turn: Turn) =>
    val magnitude = 64 - java.lang.Long.numberOfLeadingZeros(turn.feed.expectedMillis)
    (turn.tries > 0, magnitude, byteswap64(turn.feed.id ^ seed))

  private final class Host(val limit: Int):
    val waiting = mutable.PriorityQueue.empty[Turn](using order)
    var underWay = 0
    var isHeld = false
    def isReady: Boolean = waiting.nonEmpty && underWay < limit && !isHeld

  /** What happens at a time: the turn is tried again, or its host is no longer held. */
  private final case class Later(what: Turn | Host, atNanos: Long)

  private val lock = ReentrantLock()
  private val mayTake = lock.newCondition()
  private val mayOffer = lock.newCondition()

  // guarded by lock
  private val hosts = mutable.HashMap.empty[String, Host]
  private val ready = mutable.ArrayDeque.empty[Host]
  private val later = mutable.PriorityQueue.empty[Later](using Ordering.by(-_.atNanos))
  private var waiting = 0
  private var underWay = 0
  private var delivered = Set.empty[Int]
  private var isClosed = false

  /** Adds a page of feeds, which may be empty. **Waits** while `capacity` feeds wait. */
  def offer(source: Int, page: Vector[DueFeed]): Unit = locked:
    while waiting >= capacity do mayOffer.await()
    page.foreach(feed => add(Turn(feed)))
    if !delivered(source) then
      delivered += source
      if hasStarted then mayTake.signalAll()

  /** No more feeds will be offered. */
  def close(): Unit = locked:
    isClosed = true
    mayTake.signalAll()

  /** The next feed that can begin, or none at the end.
    *
    * **Waits** for a feed, a turn of its host, or the end of a back-off. Each feed taken must be
    * given back by `finish` or `retry`.
    */
  def take(): Option[Turn] = locked:
    wakeLater()
    while (ready.isEmpty || !hasStarted) && !isOver do
      later.headOption match
        case Some(next) =>
          val _ = mayTake.awaitNanos((next.atNanos - System.nanoTime()).max(1))
        case None => mayTake.await()
      wakeLater()
    if ready.isEmpty then None
    else
      val host = ready.removeHead()
      val turn = host.waiting.dequeue()
      host.underWay += 1
      underWay += 1
      waiting -= 1
      if host.isReady then ready.append(host)
      mayOffer.signal()
      Some(turn)

  /** The feed is done for this run. */
  def finish(turn: Turn): Unit = locked(free(turn))

  /** The feed is to be tried again after `wait`. */
  def retry(turn: Turn, wait: FiniteDuration): Unit = locked:
    later.enqueue(Later(turn, System.nanoTime() + wait.toNanos))
    free(turn)

  /** The feed goes back to those that wait, and its host is held for `wait`: other processes have
    * all of its turns.
    */
  def hold(turn: Turn, wait: FiniteDuration): Unit = locked:
    val host = hosts(turn.feed.url.host)
    if host.isReady then ready -= host
    if !host.isHeld then
      host.isHeld = true
      later.enqueue(Later(host, System.nanoTime() + wait.toNanos))
    host.waiting.enqueue(turn)
    waiting += 1
    free(turn)

  /** How many feeds wait for the end of a back-off. */
  def backingOff: Int = locked(later.count(_.what.isInstanceOf[Turn]))

  private def hasStarted = isClosed || delivered.size == sources

  private def isOver = isClosed && waiting == 0 && underWay == 0 && later.isEmpty

  private def free(turn: Turn): Unit =
    val host = hosts(turn.feed.url.host)
    val wasReady = host.isReady
    host.underWay -= 1
    underWay -= 1
    if !wasReady && host.isReady then ready.append(host)
    mayTake.signalAll()

  private def add(turn: Turn): Unit =
    val name = turn.feed.url.host
    val host = hosts.getOrElseUpdate(name, Host(perHost(name)))
    val wasReady = host.isReady
    host.waiting.enqueue(turn)
    waiting += 1
    if !wasReady && host.isReady then ready.append(host)
    mayTake.signal()

  private def wakeLater(): Unit =
    val now = System.nanoTime()
    while later.headOption.exists(_.atNanos - now <= 0) do
      later.dequeue().what match
        case turn: Turn => add(turn)
        case host: Host =>
          host.isHeld = false
          if host.isReady then ready.append(host)

  private def locked[A](body: => A): A =
    lock.lockInterruptibly()
    try body
    finally lock.unlock()

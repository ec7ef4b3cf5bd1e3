package weir

import java.util.LinkedHashMap
import java.util.concurrent.{CancellationException, ConcurrentHashMap}
import scala.concurrent.duration.{Duration, FiniteDuration}
import weir.kernel.{RunLoop, Suspend}
import weir.runtime.Timers
import weir.sync.{Awaited, WaitList}
import weir.task.Guarantee
import weir.trace.ErrorTrace

/** Keeps the values that were loaded for keys; fibers that want one key at once share one load.
  *
  *   - **Shared**: `slots`, from which a value that is there is read without a lock. A slot holds a value, or the `Flight`
  *     of a load that is under way.
  *   - **Shared, under this object's lock**: every change of `slots`, the two orders in which values are let go, and who
  *     waits for a flight.
  *   - **A load** runs on a fiber of its own, which the callers wait for: so a cancel of one is none of the others'
  *     business. The last caller to be cancelled cancels the fiber, and waits for it. In the same step under the lock, the slot
  *     leaves the table, so that nobody joins a load that is being cancelled.
  *   - **A slot that was invalidated while it loads** is out of the table: its callers get the value, and it is not kept.
  */
final class Cache[K, V] private (expireAfterNanos: Long, maxSize: Int, timers: Timers):
  import Cache.{Flight, Slot}
  private val expires = expireAfterNanos != Long.MaxValue
  private val isBounded = maxSize != Int.MaxValue

  // shared
  private val slots = ConcurrentHashMap[K, Slot]()

  /** What was used last, so that using it again needs no lock. */
  @volatile private var lastUsed: Slot | Null = null

  // shared, under this object's lock
  private val byUse = LinkedHashMap[K, Slot](16, 0.75f, true)
  private val byAge = LinkedHashMap[K, Slot]()

  /** The value for `key` that is kept, or what `load` returns, which is then kept.
    *
    * '''Waits''' for a load of this key that is under way. '''Cancelled''': the load goes on for those who still wait for
    * it; the last one cancels it, and waits for its finalizers. '''Fails''' with the error of the load, which all who wait
    * for it get; nothing is kept then, and the next caller loads again.
    */
  def get(key: K)(load: Task[V]): Task[V] = new Suspend[V]:
    def begin(fiber: RunLoop): Any =
      val slot = slots.get(key)
      if (slot ne null) && isFresh(slot) then used(key, slot)
      else join(key, load, fiber)

  /** The value for `key` if one is kept. */
  def getIfPresent(key: K): Task[Option[V]] = Task.delay {
    val slot = slots.get(key)
    if (slot ne null) && isFresh(slot) then Some(used(key, slot).asInstanceOf[V]) else None
  }

  /** Lets go of the value for `key`. A load that is under way is not kept; who waits for it gets its value, and the next
    * caller loads again.
    */
  def invalidate(key: K): Task[Unit] = Task.delay(synchronized(remove(key)))

  /** As `invalidate`, for all keys. */
  def invalidateAll: Task[Unit] = Task.delay(synchronized {
    slots.clear()
    byUse.clear()
    byAge.clear()
    lastUsed = null
  })

  /** How many values are kept or being loaded. */
  def size: Task[Int] = Task.delay(synchronized {
    removeExpired()
    slots.size
  })

  private def isFresh(slot: Slot): Boolean =
    slot.isLoaded && (!expires || slot.expiresAtNanos - timers.nanoTime > 0)

  private def used(key: K, slot: Slot): Any =
    if isBounded && (lastUsed ne slot) then
      synchronized {
        if byUse.get(key) eq slot then lastUsed = slot // `get` has made it the last of all
      }
    slot.value

  private def join(key: K, load: Task[V], fiber: RunLoop): Any = synchronized {
    val slot = slots.get(key)
    if (slot ne null) && isFresh(slot) then used(key, slot)
    else if (slot ne null) && !slot.isLoaded then slot.flight.nn.join(fiber)
    else
      if slot ne null then remove(key)
      val flight = Flight(key, this)
      slots.put(key, flight.slot): Unit
      flight.loader = fiber.fork(Guarantee(load, outcome => Task.delay(landed(flight, outcome))))
      flight.join(fiber)
  }

  private def landed(flight: Flight, outcome: Outcome[V]): Unit =
    val key = flight.key.asInstanceOf[K]
    synchronized {
      flight.isOver = true
      if slots.get(key) eq flight.slot then
        outcome match
          case Outcome.Succeeded(value) if expireAfterNanos > 0 => keep(key, flight.slot, value)
          case _ => slots.remove(key): Unit
    }
    var caller = synchronized(flight.callers.poll())
    while caller ne null do
      outcome match
        case Outcome.Succeeded(value) => caller.complete(value): Unit
        case Outcome.Failed(error) =>
          ErrorTrace.pass(error, caller.fiber, from = flight.loader)
          caller.fail(error): Unit
        case Outcome.Canceled => caller.fail(Cache.canceled(key)): Unit
      caller = synchronized(flight.callers.poll())

  private def keep(key: K, slot: Slot, value: V): Unit =
    if expires then
      slot.expiresAtNanos = timers.nanoTime + expireAfterNanos
      byAge.put(key, slot): Unit
      removeExpired()
    if isBounded then
      byUse.put(key, slot): Unit
      lastUsed = slot
      if byUse.size > maxSize then remove(byUse.firstEntry.getKey)
    slot.land(value)

  private def removeExpired(): Unit =
    val now = timers.nanoTime
    var oldest = byAge.firstEntry
    while (oldest ne null) && oldest.getValue.expiresAtNanos - now <= 0 do
      remove(oldest.getKey)
      oldest = byAge.firstEntry

  private def remove(key: K): Unit =
    val slot = slots.remove(key)
    byUse.remove(key): Unit
    byAge.remove(key): Unit
    if lastUsed eq slot then lastUsed = null

  /** True if `caller` was the last one that waited for a load which goes on. */
  private def leave(caller: WaitList.Entry, flight: Flight): Boolean = synchronized {
    flight.callers.remove(caller)
    val isLast = !flight.isOver && flight.callers.isEmpty
    if isLast && (slots.get(flight.key) eq flight.slot) then remove(flight.key.asInstanceOf[K])
    isLast
  }

object Cache:
  /** A new cache, empty. A value is kept for `expireAfter` from the end of its load, and let go when it is asked for after
    * that or when another one is loaded; `Duration.Zero` keeps nothing, and shares the loads that are under way. Of more
    * than `maxSize` values, those go that were not used for longest. '''Fails''' with an `IllegalArgumentException` if
    * `expireAfter` is negative or `maxSize` below 1.
    */
  def apply[K, V](
      expireAfter: Duration = Duration.Inf,
      maxSize: Int = Int.MaxValue
  ): Task[Cache[K, V]] =
    Task.onRuntime(runtime => unsafe[K, V](expireAfter, maxSize)(using runtime))

  /** As `apply`, made at once, for use outside of tasks, by the clock of `runtime`. */
  def unsafe[K, V](expireAfter: Duration = Duration.Inf, maxSize: Int = Int.MaxValue)(using
      runtime: Runtime
  ): Cache[K, V] =
    require(
      expireAfter >= Duration.Zero && maxSize >= 1,
      s"Cache: expireAfter was $expireAfter and maxSize $maxSize. They must be at least 0 and 1. " +
        "To keep values for ever, use Duration.Inf."
    )
    val nanos = expireAfter match
      case finite: FiniteDuration => finite.toNanos
      case _ => Long.MaxValue
    new Cache[K, V](nanos, maxSize, runtime.timers)

  /** What stands in the table for a key. */
  private final class Slot(@volatile var flight: Flight | Null):
    // written before `flight`, which is read first
    var value: Any = null
    var expiresAtNanos: Long = 0

    def isLoaded: Boolean = flight eq null

    def land(value: Any): Unit =
      this.value = value
      flight = null

  /** A load that is under way. */
  private final class Flight(val key: Any, cache: Cache[?, ?]) extends Awaited:
    val slot: Slot = Slot(this)

    // under the cache's lock
    val callers: WaitList = WaitList()
    var isOver: Boolean = false
    @volatile var loader: RunLoop | Null = null

    def join(fiber: RunLoop): WaitList.Entry =
      val caller = Caller(fiber, this, cache)
      callers.add(caller)
      caller

    def awaitedAs: String = s"Cache.get, for the load of the key $key"
    override def holders: Iterator[RunLoop] = Iterator(loader).collect { case fiber: RunLoop =>
      fiber
    }

  private final class Caller(fiber: RunLoop, flight: Flight, cache: Cache[?, ?])
      extends WaitList.Entry(fiber, flight.callers, cache):
    private var isLast = false
    override def abandon(): Unit = isLast = cache.leave(this, flight)
    override def cancelHook: Task[Unit] | Null = if isLast then flight.loader.nn.cancel else null
    override def awaited: Awaited | Null = flight

  private def canceled(key: Any): CancellationException = CancellationException(
    s"Cache.get: the load of the key $key has canceled itself. A load should end with a value or an error."
  )

package weir.std

import java.util.LinkedHashMap
import java.util.concurrent.atomic.LongAdder
import java.util.concurrent.{CancellationException, ConcurrentHashMap}
import scala.concurrent.duration.{Duration, FiniteDuration}
import weir.fiber.{Awaited, Suspend, TaskFiber, WaitList}
import weir.metrics.{Metric, NamedMetrics}
import weir.runtime.Timers
import weir.task.Guarantee
import weir.trace.ErrorTrace
import weir.{Outcome, Task, WeirRuntime}

/** Keeps the values that were loaded for keys. Fibers that ask for one key at the same time share
  * one load.
  *
  *   - **Shared**: `entries`, from which a value that was loaded is read without a lock. An entry
  *     holds a value, or the `Load` that is in flight.
  *   - **Shared, under this object's lock**: every change of `entries`, the two orders in which
  *     values are removed, and the callers that wait for a load.
  *   - **A load** runs on a separate fiber, which the callers wait for. So the cancel of one caller
  *     does not affect the others. The last caller to be cancelled cancels the fiber, and waits for
  *     it. In the same step under the lock, the entry leaves the table, so that no caller joins a
  *     load that is being cancelled.
  *   - **An entry that was invalidated while it loads** is out of the table: its callers get the
  *     value, and it is not kept.
  */
final class Cache[K, V] private (
    expireAfterNanos: Long,
    maxSize: Int,
    timers: Timers,
    words: Cache.Words
):
  import Cache.{Load, Entry}
  private val expires = expireAfterNanos != Long.MaxValue
  private val isBounded = maxSize != Int.MaxValue

  // shared
  private val entries = ConcurrentHashMap[K, Entry]()

  /** The entry that was used last. Using it again needs no lock. */
  @volatile private var lastUsed: Entry | Null = null

  /** The numbers of hits and misses, if this cache has a name. */
  @volatile private var counts: Cache.Counts | Null = null

  // shared, under this object's lock
  private val byUse = LinkedHashMap[K, Entry](16, 0.75f, true)
  private val byAge = LinkedHashMap[K, Entry]()

  /** Returns the value that is kept for `key`. If there is none, runs `load`, keeps its value, and
    * returns that.
    *
    * **Waits** for a load of this key that is in flight. **Cancelled**: the load continues for the
    * other callers that wait for it. The last one to be cancelled cancels it, and waits for its
    * finalizers. **Fails** with the error of the load, which all callers that wait for it get.
    * Nothing is kept then, and the next caller loads again.
    */
  def get(key: K)(load: Task[V]): Task[V] = new Suspend[V]:
    def begin(fiber: TaskFiber): Any =
      val entry = entries.get(key)
      val isHit = (entry ne null) && isFresh(entry)
      counted(isHit)
      if isHit then used(key, entry.nn) else join(key, load, fiber)

  /** Returns the value for `key` if one is kept. */
  def getIfPresent(key: K): Task[Option[V]] = Task.delay {
    val entry = entries.get(key)
    val isHit = (entry ne null) && isFresh(entry)
    counted(isHit)
    if isHit then Some(used(key, entry.nn).asInstanceOf[V]) else None
  }

  /** Removes the value for `key`. The value of a load that is in flight is not kept: the callers
    * that wait for it get it, and the next caller loads again.
    */
  def invalidate(key: K): Task[Unit] = Task.delay(synchronized(remove(key)))

  /** As `invalidate`, for all keys. */
  def invalidateAll: Task[Unit] = Task.delay(synchronized {
    entries.clear()
    byUse.clear()
    byAge.clear()
    lastUsed = null
  })

  /** Returns the number of values that are kept or being loaded. */
  def size: Task[Int] = Task.delay(synchronized {
    removeExpired()
    entries.size
  })

  /** Names this cache: `WeirRuntime.metrics` then reports its metrics under that name. Returns this
    * cache.
    * {{{
    * val users = Cache[Int, String](maxSize = 1000).map(_.named("users"))
    * }}}
    */
  def named(name: String): this.type =
    if counts eq null then counts = Cache.Counts()
    NamedMetrics.register(this, name)((cache, named) => cache.figures(named))
    this

  private def figures(named: NamedMetrics): Vector[Metric] =
    val counts = this.counts.nn
    Vector(
      named
        .gauge("weir.cache.size", "{value}", "Values that are kept or being loaded.", entries.size),
      named.by(
        Metric.Kind.Counter,
        "weir.cache.lookups",
        "{lookup}",
        "Lookups of the cache: those that have found a value, and those that have not.",
        "result",
        "hit" -> counts.hits.sum.toDouble,
        "miss" -> counts.misses.sum.toDouble
      )
    )

  private def isFresh(entry: Entry): Boolean =
    entry.isLoaded && (!expires || entry.expiresAtNanos - timers.nanoTime > 0)

  private def counted(isHit: Boolean): Unit =
    val counts = this.counts
    if counts ne null then (if isHit then counts.hits else counts.misses).increment()

  private def used(key: K, entry: Entry): Any =
    if isBounded && (lastUsed ne entry) then
      synchronized {
        if byUse.get(key) eq entry then lastUsed = entry // `get` has moved it to the end
      }
    entry.value

  private def join(key: K, load: Task[V], fiber: TaskFiber): Any = synchronized {
    val entry = entries.get(key)
    if (entry ne null) && isFresh(entry) then used(key, entry)
    else if (entry ne null) && !entry.isLoaded then entry.pending.nn.join(fiber)
    else
      if entry ne null then remove(key)
      val pending = Load(key, this, words)
      // The fork comes first, since it may fail. The end of the load waits for this lock.
      pending.loader = fiber.fork(Guarantee(load, outcome => Task.delay(loaded(pending, outcome))))
      entries.put(key, pending.entry): Unit
      pending.join(fiber)
  }

  private def loaded(pending: Load, outcome: Outcome[V]): Unit =
    val key = pending.key.asInstanceOf[K]
    synchronized {
      pending.hasEnded = true
      if entries.get(key) eq pending.entry then
        outcome match
          case Outcome.Succeeded(value) if expireAfterNanos > 0 => keep(key, pending.entry, value)
          case _ => entries.remove(key): Unit
    }
    var caller = synchronized(pending.callers.poll())
    while caller ne null do
      outcome match
        case Outcome.Succeeded(value) => caller.complete(value): Unit
        case Outcome.Failed(error) =>
          ErrorTrace.pass(error, caller.fiber, from = pending.loader)
          caller.fail(error): Unit
        case Outcome.Canceled => caller.fail(words.cancelled(key)): Unit
      caller = synchronized(pending.callers.poll())

  private def keep(key: K, entry: Entry, value: V): Unit =
    if expires then
      removeExpired() // first: it must not see an entry that is in one of the two orders only
      entry.expiresAtNanos = timers.nanoTime + expireAfterNanos
      byAge.put(key, entry): Unit
    if isBounded then
      byUse.put(key, entry): Unit
      lastUsed = entry
      if byUse.size > maxSize then remove(byUse.firstEntry.getKey)
    entry.setValue(value)

  private def removeExpired(): Unit =
    val now = timers.nanoTime
    var oldest = byAge.firstEntry
    while (oldest ne null) && oldest.getValue.expiresAtNanos - now <= 0 do
      remove(oldest.getKey)
      oldest = byAge.firstEntry

  private def remove(key: K): Unit =
    val entry = entries.remove(key)
    byUse.remove(key): Unit
    byAge.remove(key): Unit
    if lastUsed eq entry then lastUsed = null

  /** Removes `caller`. Returns true if it was the last one that waited for a load which has not
    * ended.
    */
  private def leave(caller: WaitList.Entry, pending: Load): Boolean = synchronized {
    pending.callers.remove(caller)
    val isLast = !pending.hasEnded && pending.callers.isEmpty
    if isLast && (entries.get(pending.key) eq pending.entry) then
      remove(pending.key.asInstanceOf[K])
    isLast
  }

object Cache:
  private final class Counts:
    val hits, misses = LongAdder()

  /** Returns a new cache, which is empty. A value is kept for `expireAfter` from the end of its
    * load. An expired value is removed when it is asked for, or when another one is loaded.
    * `Duration.Zero` keeps no values, but shares the loads that are in flight. If there are more
    * than `maxSize` values, the least recently used ones are removed.
    *
    * **Fails** with an `IllegalArgumentException` if `expireAfter` is negative or `maxSize` is
    * below 1.
    */
  def apply[K, V](
      expireAfter: Duration = Duration.Inf,
      maxSize: Int = Int.MaxValue
  ): Task[Cache[K, V]] =
    Task.onRuntime(runtime => unsafe[K, V](expireAfter, maxSize)(using runtime))

  /** As `apply`, but makes the cache at once, for use outside of tasks, with the clock of
    * `runtime`.
    */
  def unsafe[K, V](expireAfter: Duration = Duration.Inf, maxSize: Int = Int.MaxValue)(using
      runtime: WeirRuntime
  ): Cache[K, V] =
    require(
      expireAfter >= Duration.Zero && maxSize >= 1,
      s"Cache: expireAfter was $expireAfter and maxSize $maxSize. They must be at least 0 and 1. " +
        "To keep values for ever, use Duration.Inf."
    )
    val nanos = expireAfter match
      case finite: FiniteDuration => finite.toNanos
      case _ => Long.MaxValue
    new Cache[K, V](nanos, maxSize, runtime.timers, Words.ofCache)

  /** Returns a task that runs `task` once and returns its result to all callers: `Task.memoize`. */
  private[weir] def memoize[A](task: Task[A]): Task[Task[A]] = Task.onRuntime { runtime =>
    val cache = new Cache[Unit, Either[Throwable, A]](
      Long.MaxValue,
      Int.MaxValue,
      runtime.timers,
      Words.ofMemoize
    )
    cache.get(())(task.attempt).rethrow
  }

  /** The entry of a key in the table: its value, or its load. */
  private final class Entry(@volatile var pending: Load | Null):
    // written before `pending`, which is read first
    var value: Any = null
    var expiresAtNanos: Long = 0

    def isLoaded: Boolean = pending eq null

    def setValue(value: Any): Unit =
      this.value = value
      pending = null

  /** A load that is in flight. */
  private final class Load(val key: Any, cache: Cache[?, ?], words: Words) extends Awaited:
    val entry: Entry = Entry(this)

    // under the cache's lock
    val callers: WaitList = WaitList()
    var hasEnded: Boolean = false
    @volatile var loader: TaskFiber | Null = null

    def join(fiber: TaskFiber): WaitList.Entry =
      val waiter = LoadWaiter(fiber, this, cache)
      callers.add(waiter)
      waiter

    def awaitedAs: String = s"${words.operation}, for ${words.load(key)}"
    override def holders: Iterator[TaskFiber] = Iterator(loader).collect { case fiber: TaskFiber =>
      fiber
    }

  private final class LoadWaiter(fiber: TaskFiber, pending: Load, cache: Cache[?, ?])
      extends WaitList.Entry(fiber, pending.callers, cache):
    private var isLast = false
    override def abandon(): Unit = isLast = cache.leave(this, pending)
    override def cancelHook: Task[Unit] | Null = if isLast then pending.loader.nn.cancel else null
    override def awaited: Awaited | Null = pending

  /** Names a load in errors and dumps. */
  private final class Words(val operation: String, val load: Any => String):
    def cancelled(key: Any): CancellationException = CancellationException(
      s"$operation: ${load(key)} has cancelled itself. It should end with a value or an error."
    )

  private object Words:
    val ofCache: Words = Words("Cache.get", key => s"the load of the key $key")
    val ofMemoize: Words = Words("Task.memoize", _ => "the task")

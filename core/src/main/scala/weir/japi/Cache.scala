package weir.japi

import java.time.Duration
import java.util.Optional
import java.util.function.Function
import scala.jdk.OptionConverters.*
import weir.std.Cache as ScalaCache

/** Keeps the values that were loaded for keys. Fibers that ask for one key at the same time share
  * one load.
  *
  * Outside of tests there is one runtime, and so one cache. Each test with `TestRuntime` has a
  * separate one, which begins empty and follows the clock of that test.
  */
final class Cache[K, V] private (cache: OnEachRuntime[ScalaCache[K, V]]):

  /** Returns the value that is kept for `key`. If there is none, runs the task that `load` returns
    * for it, keeps its value, and returns that. **Fails** with the error of the load, and keeps
    * nothing then.
    */
  def get(key: K, load: Function[? >: K, Task[V]]): Task[V] =
    cache(_.get(key)(weir.Task.defer(load(key).asScala)))

  /** Returns the value that is kept for `key`, if there is one. */
  def getIfPresent(key: K): Task[Optional[V]] = cache(_.getIfPresent(key).map(_.toJava))

  /** Removes the value of `key`. A load that is in flight is not kept. */
  def invalidate(key: K): Task[Void] = cache(_.invalidate(key).as(null))

  /** Removes all values. */
  def invalidateAll(): Task[Void] = cache(_.invalidateAll.as(null))

  /** Returns the number of values. */
  def size(): Task[Integer] = cache(_.size.map(Int.box))

  /** Names this cache, for `WeirRuntime.metrics`. Returns this cache. */
  def named(name: String): Cache[K, V] =
    cache.atHome.named(name): Unit
    this

object Cache:
  /** Makes a cache of at most `maxSize` values, which removes the least recently used ones.
    */
  def of[K, V](maxSize: Int): Cache[K, V] =
    new Cache(OnEachRuntime(ScalaCache.unsafe[K, V](maxSize = maxSize)(using _)))

  /** As `of`, but keeps a value only for `expireAfter` from the end of its load. */
  def of[K, V](maxSize: Int, expireAfter: Duration): Cache[K, V] =
    new Cache(OnEachRuntime(ScalaCache.unsafe[K, V](Durations.of(expireAfter), maxSize)(using _)))

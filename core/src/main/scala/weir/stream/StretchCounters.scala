package weir.stream

import java.util.concurrent.atomic.LongAdder

/** The counters of a named stretch. The fibers that run it write them. Times are in nanoseconds.
  */
private[weir] final class StretchCounters(val name: String):
  val elements, worked, waitedForInput, waitedForRoom = LongAdder()

  /** The number of effects that may run at a time. */
  @volatile var parallelism = 1

  /** The queue in front of it. */
  @volatile var queue: StretchCounters.Queue | Null = null

private[weir] object StretchCounters:
  trait Queue:
    /** Returns the number of elements that wait. May be called from any thread. */
    def size: Int
    def capacity: Long

package weir.stream

import java.util.concurrent.atomic.LongAdder

/** What is counted for a named stretch, by the fibers that run it. Times are in nanoseconds. */
private[weir] final class StretchCounters(val name: String):
  val elements, worked, waitedForInput, waitedForRoom = LongAdder()

  /** How many effects may run at a time. */
  @volatile var parallelism = 1

  /** What waits in front of it. */
  @volatile var queue: StretchCounters.Queue | Null = null

private[weir] object StretchCounters:
  trait Queue:
    /** How many elements wait. Callable from any thread. */
    def size: Int
    def capacity: Long

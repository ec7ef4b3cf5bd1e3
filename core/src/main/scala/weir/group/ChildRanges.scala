package weir.group

import java.lang.invoke.{MethodHandles, VarHandle}
import java.util.concurrent.atomic.AtomicLong
import scala.annotation.static
import weir.runtime.Counters

/** Hands out the indexes of a group's children, each once: singly, or from ranges that belong to
  * shards.
  *
  * With a shared counter alone, every carrier would write the counter for every child, and
  * different carriers would write neighbouring results in the array. So a runner takes a whole
  * block of indexes from the counter, as the range of its shard, and indexes are taken from the
  * range by a CAS that other carriers seldom contend for. The rest of a range is never out of
  * reach: once the counter is used up, every runner looks into all ranges. So a child that blocks
  * or suspends holds up no child behind it.
  *
  *   - **Shared**: `next`, the counter; `ranges`, which has for each shard the rest of its block:
  *     the first index in the upper half, the end in the lower, or `Opening`. A runner takes an
  *     index by moving the first one up by CAS. No index is handed out again, so a range that is
  *     not empty is never the same twice.
  *   - **Opening**: the runner that has moved an empty range to `Opening` takes the next block, and
  *     is the only one to write the range then; others meanwhile take from the counter. A runner
  *     that finds nothing in that moment ends, but the one that opens the range requests a helper
  *     after it has written the range: see `HelperPolicy`.
  */
private[weir] final class ChildRanges(size: Int, inBlocks: Boolean, shards: Int):

  // immutable
  private val mask = shards - 1
  private val length = math.min(ChildRanges.largest, size / (shards * ChildRanges.perShard))

  // shared
  private val next = AtomicLong(0) // runners overshoot size, which may be near 2^31

  /** Null if indexes are only handed out singly. */
  val ranges: Array[Long] | Null =
    if inBlocks && length > 1 then new Array[Long]((shards + 1) * ChildRanges.stride) else null

  /** Takes an index. Returns true if `runner.index` is an index that no other runner has got. */
  def take(runner: Runner, shard: Int): Boolean =
    if ranges eq null then fromCounter(runner)
    else
      val own = rangeAt(shard)
      takeAt(runner, own) || open(runner, own) || fromCounter(runner) || fromOthers(runner)

  /** Returns the index of the range of `shard` in `ranges`. */
  def rangeAt(shard: Int): Int = ((shard & mask) + 1) * ChildRanges.stride

  def hasMore: Boolean = next.get < size || (ranges ne null) && hasOpen

  /** Returns the number of indexes that have been taken, as far as one look can tell. */
  def takenCount: Long =
    var sum = math.min(next.get, size.toLong)
    if ranges ne null then
      var i = 0
      while i <= mask do
        val range = get(rangeAt(i))
        if !ChildRanges.isEmpty(range) then sum -= range.toInt - (range >>> 32).toInt
        i += 1
    sum

  private def fromCounter(runner: Runner): Boolean =
    next.get < size && { // checked first, so that late runners cannot carry the counter far
      Counters.count(Counters.ChildFromCounter)
      val first = next.getAndIncrement()
      runner.index = first.toInt // used only if it is below size
      first < size
    }

  private def open(runner: Runner, own: Int): Boolean =
    val left = get(own)
    next.get < size && left != ChildRanges.Opening && ChildRanges.isEmpty(left) &&
    ChildRanges.Ranges.compareAndSet(ranges.nn, own, left, ChildRanges.Opening) && {
      Counters.count(Counters.BlockOpened)
      val first = next.getAndAdd(length.toLong)
      val end = math.min(first + length, size.toLong)
      val opened = if first < end then (first + 1) << 32 | end else 0L
      ChildRanges.Ranges.setVolatile(ranges.nn, own, opened)
      runner.index = first.toInt
      first < size
    }

  private def fromOthers(runner: Runner): Boolean =
    var i = 0
    while i <= mask do
      if takeAt(runner, rangeAt(i)) then return true
      i += 1
    false

  private def takeAt(runner: Runner, at: Int): Boolean =
    var index = ChildRanges.take(ranges.nn, at)
    while index < 0 && !ChildRanges.isEmpty(get(at)) do index = ChildRanges.take(ranges.nn, at)
    index >= 0 && {
      runner.index = index
      true
    }

  private def get(at: Int): Long = ChildRanges.get(ranges.nn, at)

  private def hasOpen: Boolean =
    var i = 0
    while i <= mask do
      if !ChildRanges.isEmpty(get(rangeAt(i))) then return true
      i += 1
    false

private[weir] object ChildRanges:
  @static private val Ranges: VarHandle =
    MethodHandles.arrayElementVarHandle(classOf[Array[Long]])

  private def get(ranges: Array[Long], at: Int): Long = (Ranges.getVolatile(ranges, at): Long)

  /** Takes the first index of a range. Its lower half, the end, does not change. Returns -1 if the
    * range is empty, or another runner was faster.
    */
  def take(ranges: Array[Long], at: Int): Int =
    val range = get(ranges, at)
    if isEmpty(range) then -1
    else if Ranges.compareAndSet(ranges, at, range, range + (1L << 32)) then (range >>> 32).toInt
    else
      Counters.count(Counters.RangeRetry)
      -1

  private def isEmpty(range: Long): Boolean = (range >>> 32).toInt >= range.toInt

  /** The range of a shard whose next block is being taken. Looks empty to all other runners. */
  private inline val Opening = -1L

  /** The largest block: four cache lines of results. `GatherReady`. */
  private inline val largest = 64

  /** The smallest number of blocks for each shard, so that the shards end at about the same time.
    */
  private inline val perShard = 4

  /** The distance of two ranges, and of the first one from the array's length, which is read with
    * each. So no two are on one cache line.
    */
  private inline val stride = 16

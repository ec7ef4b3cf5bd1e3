package weir.task

import java.lang.invoke.{MethodHandles, VarHandle}
import java.util.concurrent.atomic.AtomicLong
import scala.annotation.static

/** Hands out the numbers below `size`, each once: singly, or out of blocks that belong to shards.
  *
  * A shared counter alone is written by every carrier for every child, and neighbours in the array of results are written by
  * different carriers. So a whole block is claimed from the counter at once, for the shard of whoever does it, and numbers are
  * taken from it by a CAS that the other carriers seldom contend for. What is left of a block is never out of reach: everybody
  * looks into all of them once the counter is used up. So a child that blocks or suspends holds up none behind it.
  *
  *   - **Shared**: `next`; `ranges`, for each shard what is left of its block: the first number in the upper half, the end
  *     in the lower, or `Opening`. Whoever claims moves the first number up by CAS. Numbers are never handed out again, so a
  *     range that is not empty is never the same twice.
  *   - **Opening**: whoever has moved an empty range to it claims the next block, and is the only one to write the range then;
  *     others meanwhile claim singly. A runner that finds nothing in that moment ends, but the one who opens the block
  *     invites another after it has written the range: see `Claims`.
  */
private[task] final class Blocks(size: Int, inBlocks: Boolean, shards: Int):

  // immutable
  private val mask = shards - 1
  private val length = math.min(Blocks.largest, size / (shards * Blocks.perShard))

  // shared
  private val next = AtomicLong(0) // runners overshoot size, which may be near 2^31

  /** Null where numbers are only handed out singly. */
  val ranges: Array[Long] | Null =
    if inBlocks && length > 1 then new Array[Long](shards * Blocks.stride) else null

  /** True if `runner.index` is a number that nobody else has got. */
  def claim(runner: Runner, home: Int): Boolean =
    if ranges eq null then fromCounter(runner)
    else
      val own = place(home)
      take(runner, own) || open(runner, own) || fromCounter(runner) || fromOthers(runner)

  /** Where in `ranges` that of the shard `home` is. */
  def place(home: Int): Int = (home & mask) * Blocks.stride

  def hasMore: Boolean = next.get < size || (ranges ne null) && hasOpen

  /** How many have been claimed, as far as one look can tell. */
  def claimedCount: Long =
    var sum = math.min(next.get, size.toLong)
    if ranges ne null then
      var i = 0
      while i <= mask do
        val range = get(i * Blocks.stride)
        if !Blocks.isEmpty(range) then sum -= range.toInt - (range >>> 32).toInt
        i += 1
    sum

  private def fromCounter(runner: Runner): Boolean =
    next.get < size && { // looked at first, so that late runners cannot carry the counter far
      val first = next.getAndIncrement()
      runner.index = first.toInt // used only if it is below size
      first < size
    }

  private def open(runner: Runner, own: Int): Boolean =
    val left = get(own)
    next.get < size && left != Blocks.Opening && Blocks.isEmpty(left) &&
    Blocks.Ranges.compareAndSet(ranges.nn, own, left, Blocks.Opening) && {
      val first = next.getAndAdd(length.toLong)
      val end = math.min(first + length, size.toLong)
      val opened = if first < end then (first + 1) << 32 | end else 0L
      Blocks.Ranges.setVolatile(ranges.nn, own, opened)
      runner.index = first.toInt
      first < size
    }

  private def fromOthers(runner: Runner): Boolean =
    var i = 0
    while i <= mask do
      if take(runner, i * Blocks.stride) then return true
      i += 1
    false

  private def take(runner: Runner, at: Int): Boolean =
    var number = Blocks.take(ranges.nn, at)
    while number < 0 && !Blocks.isEmpty(get(at)) do number = Blocks.take(ranges.nn, at)
    number >= 0 && {
      runner.index = number
      true
    }

  private def get(at: Int): Long = Blocks.get(ranges.nn, at)

  private def hasOpen: Boolean =
    var i = 0
    while i <= mask do
      if !Blocks.isEmpty(get(i * Blocks.stride)) then return true
      i += 1
    false

private[task] object Blocks:
  @static private val Ranges: VarHandle =
    MethodHandles.arrayElementVarHandle(classOf[Array[Long]])

  private def get(ranges: Array[Long], at: Int): Long = (Ranges.getVolatile(ranges, at): Long)

  /** Claims the first number of a range. Its lower half, the end, stays as it is. -1 if it is empty, or somebody else was faster. */
  def take(ranges: Array[Long], at: Int): Int =
    val range = get(ranges, at)
    if !isEmpty(range) && Ranges.compareAndSet(ranges, at, range, range + (1L << 32)) then
      (range >>> 32).toInt
    else -1

  private def isEmpty(range: Long): Boolean = (range >>> 32).toInt >= range.toInt

  /** The range of a shard whose next block is being claimed. Looks empty to everybody else. */
  private inline val Opening = -1L

  /** The largest block: four cache lines of results. `GatherReady`. */
  private inline val largest = 64

  /** Blocks for each shard, at least, so that the shards end at about the same time. */
  private inline val perShard = 4

  /** Ranges stand this far from each other, so that no two are on one cache line. */
  private inline val stride = 16

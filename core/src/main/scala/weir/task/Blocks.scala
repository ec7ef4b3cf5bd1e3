package weir.task

import java.util.concurrent.atomic.{AtomicLong, AtomicReferenceArray}

/** Hands out the numbers below `size`, each once: singly, or in blocks to runners whose children are ready.
  *
  * A shared counter alone is written by every runner for every child, and neighbours in the array of results are written by
  * different runners. So a runner whose last children were ready claims a block at once, twice as large each time, and takes
  * from it by a CAS that nobody contends for. What is left of a block is never out of reach: it stands in one of a few
  * places where every runner looks once the counter is used up. So a child that blocks or suspends holds up none behind it.
  *
  *   - **Shared**: `next`; `places`, which only the owner of a block writes; a runner's `range`, the low end of its block in
  *     the upper half, which whoever claims moves up by CAS. Numbers are never handed out again, so a range is never the
  *     same twice.
  *   - **Ordering**: a place is taken before the block is claimed, and given back when its range is empty. A range is set
  *     after the counter has moved; a runner that looks in between finds nothing, but the owner invites another one
  *     after it has set the range: see `Claims`.
  */
private[task] final class Blocks(size: Int, blocks: Boolean):
  private val next = AtomicLong(0) // runners overshoot size, which may be near 2^31
  private val places: AtomicReferenceArray[Runner] | Null =
    if blocks && size > 1 then AtomicReferenceArray[Runner](Blocks.places) else null

  /** True if `runner.index` is a number that nobody else has got. */
  def claim(runner: Runner): Boolean = fromOwn(runner) || fromCounter(runner) || fromOthers(runner)

  def hasMore: Boolean = next.get < size || (places ne null) && hasOpen

  private def fromOwn(runner: Runner): Boolean =
    runner.place >= 0 && {
      val got = take(runner, runner)
      if !got || runner.index + 1 == runner.range.getPlain.toInt then giveBack(runner)
      got
    }

  private def fromCounter(runner: Runner): Boolean =
    next.get < size && { // looked at first, so that late runners cannot carry the counter far
      val count = if runner.block > 1 && findPlace(runner) then runner.block else 1
      val first = next.getAndAdd(count.toLong)
      val end = math.min(first + count, size.toLong).toInt
      if first + 1 < end then runner.range.set((first + 1) << 32 | end)
      else if runner.place >= 0 then giveBack(runner)
      runner.index = first.toInt // used only if it is below size
      runner.block = math.min(runner.block * 2, Blocks.largest)
      first < size
    }

  private def fromOthers(runner: Runner): Boolean =
    (places ne null) && {
      var i = 0
      var got = false
      while !got && i < Blocks.places do
        val owner = places.get(i)
        got = (owner ne null) && take(runner, owner)
        i += 1
      got
    }

  /** Claims the first number of the block of `owner` for `runner`. The lower half of a range, its end, stays as it is. */
  private def take(runner: Runner, owner: Runner): Boolean =
    var range = owner.range.get
    while !isEmpty(range) do
      if owner.range.compareAndSet(range, range + (1L << 32)) then
        runner.index = (range >>> 32).toInt
        return true
      range = owner.range.get
    false

  private def isEmpty(range: Long): Boolean = (range >>> 32).toInt >= range.toInt

  private def findPlace(runner: Runner): Boolean =
    (places ne null) && {
      var i = 0
      while i < Blocks.places && runner.place < 0 do
        if (places.get(i) eq null) && places.compareAndSet(i, null, runner) then runner.place = i
        i += 1
      runner.place >= 0
    }

  private def giveBack(runner: Runner): Unit =
    places.set(runner.place, null)
    runner.place = -1

  private def hasOpen: Boolean =
    var i = 0
    while i < Blocks.places do
      val owner = places.get(i)
      if (owner ne null) && !isEmpty(owner.range.get) then return true
      i += 1
    false

private[task] object Blocks:
  /** Blocks that may be open at once. More runners than this claim singly. */
  inline val places = 8

  /** The largest block: four cache lines of results. `GatherReady`. */
  inline val largest = 64

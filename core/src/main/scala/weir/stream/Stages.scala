package weir.stream

import weir.fiber.TaskFiber
import weir.{Outcome, Task}

// The stages that stay on one fiber: each is one loop around its upstream.

/** Applies `f` to each element and emits the results. */
private[weir] final class MapStage(upstream: Pull, f: Any => Any) extends PlainStage(upstream):
  def next(fiber: TaskFiber): Any =
    val value = upstream.next(fiber)
    if Pull.isEnd(value) then value else f(value)
  override def atMost(count: Long): Unit = upstream.atMost(count)
  override def isSpent: Boolean = upstream.isSpent

/** Emits the elements for which `keep` is true. */
private[weir] final class FilterStage(upstream: Pull, keep: Any => Boolean)
    extends PlainStage(upstream):
  def next(fiber: TaskFiber): Any =
    var value = upstream.next(fiber)
    while !Pull.isEnd(value) && !keep(value) do value = upstream.next(fiber)
    value
  override def isSpent: Boolean = upstream.isSpent

/** Runs the task that `f` returns for each element, in place, on the fiber that pulls, and emits
  * its value.
  */
private[weir] final class EvalMapStage(upstream: Pull, f: Any => Task[Any]) extends Stage(upstream):
  def next(fiber: TaskFiber): Any =
    val value = upstream.next(fiber)
    if Pull.isEnd(value) then value else fiber.await(f(value))
  override def atMost(count: Long): Unit = upstream.atMost(count)
  override def isSpent: Boolean = upstream.isSpent

/** Emits the first `limit` elements. */
private[weir] final class TakeStage(upstream: Pull, limit: Long) extends PlainStage(upstream):
  private var left = limit
  upstream.atMost(math.max(limit, 0))

  def next(fiber: TaskFiber): Any =
    if left <= 0 then Pull.End
    else
      left -= 1
      upstream.next(fiber)

  override def atMost(count: Long): Unit = upstream.atMost(count)
  override def isSpent: Boolean = upstream.isSpent || (left <= 0 && upstream.holdsNothing)

/** Emits all elements except the first `count`. */
private[weir] final class DropStage(upstream: Pull, count: Long) extends PlainStage(upstream):
  private var left = count
  def next(fiber: TaskFiber): Any =
    var ended = false
    while left > 0 && !ended do
      left -= 1
      ended = Pull.isEnd(upstream.next(fiber))
    if ended then
      left = 0
      Pull.End
    else upstream.next(fiber)
  override def atMost(more: Long): Unit =
    upstream.atMost(more + math.min(math.max(count, 0), Long.MaxValue - more))
  override def isSpent: Boolean = upstream.isSpent

/** Emits elements as long as `keep` is true for them. Ends before the first one for which it is
  * false.
  */
private[weir] final class TakeWhileStage(upstream: Pull, keep: Any => Boolean)
    extends PlainStage(upstream):
  private var ended = false
  def next(fiber: TaskFiber): Any =
    if ended then Pull.End
    else
      val value = upstream.next(fiber)
      if Pull.isEnd(value) || keep(value) then value
      else
        ended = true
        Pull.End
  override def atMost(count: Long): Unit = upstream.atMost(count)
  override def isSpent: Boolean = upstream.isSpent

/** Applies `f` to the elements for which it is defined, and emits the results. */
private[weir] final class CollectStage(upstream: Pull, f: PartialFunction[Any, Any])
    extends PlainStage(upstream):
  def next(fiber: TaskFiber): Any =
    var result: Any = CollectStage.Undefined
    while result.asInstanceOf[AnyRef] eq CollectStage.Undefined do
      val value = upstream.next(fiber)
      result = if Pull.isEnd(value) then value else f.applyOrElse(value, CollectStage.Undefined)
    result
  override def isSpent: Boolean = upstream.isSpent

private[weir] object CollectStage:
  /** The function that `applyOrElse` calls for an element without a case; it returns itself. */
  object Undefined extends (Any => Any):
    def apply(value: Any): Any = this

/** Emits elements as long as `keep` is true for them, and also the first one for which it is false.
  */
private[weir] final class TakeThroughStage(upstream: Pull, keep: Any => Boolean)
    extends PlainStage(upstream):
  private var ended = false
  def next(fiber: TaskFiber): Any =
    if ended then Pull.End
    else
      val value = upstream.next(fiber)
      if !Pull.isEnd(value) && !keep(value) then ended = true
      value
  override def atMost(count: Long): Unit = upstream.atMost(count)
  override def isSpent: Boolean = upstream.isSpent

/** Drops elements as long as `drop` is true for them. Emits the first one for which it is false,
  * and all that follow.
  */
private[weir] final class DropWhileStage(upstream: Pull, drop: Any => Boolean)
    extends PlainStage(upstream):
  private var dropping = true
  def next(fiber: TaskFiber): Any =
    var value = upstream.next(fiber)
    while dropping && !Pull.isEnd(value) do
      if drop(value) then value = upstream.next(fiber) else dropping = false
    value
  override def isSpent: Boolean = upstream.isSpent

/** Calls `f` with the state and each element. Emits the second part of the result; the first part
  * is the next state.
  */
private[weir] final class MapAccumulateStage(upstream: Pull, zero: Any, f: (Any, Any) => (Any, Any))
    extends PlainStage(upstream):
  private var state = zero
  def next(fiber: TaskFiber): Any =
    val value = upstream.next(fiber)
    if Pull.isEnd(value) then value
    else
      val (after, result) = f(state, value)
      state = after
      result
  override def atMost(count: Long): Unit = upstream.atMost(count)
  override def isSpent: Boolean = upstream.isSpent

/** Emits each element together with its index. */
private[weir] final class ZipWithIndexStage(upstream: Pull) extends PlainStage(upstream):
  private var index = -1L
  def next(fiber: TaskFiber): Any =
    val value = upstream.next(fiber)
    if Pull.isEnd(value) then value
    else
      index += 1
      (value, index)
  override def atMost(count: Long): Unit = upstream.atMost(count)
  override def isSpent: Boolean = upstream.isSpent

/** Emits the elements of the collections that `f` returns. */
private[weir] final class MapConcatStage(upstream: Pull, f: Any => IterableOnce[Any])
    extends PlainStage(upstream):
  private var items: Iterator[Any] | Null = null
  def next(fiber: TaskFiber): Any =
    var result: Any = null
    var found = false
    while !found do
      if items ne null then
        fiber.checkpoint() // of items without end, too
        if items.nn.hasNext then
          result = items.nn.next()
          found = true
        else items = null
      else
        result = upstream.next(fiber)
        if Pull.isEnd(result) then found = true else items = f(result).iterator
    result
  override def isSpent: Boolean = (items eq null) && upstream.isSpent

/** Emits the elements that are not equal to the element before them. */
private[weir] final class ChangesStage(upstream: Pull) extends PlainStage(upstream):
  private var last: Any = Pull.End
  def next(fiber: TaskFiber): Any =
    var value = upstream.next(fiber)
    while !Pull.isEnd(value) && !Pull.isEnd(last) && value == last do value = upstream.next(fiber)
    if !Pull.isEnd(value) then last = value
    value
  override def isSpent: Boolean = upstream.isSpent

/** Emits groups of `size` elements. The last group may be smaller; no group is empty. */
private[weir] final class ChunkStage(upstream: Pull, size: Int) extends PlainStage(upstream):
  private var ended = false
  def next(fiber: TaskFiber): Any =
    if ended then Pull.End
    else
      val chunk = Vector.newBuilder[Any]
      var count = 0
      while !ended && count < size do
        val value = upstream.next(fiber)
        if Pull.isEnd(value) then ended = true
        else
          chunk += value
          count += 1
      if count == 0 then Pull.End else chunk.result()
  override def atMost(chunks: Long): Unit =
    upstream.atMost(if chunks > Long.MaxValue / size then Long.MaxValue else chunks * size)
  override def isSpent: Boolean = upstream.isSpent

/** Emits `zero`, then for each element the result of `f` for the state before and the element. */
private[weir] final class ScanStage(upstream: Pull, zero: Any, f: (Any, Any) => Any)
    extends PlainStage(upstream):
  private var state = zero
  private var begun = false
  def next(fiber: TaskFiber): Any =
    if !begun then
      begun = true
      state
    else
      val value = upstream.next(fiber)
      if Pull.isEnd(value) then value
      else
        state = f(state, value)
        state
  override def atMost(count: Long): Unit = upstream.atMost(math.max(count - 1, 0))
  override def isSpent: Boolean = begun && upstream.isSpent

/** Emits pairs of elements until one of the two streams ends. */
private[weir] final class ZipStage(left: Pull, right: Pull) extends Zipped(left, right):
  private var ended = false
  def next(fiber: TaskFiber): Any =
    if ended then Pull.End
    else
      val a = left.next(fiber)
      val b = if Pull.isEnd(a) then a else right.next(fiber)
      if Pull.isEnd(b) then
        ended = true
        Pull.End
      else (a, b)

  /** Returns true if the left side is spent. The left side is pulled first, also if the right one
    * has ended.
    */
  override def isSpent: Boolean = left.isSpent && right.holdsNothing

/** Emits pairs of elements of both streams until both have ended. */
private[weir] final class ZipAllStage(left: Pull, right: Pull, leftPad: Any, rightPad: Any)
    extends Zipped(left, right):
  def next(fiber: TaskFiber): Any =
    val a = left.next(fiber)
    val b = right.next(fiber)
    if Pull.isEnd(b) then if Pull.isEnd(a) then Pull.End else (a, rightPad)
    else (if Pull.isEnd(a) then leftPad else a, b)

  override def isSpent: Boolean = left.isSpent && right.isSpent

/** A stage over two upstreams, which are pulled in turn. */
private[weir] abstract class Zipped(left: Pull, right: Pull) extends Pull:
  override def atMost(count: Long): Unit =
    left.atMost(count)
    right.atMost(count)

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    Pull.both(right.close(fiber, outcome), left.close(fiber, outcome))

  override def holdsNothing: Boolean = left.holdsNothing && right.holdsNothing
  override def hasFibers: Boolean = left.hasFibers || right.hasFibers

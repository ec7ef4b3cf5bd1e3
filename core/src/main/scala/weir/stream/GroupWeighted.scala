package weir.stream

import weir.Stream
import weir.fiber.TaskFiber

/** Emits groups whose weights add up to at most `limit`, of at most `size` elements, or of those
  * that have come within `nanos` of the first of them. An element that is heavier than `limit` is a
  * group of its own.
  *
  * An element that does not fit ends the present group, and is held until that has been taken. So
  * no more is ahead of a busy consumer than one group and one element, apart from elements that
  * exist already: these fill further groups, as those of `GroupWithinStage` do.
  *
  * `weight` is the user's code. It runs without the lock, once for each element, before the element
  * waits for room.
  */
private[weir] final class GroupWeightedWithinStage(
    upstream: Pull,
    limit: Long,
    size: Int,
    nanos: Long,
    weight: Any => Long
) extends GroupWithinStage(upstream, size, nanos):
  // producer only: the weights of the elements to add, and the index of the next of them
  private val weights = new Array[Long](Chunk.most)
  private var position = 0

  /** The weight for which the present group has room, if it is not empty. Under the lock. */
  private var left = limit

  override protected def add(value: Any, fiber: TaskFiber): Unit =
    weights(0) = weigh(value)
    position = 0
    super.add(value, fiber)

  /** If `weight` fails, the elements before are added nevertheless. */
  override protected def addReady(ready: Chunk, fiber: TaskFiber): Unit =
    var weighed = 0
    try
      while weighed < ready.count do
        weights(weighed) = weigh(ready(weighed))
        weighed += 1
    finally
      position = 0
      if weighed > 0 then super.addReady(ready.take(weighed).nn, fiber)

  private def weigh(value: Any): Long =
    Stream.notNegative("groupWeightedWithin", "weight", weight(value))

  private def fits: Boolean = isEmpty || weights(position) <= left

  /** Also ends the present group, if the next element does not fit into it. */
  override protected def hasRoom: Boolean =
    if !fits then
      endGroup()
      consumer.wake()
    super.hasRoom

  override protected def append(value: Any, fiber: TaskFiber): Unit =
    if !fits then endGroup()
    left = (if isEmpty then limit else left) - weights(position)
    position += 1
    super.append(value, fiber)
    if !isEmpty && left <= 0 then endGroup()

private[weir] object GroupWeightedWithinStage:
  def groups(upstream: Pull, limit: Long, size: Int, nanos: Long, weight: Any => Long): Pull =
    val stage = GroupWeightedWithinStage(upstream, limit, size, nanos, weight)
    UnchunkStage(stage, isShared = false)

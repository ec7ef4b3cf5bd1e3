package weir.task

import java.util.concurrent.atomic.AtomicInteger
import weir.Task
import weir.kernel.{RunLoop, Suspend}

/** One child for each item, at most `limit` begun at a time; the results in the order of the items, or, where
  * `unordered`, in the order in which they come. Claims.scala has the algorithm.
  */
private[weir] final class ParTraverse[A, B](
    limit: Int,
    items: Iterable[A],
    f: A => Task[B],
    unordered: Boolean
) extends Suspend[List[B]]:
  require(limit >= 1, s"parTraverse: the parallelism was $limit. It must be at least 1.")

  def begin(fiber: RunLoop): Any =
    val indexed = Indexed(items)
    if indexed.isEmpty then Nil
    else
      TraverseClaims(limit, indexed, f, unordered, fiber.runtime.scheduler.shardCount).start(fiber)

private final class TraverseClaims[A, B](
    limit: Int,
    items: IndexedSeq[A],
    f: A => Task[B],
    unordered: Boolean,
    shards: Int
) extends Claims(limit):
  private val size = items.length

  /** Each place is written once, by the runner that claimed it; `Claims.active` publishes it. */
  private val results = new Array[Any](size)
  private val stored = AtomicInteger(0)

  // Where fewer may run than there are, they begin in order, one by one.
  private val blocks = Blocks(size, limit >= size, shards)

  def claim(runner: Runner): Boolean = blocks.claim(runner, runner.fiber.home)
  def hasMore: Boolean = blocks.hasMore
  override def claimedCount: Long = blocks.claimedCount

  def child(runner: Runner): Task[Any] = f(items(runner.index))

  def store(runner: Runner, value: Any): Unit =
    results(if unordered then stored.getAndIncrement() else runner.index) = value

  def result: Any =
    var list: List[Any] = Nil
    var i = size - 1
    while i >= 0 do
      list = results(i) :: list
      i -= 1
    list

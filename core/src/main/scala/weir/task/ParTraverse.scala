package weir.task

import java.util.concurrent.atomic.AtomicInteger
import scala.collection.immutable.ArraySeq
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
    val indexed: IndexedSeq[A] = items match
      case items: IndexedSeq[?] => items.asInstanceOf[IndexedSeq[A]]
      case items =>
        val array = new Array[Any](items.size)
        items.copyToArray(array.asInstanceOf[Array[A]]): Unit
        ArraySeq.unsafeWrapArray(array).asInstanceOf[IndexedSeq[A]]
    if indexed.isEmpty then Nil
    else TraverseClaims(limit, indexed, f, unordered).start(fiber)

private final class TraverseClaims[A, B](
    limit: Int,
    items: IndexedSeq[A],
    f: A => Task[B],
    unordered: Boolean
) extends Claims(limit):
  private val size = items.length

  /** Each place is written once, by the runner that claimed it; `Claims.active` publishes it. */
  private val results = new Array[Any](size)
  private val stored = AtomicInteger(0)

  // Where fewer may run than there are, they begin in order, one by one.
  private val blocks = Blocks(size, limit >= size)

  def claim(runner: Runner): Boolean = blocks.claim(runner)
  def hasMore: Boolean = blocks.hasMore

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

package weir.task

import weir.Task
import weir.kernel.{Delay, Loop, RunLoop, Suspend}

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
    val own = Items(items)
    if own.size == 0 then Nil
    else TraverseClaims(limit, own, f, unordered, fiber.runtime.scheduler.shardCount).start(fiber)

private final class TraverseClaims[A, B](
    limit: Int,
    items: Items,
    f: A => Task[B],
    unordered: Boolean,
    shards: Int
) extends Claims(limit):
  private val array = items.array

  private val results =
    if unordered then UnorderedSegments() else OrderedSegments(items.array, items.size)

  // Where fewer may run than there are, they begin in order, one by one.
  private val blocks = Blocks(items.size, limit >= items.size, shards)

  /** By the code that makes the first child, as far as it is known before that runs, when the array has the items still. */
  override val kind: Int =
    if math.min(limit, items.size) == 1 then 0
    else
      f.getClass.hashCode ^ (array(0) match
        case delay: Delay[?] => delay.getClass.hashCode
        case _ => 1)

  def claim(runner: Runner): Boolean = blocks.claim(runner, runner.fiber.home)
  def hasMore: Boolean = blocks.hasMore
  override def claimedCount: Long = blocks.claimedCount

  def child(runner: Runner): Task[Any] = f(array(runner.index).asInstanceOf[A])

  /** For a runner that has a segment: what it needs for each child is in local variables, since after a CAS the JIT compiler reads
    * fields again. Takes a third less than one by one. `GatherReady`.
    */
  override private[task] def runReady(runner: Runner, fiber: RunLoop): Task[Any] =
    val ranges = blocks.ranges
    val segment = runner.segment
    if (ranges eq null) || (segment eq null) then Runner.NoChild
    else
      val own = blocks.place(fiber.home)
      val array = this.array
      val f = this.f
      val results = this.results
      var last = segment.last
      var budget = fiber.budget
      var index = 0
      var child = Runner.NoChild
      var value: Any = null
      try
        while
          index = if isStopped then -1 else Blocks.take(ranges, own)
          index >= 0 && {
            inviteOne(fiber)
            child = f(array(index).asInstanceOf[A])
            budget -= 1
            if budget <= 0 then budget = fiber.renewBudget()
            value = if budget > 0 then Loop.readyInBudget(fiber, child) else Loop.NotReady
            (value.asInstanceOf[AnyRef] ne Loop.NotReady) && results.goesOn(segment, index)
          }
        do
          last = ListCells.append(last, value)
          segment.end = index + 1
      finally fiber.budget = budget // see `ListLoop`
      segment.last = last
      runner.end = segment.end
      if index < 0 then Runner.NoChild
      else
        runner.index = index
        if value.asInstanceOf[AnyRef] eq Loop.NotReady then child
        else
          store(runner, value)
          Runner.NoChild

  def store(runner: Runner, value: Any): Unit = results.store(runner, value)

  /** `Claims.active` has published what every runner has stored. */
  def result: Any = results.list

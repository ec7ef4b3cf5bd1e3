package weir.task

import weir.Task
import weir.kernel.{CancelSelf, Delay, Enter, Loop, RunLoop, Tag}

/** Runs one task for each item, in order, with one frame for all of them. Keeps the results. */
private[weir] final class Traverse[A, B](items: Iterable[A], f: A => Task[B])
    extends Enter[List[B]]:
  def begin(fiber: RunLoop): Loop = ListLoop(items.toList, f.asInstanceOf[Any => Task[Any]])

/** Runs tasks in order, with one frame for all of them. Keeps the results. */
private[weir] final class Sequence[A](tasks: Iterable[Task[A]]) extends Enter[List[A]]:
  def begin(fiber: RunLoop): Loop = ListLoop(tasks.toList, null)

/** Walks a list and builds one. While children are ready, its places in both and what is left of the slice's budget are in
  * local variables: a field that is counted down for each child costs a tenth of all. And where the child after one is ready as well
  * its result's cell is made first: a tail that is written into a cell from before goes through the collector's barrier, a tenth
  * of all again. `SequenceReady`.
  *
  * @param f
  *   makes the children of the items; null where the items are the children, which saves a call for each.
  */
private final class ListLoop(items: List[Any], f: (Any => Task[Any]) | Null) extends Loop(Tag.Loop):
  private var left = items
  private val first: ::[Any] = new ::(null, Nil) // not an element: the results come after it
  private var last: ::[Any] = first

  def step(fiber: RunLoop, value: Any): Task[Any] | Null =
    last = ListCells.append(last, value)
    start(fiber)

  def start(fiber: RunLoop): Task[Any] | Null =
    val f = this.f
    var left = this.left
    var last = this.last.nn
    var budget = fiber.budget
    try
      while left ne Nil do
        val cell = left.asInstanceOf[::[Any]]
        val child = if f eq null then cell.head.asInstanceOf[Task[Any]] else f(cell.head)
        left = cell.tail
        budget -= 1
        if budget <= 0 then budget = fiber.renewBudget()
        var value = if budget > 0 then Loop.readyInBudget(fiber, child) else Loop.NotReady
        if value.asInstanceOf[AnyRef] eq Loop.NotReady then
          fiber.budget = budget
          val rest = fiber.pastCede(child)
          budget = fiber.budget
          if rest ne child then value = Loop.readyInBudget(fiber, rest)
          if value.asInstanceOf[AnyRef] eq Loop.NotReady then
            this.left = left
            this.last = last
            fiber.push(this)
            return if fiber.shouldCancel then CancelSelf else rest
        left match
          case next: ::[Any] if (f eq null) && budget > 1 =>
            next.head match
              case delay: Delay[?] if !fiber.shouldCancel =>
                budget -= 1
                left = next.tail
                val end = new ::[Any](delay.run(), Nil)
                ListCells.link(last, new ::(value, end))
                last = end
              case _ => last = ListCells.append(last, value)
          case _ => last = ListCells.append(last, value)
    catch
      case error: Throwable =>
        fiber.push(this) // for the error's trace
        throw error
    finally // after a failure too, or a loop of failures would be a slice without an end
      fiber.budget = budget
    ListTail.publish()
    fiber.loopResult = first.tail
    null

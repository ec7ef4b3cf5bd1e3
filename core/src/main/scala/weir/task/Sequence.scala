package weir.task

import weir.Task
import weir.fiber.{BeginFrame, CancelSelf, Delay, FlatMap, Frame, Tag, TaskFiber}
import weir.group.ListCells

/** Runs one task for each item, in order, with one frame for all of them. Keeps the results. */
private[weir] final class Traverse[A, B](items: Iterable[A], f: A => Task[B])
    extends BeginFrame[List[B]]:
  def begin(fiber: TaskFiber): Frame = ListFrame(items.toList, f.asInstanceOf[Any => Task[Any]])

/** Runs tasks in order, with one frame for all of them. Keeps the results. */
private[weir] final class Sequence[A](tasks: Iterable[Task[A]]) extends BeginFrame[List[A]]:
  def begin(fiber: TaskFiber): Frame = ListFrame(tasks.toList, null)

/** Walks one list and builds another. While children are ready, the cursors in both lists and the
  * rest of the slice's budget are in local variables: a field that is counted down for each child
  * would cost a tenth of the run. If the next child is ready as well, the cell of its result is
  * made first: writing a tail into an older cell goes through the collector's barrier, which is a
  * tenth of the run again. `SequenceReady`.
  *
  * @param f makes the children from the items; null if the items are the children, which saves a
  *   call for each.
  */
private final class ListFrame(items: List[Any], f: (Any => Task[Any]) | Null)
    extends Frame(Tag.Frame):
  private var left = items
  private val first: ::[Any] = new ::(null, Nil) // not an element: the results follow it
  private var last: ::[Any] = first

  def step(fiber: TaskFiber, value: Any): Task[Any] | Null =
    last = ListCells.append(last, value)
    start(fiber)

  override def perItem: Class[?] | Null = if f eq null then null else f.getClass

  def start(fiber: TaskFiber): Task[Any] | Null =
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
        var value = if budget > 0 then Frame.readyInBudget(fiber, child) else Frame.NotReady
        if value.asInstanceOf[AnyRef] eq Frame.NotReady then
          fiber.budget = budget
          val rest = pastCede(fiber, child)
          budget = fiber.budget
          if rest ne child then value = Frame.readyInBudget(fiber, rest)
          if value.asInstanceOf[AnyRef] eq Frame.NotReady then
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
    finally // after a failure too: a loop of failures must not be a slice without an end
      fiber.budget = budget
    ListCells.publish()
    fiber.frameResult = first.tail
    null

  /** Returns the part of `child` that is still to run: all of it, unless it begins with a cede that
    * needs no other thread.
    */
  private def pastCede(fiber: TaskFiber, child: Task[Any]): Task[Any] =
    if child.tag == Tag.FlatMap then
      val flatMap = child.asInstanceOf[FlatMap[Any, Any]]
      if flatMap.source.tag == Tag.Cede && fiber.cedesInPlace() then
        if fiber.shouldCancel then CancelSelf else flatMap.f(())
      else child
    else child

/** An item, with a flag that says whether a filter keeps it. */
private[weir] final class Kept[A](val item: A, val isKept: Boolean)

private[weir] object Kept:
  /** Returns a function that runs the task of `keep` for an item, and returns both. */
  def apply[A](keep: A => Task[Boolean]): A => Task[Kept[A]] =
    item => keep(item).map(new Kept(item, _))

  /** Returns the items that are kept. */
  def of[A](asked: Task[List[Kept[A]]]): Task[List[A]] =
    asked.map(_.collect { case kept if kept.isKept => kept.item })

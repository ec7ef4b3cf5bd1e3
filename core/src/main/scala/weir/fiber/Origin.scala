package weir.fiber

import scala.annotation.tailrec
import weir.Task

/** Finds the function at which a task begins. A trace names it at the bottom of the task's fiber.
  */
private[fiber] object Origin:

  /** Returns the function and not the task around it, which may keep a whole collection alive.
    * Returns null if the task has no function before it runs.
    */
  def of(task: Task[Any]): AnyRef | Null = from(task, null)

  @tailrec private def from(task: Task[Any], after: AnyRef | Null): AnyRef | Null = task.tag match
    case Tag.Delay => task
    case Tag.Uninterruptible => task.asInstanceOf[Uninterruptible[Any]].thunk
    case Tag.Defer => task.asInstanceOf[Defer[Any]].thunk
    case Tag.FlatMap =>
      val flatMap = task.asInstanceOf[FlatMap[Any, Any]]
      from(flatMap.source, flatMap.f)
    case Tag.Mapped =>
      val map = task.asInstanceOf[Mapped[Any, Any]]
      from(map.source, map.f)
    case Tag.Attempt => from(task.asInstanceOf[Attempt[Any]].source, after)
    case Tag.Handle => from(task.asInstanceOf[Handle[Any]].source, after)
    case Tag.OnCancel => from(task.asInstanceOf[OnCancel[Any]].source, after)
    case Tag.Uncancelable => task.asInstanceOf[Uncancelable[Any]].body
    case Tag.DirectCode => task.asInstanceOf[DirectCode[Any]].body
    case _ => after

package weir.task

import weir.Task

/** An item, with a flag that says whether a filter keeps it. */
private[weir] final class Kept[A](val item: A, val isKept: Boolean)

private[weir] object Kept:
  /** Returns a function that runs the task of `keep` for an item, and returns both. */
  def apply[A](keep: A => Task[Boolean]): A => Task[Kept[A]] =
    item => keep(item).map(new Kept(item, _))

  /** Returns the items that are kept. */
  def of[A](asked: Task[List[Kept[A]]]): Task[List[A]] =
    asked.map(_.collect { case kept if kept.isKept => kept.item })

package weir.task

import weir.Task

/** An item, and whether a filter keeps it. */
private[weir] final class Kept[A](val item: A, val isKept: Boolean)

private[weir] object Kept:
  /** A function that asks `keep` of an item. */
  def apply[A](keep: A => Task[Boolean]): A => Task[Kept[A]] =
    item => keep(item).map(new Kept(item, _))

  /** The items that are kept. */
  def of[A](asked: Task[List[Kept[A]]]): Task[List[A]] =
    asked.map(_.collect { case kept if kept.isKept => kept.item })

package weir.task

/** Builds lists front to back: see `ListTail`. */
private[task] object ListCells:
  /** A new last cell, which holds `value`. */
  def append(last: ::[Any], value: Any): ::[Any] =
    val cell = new ::[Any](value, Nil)
    link(last, cell)
    cell

  def link(last: ::[?], next: List[?]): Unit =
    ListTail.link(last.asInstanceOf[::[AnyRef]], next.asInstanceOf[List[AnyRef]])

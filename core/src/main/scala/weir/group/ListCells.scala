package weir.group

/** Builds lists front to back: see `ListTail`. */
private[weir] object ListCells:
  /** Appends a new last cell, which holds `value`, and returns it. */
  def append(last: ::[Any], value: Any): ::[Any] =
    val cell = new ::[Any](value, Nil)
    link(last, cell)
    cell

  def link(last: ::[?], next: List[?]): Unit =
    ListTail.link(last.asInstanceOf[::[AnyRef]], next.asInstanceOf[List[AnyRef]])

  /** Must be called before another thread sees a list that was built with `link`: see `ListTail`.
    */
  def publish(): Unit = ListTail.publish()

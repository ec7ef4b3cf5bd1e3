package weir.group

/** Builds lists front to back: see `ListTail`. */
private[weir] object ListCells:
  /** A new last cell, which holds `value`. */
  def append(last: ::[Any], value: Any): ::[Any] =
    val cell = new ::[Any](value, Nil)
    link(last, cell)
    cell

  def link(last: ::[?], next: List[?]): Unit =
    ListTail.link(last.asInstanceOf[::[AnyRef]], next.asInstanceOf[List[AnyRef]])

  /** To be called before a list that was built with `link` is seen by another thread: see
    * `ListTail`.
    */
  def publish(): Unit = ListTail.publish()

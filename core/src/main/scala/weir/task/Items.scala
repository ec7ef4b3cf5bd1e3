package weir.task

/** The elements of a collection in an array of their own, which the caller may write to. The array
  * may be longer than `size`.
  */
private final class Items(val array: Array[AnyRef], val size: Int)

private object Items:
  def apply(items: Iterable[Any]): Items = items match
    case list: List[?] => copy(list.asInstanceOf[List[AnyRef]])
    case _ =>
      val array = items.iterator.asInstanceOf[Iterator[AnyRef]].toArray
      new Items(array, array.length)

  /** Copies the list in one walk, without an iterator: for 1,000 elements that takes 2 µs instead
    * of 5. `GatherReady`.
    */
  private def copy(list: List[AnyRef]): Items =
    var array = new Array[AnyRef](64)
    var size = 0
    var left = list
    while left ne Nil do
      if size == array.length then
        val larger = new Array[AnyRef](if size < 1024 then size * 4 else size + left.length)
        System.arraycopy(array, 0, larger, 0, size)
        array = larger
      val cell = left.asInstanceOf[::[AnyRef]]
      array(size) = cell.head
      size += 1
      left = cell.tail
    new Items(array, size)

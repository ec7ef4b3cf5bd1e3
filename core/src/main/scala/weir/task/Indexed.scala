package weir.task

import java.util.Arrays
import scala.collection.immutable.ArraySeq

/** Any collection as one whose elements can be had by number at once. */
private object Indexed:
  /** `items` itself, or a copy of it. */
  def apply[A](items: Iterable[A]): IndexedSeq[A] = items match
    case indexed: IndexedSeq[?] => indexed.asInstanceOf[IndexedSeq[A]]
    case _ => ArraySeq.unsafeWrapArray(toArray(items)).asInstanceOf[IndexedSeq[A]]

  private def toArray(items: Iterable[Any]): Array[AnyRef] = items match
    case list: List[?] => copy(list.asInstanceOf[List[AnyRef]])
    case _ => items.iterator.asInstanceOf[Iterator[AnyRef]].toArray

  /** One walk, and none by an iterator: for 1,000 elements that takes 2 µs instead of 5. `GatherReady`. */
  private def copy(list: List[AnyRef]): Array[AnyRef] =
    var array = new Array[AnyRef](16)
    var size = 0
    var left = list
    while !left.isEmpty do
      if size == array.length then array = Arrays.copyOf(array, size * 2)
      array(size) = left.head
      size += 1
      left = left.tail
    if size == array.length then array else Arrays.copyOf(array, size)

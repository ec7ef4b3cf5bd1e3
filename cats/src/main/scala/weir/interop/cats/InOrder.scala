package weir.interop.cats

import _root_.cats.Traverse

/** Puts the results of a traversal back into the shape of the traversed structure. */
private[cats] object InOrder:

  /** Returns `items` with its elements replaced by `values`, in the order of the traversal. */
  def apply[T[_], A, B](items: T[A], values: List[B])(using traverse: Traverse[T]): T[B] =
    items match
      case _: List[?] => values.asInstanceOf[T[B]]
      case _ =>
        val array = values.toIndexedSeq
        traverse.mapWithIndex(items)((_, index) => array(index))

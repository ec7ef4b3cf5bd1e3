package weir.stream

/** Elements that a pull had already: see `Pull.takeReady`. They cross from fiber to fiber together,
  * as one message.
  */
private[stream] final class Ready(val elements: Array[Any], val count: Int)

private[stream] object Ready:
  /** The most elements of one message: enough that the crossing costs little for each, and few
    * enough that those of several streams alternate.
    */
  inline val most = 64

  /** The next elements of an iterator over a collection that exists. */
  def of(items: Iterator[Any], limit: Int): Ready | Null =
    if limit == 0 || !items.hasNext then null
    else
      val elements = new Array[Any](limit)
      var count = 0
      while count < limit && items.hasNext do
        elements(count) = items.next()
        count += 1
      Ready(elements, count)

package weir.stream

import java.util.Arrays
import scala.collection.AbstractIterator
import weir.fiber.TaskFiber

/** Elements that a pull had already: see `Pull.takeReady`. They cross from fiber to fiber together,
  * as one message.
  */
private[stream] final class Chunk(val elements: Array[Any], val count: Int):
  def hasNull: Boolean =
    var index = 0
    while index < count && (elements(index).asInstanceOf[AnyRef] ne null) do index += 1
    index < count

private[stream] object Chunk:
  /** The largest number of elements of one message: enough that the crossing costs little for each,
    * and few enough that those of several streams alternate.
    */
  inline val most = 64

  /** Takes the next elements of an iterator over a collection that exists. The iterator may fail,
    * even if `IteratorSource.isStrict`: for example a view that Java calls a list. If it fails
    * after some elements, these are returned, and `failsNext` gets an iterator that fails next.
    */
  def of(items: Iterator[Any], limit: Int)(failsNext: Iterator[Any] => Unit): Chunk | Null =
    if limit == 0 || !items.hasNext then null
    else
      var elements = new Array[Any](math.min(limit, most))
      var count = 0
      try
        while count < limit && items.hasNext do
          if count == elements.length then
            val larger = math.min(limit.toLong, count * 2L).toInt
            elements =
              Arrays.copyOf(elements.asInstanceOf[Array[AnyRef]], larger).asInstanceOf[Array[Any]]
          elements(count) = items.next()
          count += 1
      catch
        case error: Throwable =>
          if count == 0 then throw error
          failsNext(failing(error))
      Chunk(elements, count)

  /** Returns an iterator whose `next` throws `error`. */
  def failing(error: Throwable): Iterator[Any] = Failing(error)

  private final class Failing(error: Throwable) extends AbstractIterator[Any]:
    def hasNext: Boolean = true
    def next(): Any = throw error

/** Emits the elements of upstream, some of which come as a `Chunk`.
  *
  * @param isShared true if others may read the same `Chunk`; otherwise an element is not kept once
  *   it is used
  */
private[stream] final class UnchunkStage(upstream: Pull, isShared: Boolean) extends Stage(upstream):
  private var ready: Chunk | Null = null
  private var position = 0

  override def atMost(count: Long): Unit = upstream.atMost(count)

  def next(fiber: TaskFiber): Any =
    val current = ready
    if current ne null then
      fiber.checkpoint()
      val value = current.elements(position)
      if !isShared then current.elements(position) = null
      position += 1
      if position == current.count then ready = null
      value
    else
      upstream.next(fiber) match
        case taken: Chunk =>
          ready = taken
          position = 0
          next(fiber)
        case value => value

  override private[stream] def takeReady(limit: Int): Chunk | Null =
    val current = ready
    if (current eq null) || limit == 0 then null
    else
      val end = position + math.min(current.count - position, limit)
      val taken = Arrays.copyOfRange(current.elements.asInstanceOf[Array[AnyRef]], position, end)
      position = end
      if position == current.count then ready = null
      Chunk(taken.asInstanceOf[Array[Any]], taken.length)

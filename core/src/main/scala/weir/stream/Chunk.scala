package weir.stream

import java.util.Arrays
import scala.collection.AbstractIterator
import weir.fiber.TaskFiber

/** Elements that cross from fiber to fiber together. One fiber adds them, then another takes them,
  * in order. What was taken is not kept.
  *
  * It belongs to one fiber at a time, or is under the lock of its stage.
  *
  * @param isView true if others take the same elements: it keeps them, and none is added
  */
private[stream] final class Chunk private (private var elements: Array[Any], isView: Boolean):
  private var position = 0
  private var end = 0

  def count: Int = end - position
  def isEmpty: Boolean = position == end

  /** Returns an element that was not taken. */
  def apply(index: Int): Any = elements(position + index)

  def add(value: Any): Unit =
    if end == elements.length then grow(1)
    elements(end) = value
    end += 1

  /** Adds the elements of `other`, which keeps them. */
  def addAll(other: Chunk): Unit =
    val more = other.count
    if more > elements.length - end then grow(more)
    System.arraycopy(other.elements, other.position, elements, end, more)
    end += more

  private def grow(more: Int): Unit =
    val length = math.max(end + more, 2 * elements.length)
    elements = Arrays.copyOf(elements.asInstanceOf[Array[AnyRef]], length).asInstanceOf[Array[Any]]

  /** Takes the first element. */
  def next(): Any =
    val from = elements
    val first = position
    position = first + 1
    val value = from(first)
    if !isView then from(first) = null
    value

  /** Takes up to `limit` elements; null if there are none. */
  def take(limit: Int): Chunk | Null =
    val taking = math.min(limit, count)
    if taking <= 0 then null
    else
      val taken = Chunk.empty(taking)
      System.arraycopy(elements, position, taken.elements, 0, taking)
      taken.end = taking
      if !isView then
        Arrays.fill(elements.asInstanceOf[Array[AnyRef | Null]], position, position + taking, null)
      position += taking
      taken

  /** Returns a view of the elements, of which none was taken. From then on they are taken from
    * views only.
    */
  def view: Chunk =
    val made = new Chunk(elements, isView = true)
    made.end = end
    made

  /** Makes all of the room free again, once all elements were taken. Returns the number of those.
    */
  def reuse(): Int =
    val used = end
    position = 0
    end = 0
    used

  def hasNull: Boolean =
    var index = position
    while index < end && (elements(index).asInstanceOf[AnyRef] ne null) do index += 1
    index < end

private[stream] object Chunk:
  /** The largest number of elements of one message: enough that the crossing costs little for each,
    * and few enough that those of several streams alternate.
    */
  inline val most = 64

  /** Returns a chunk without elements. It has room for `room`, and more if more are added. */
  def empty(room: Int): Chunk = new Chunk(new Array[Any](room), isView = false)

  /** Takes the next elements of an iterator over a collection that exists. The iterator may fail,
    * even if `IteratorSource.isStrict`: for example a view that Java calls a list. If it fails
    * after some elements, these are returned, and `failsNext` gets an iterator that fails next.
    */
  def of(items: Iterator[Any], limit: Int)(failsNext: Iterator[Any] => Unit): Chunk | Null =
    if limit == 0 || !items.hasNext then null
    else
      val chunk = empty(math.min(limit, most))
      try while chunk.count < limit && items.hasNext do chunk.add(items.next())
      catch
        case error: Throwable =>
          if chunk.isEmpty then throw error
          failsNext(failing(error))
      chunk

  /** Returns an iterator whose `next` throws `error`. */
  def failing(error: Throwable): Iterator[Any] = Failing(error)

  private final class Failing(error: Throwable) extends AbstractIterator[Any]:
    def hasNext: Boolean = true
    def next(): Any = throw error

/** Emits the elements of upstream, some of which come as a `Chunk`.
  *
  * @param isShared true if others take the elements of the same `Chunk`
  */
private[stream] final class UnchunkStage(upstream: Pull, isShared: Boolean) extends Stage(upstream):
  private var ready = Chunk.empty(0)

  override def atMost(count: Long): Unit = upstream.atMost(count)

  def next(fiber: TaskFiber): Any =
    val current = ready
    if !current.isEmpty then
      fiber.checkpoint()
      current.next()
    else
      upstream.next(fiber) match
        case taken: Chunk =>
          ready = if isShared then taken.view else taken
          next(fiber)
        case value => value

  override private[stream] def takeReady(limit: Int): Chunk | Null = ready.take(limit)

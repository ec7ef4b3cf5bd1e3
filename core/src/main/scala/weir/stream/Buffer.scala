package weir.stream

import java.util.Arrays
import weir.kernel.{RunLoop, Suspend, Waiter}
import weir.sync.WaitList

/** The bounded buffer between fibers that make elements and the one that consumes them, with batched wake-ups.
  *
  * The consumer takes all that is there at once, and uses it up without the lock. What it has used it gives back as room
  * when a quarter of the buffer is used, or when it has nothing left: so the two sides meet once for many elements, and at
  * most `limit` is made and not used at any time. Every element takes 1 of that, or what `sizeOf` says, at least 1: else
  * elements of no size would have no bound.
  *
  *   - **Shared, under this object's lock**: `queued`, `queuedSizes`, `held`, who waits.
  *   - **Consumer only**: `batch`, `batchSizes`, `used`.
  *   - **Invariant**: `held` is the size of what is queued or in the batch, and of `used`. It is at most `limit`, or it is one
  *     element that is larger; last words, which may not wait, come on top.
  *   - **The race we fear**: a producer waits for room that nobody will give back, and the consumer for an element. The consumer
  *     waits only with an empty batch and an empty queue, so its last `giveBack` has left `held` at 0, under the lock, and
  *     has let go on whoever had waited longest, whatever its size; at `held == 0` nobody begins to wait. The one that
  *     goes on puts its element, unless it is cancelled; and only the consumer cancels one that waits here, when it closes.
  */
private[stream] final class Buffer(limit: Long, sizeOf: (Any => Int) | Null):
  private val giveBackAt = math.max(1L, limit / 4)

  // shared, under this object's lock
  private var queued = new Array[Any](math.min(limit, 16L).toInt)
  private var queuedSizes: Array[Int] | Null = sizesFor(queued)
  private var count = 0
  private var held = 0L
  private var consumer: Waiter | Null = null
  private val producers = WaitList()

  // consumer only
  private var batch = new Array[Any](queued.length)
  private var batchSizes: Array[Int] | Null = sizesFor(batch)
  private var position = 0
  private var batchEnd = 0
  private var used = 0L

  /** Puts an element. '''Waits''' while there is no room. '''Cancelled''' while it waits: the element is not in it. */
  def put(value: Any, fiber: RunLoop): Unit =
    val size = if sizeOf eq null then 1 else math.max(1, sizeOf(value))
    while !fiber.await(Put(value, size)) do ()

  /** Puts the last word of a fiber that may not wait, be there room or not. */
  def force(value: Any): Unit = synchronized(append(value, 1))

  /** The next element. '''Waits''' for it. */
  def take(fiber: RunLoop): Any =
    if position == batchEnd then fiber.await(Refill)
    val value = batch(position)
    batch(position) = null
    val sizes = batchSizes
    used += (if sizes eq null then 1 else sizes(position))
    position += 1
    if used >= giveBackAt || position == batchEnd then giveBack()
    value

  /** What nobody has taken, in order. To be called by the consumer, when all who put have ended. */
  def untaken: Iterator[Any] =
    batch.iterator.slice(position, batchEnd) ++ queued.iterator.take(count)

  private def sizesFor(values: Array[Any]): Array[Int] | Null =
    if sizeOf eq null then null else new Array[Int](values.length)

  private def fits(size: Int): Boolean = held == 0 || size <= limit - held

  private final class Entry(fiber: RunLoop, val size: Int)
      extends WaitList.Entry(fiber, producers, Buffer.this)

  private final class Put(value: Any, size: Int) extends Suspend[Boolean]:
    def begin(fiber: RunLoop): Any = Buffer.this.synchronized {
      if fits(size) then
        append(value, size)
        true
      else
        val entry = Entry(fiber, size)
        producers.add(entry)
        entry
    }

  private object Refill extends Suspend[Unit]:
    def begin(fiber: RunLoop): Any = Buffer.this.synchronized {
      if count == 0 then
        val waiter = Waiter(fiber)
        consumer = waiter
        waiter
      else swap()
    }

  /** A consumer that was woken finds the batch swapped by the producer that woke it. */
  private def append(value: Any, size: Int): Unit =
    if count == queued.length then grow()
    queued(count) = value
    if queuedSizes ne null then queuedSizes.nn(count) = size
    count += 1
    held += size
    val waiting = consumer
    if waiting ne null then
      consumer = null
      swap()
      waiting.complete(()): Unit

  private def grow(): Unit =
    val length = math.max(count + 1L, math.min(limit, queued.length * 2L)).toInt
    queued = Arrays.copyOf(queued.asInstanceOf[Array[AnyRef]], length).asInstanceOf[Array[Any]]
    if queuedSizes ne null then queuedSizes = Arrays.copyOf(queuedSizes.nn, length)

  private def swap(): Unit =
    val empty = batch
    val emptySizes = batchSizes
    batch = queued
    batchSizes = queuedSizes
    batchEnd = count
    position = 0
    if empty.length < batch.length then
      queued = new Array[Any](batch.length)
      queuedSizes = sizesFor(queued)
    else
      queued = empty
      queuedSizes = emptySizes
    count = 0

  /** Lets those go on that have room now, the one that has waited longest first. They look again themselves: another one may be
    * faster.
    */
  private def giveBack(): Unit = synchronized {
    held -= used
    used = 0
    var room = if held == 0 then Long.MaxValue else limit - held
    var entry = next(room)
    while entry ne null do
      if entry.complete(false) then
        room = (if room == Long.MaxValue then limit else room) - entry.size
      entry = next(room)
  }

  /** The one that has waited longest, off the list, if it has room. */
  private def next(room: Long): Entry | Null = producers.peek match
    case entry: Entry if entry.size <= room => producers.poll().asInstanceOf[Entry]
    case _ => null

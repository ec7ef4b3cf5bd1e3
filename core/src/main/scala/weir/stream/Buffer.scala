package weir.stream

import weir.fiber.{Suspend, TaskFiber, WaitList}
import weir.sync.{Guarded, GuardedEntry}

/** The bounded buffer between producers, the fibers that make elements, and the consumer, with
  * batched wake-ups.
  *
  * The consumer takes all queued elements at once, as its batch, and uses them without the lock. It
  * returns the room of used elements when a quarter of the buffer is used, or when its batch is
  * empty. So the two sides meet once for many elements, and the size of the elements that are made
  * and not used is at most `limit` at any time. An element has the size 1, or the result of
  * `sizeOf`, but at least 1: otherwise the number of elements of size 0 would have no bound.
  *
  *   - **Shared, under the lock**: `queued`, `heldSize`, the waiters.
  *   - **Consumer only**: `batch`, `ready`, `used`.
  *   - **Invariant**: `heldSize` is the size of the elements that are queued, in the batch, or
  *     counted in `used`. It is at most `limit`, or the size of one element that is larger.
  *     Terminal messages, which do not wait, are added to it.
  *   - **The race we fear**: a producer waits for room that is never returned, and the consumer for
  *     an element. The consumer waits only while the batch and the queue are empty. So its last
  *     `giveBack` has left `heldSize` at 0, under the lock, and has woken the producer that had
  *     waited longest, whatever the size of its element; while `heldSize` is 0 no producer begins
  *     to wait. The woken producer puts its element, unless it is cancelled. Only the consumer
  *     cancels a producer that waits here, when it closes.
  */
private[stream] final class Buffer(limit: Long, sizeOf: (Any => Int) | Null)
    extends Guarded,
      StretchCounters.Queue:
  private val giveBackAt = math.max(1L, limit / 4)

  // under the lock
  private var queued = Chunk.empty(math.min(limit, 16L).toInt)
  private var heldSize = 0L

  /** The consumer, while it waits. */
  private val consumers = WaitList()
  private val producers = WaitList()

  // consumer only
  private var batch = Chunk.empty(math.min(limit, 16L).toInt)

  /** The rest of the message that was taken last, if that is a `Chunk`. */
  private var ready = Chunk.empty(0)
  private var used = 0L

  /** Puts an element. **Waits** while there is no room. **Cancelled** while it waits: the element
    * is not put.
    */
  def put(value: Any, fiber: TaskFiber): Unit =
    val message =
      if sizeOf eq null then value else Buffer.Sized(value, math.max(1, sizeOf(value)))
    if !offer(message, fiber) then while !Observation.awaitRoom(fiber, Put(message)) do ()

  private def offer(message: Any, fiber: TaskFiber): Boolean = locked(fiber) {
    val room = fits(Buffer.sizeOf(message))
    if room then append(message)
    room
  }

  /** Returns true if a `Chunk` may be put. It counts as one element: its elements have not been
    * made for this buffer. If elements have sizes, each has to be looked at.
    */
  def takesReady: Boolean = sizeOf eq null

  /** Puts a terminal message, also if there is no room: the fiber may not wait. */
  def force(value: Any, fiber: TaskFiber): Unit = locked(fiber)(append(value))

  /** Takes the next element. **Waits** for it. */
  def take(fiber: TaskFiber): Any =
    if !ready.isEmpty then ready.next()
    else
      if batch.isEmpty then Observation.awaitInput(fiber, Refill)
      val message = batch.next()
      used += Buffer.sizeOf(message)
      if used >= giveBackAt || batch.isEmpty then giveBack(fiber)
      message match
        case taken: Chunk =>
          ready = taken
          ready.next()
        case sized: Buffer.Sized => sized.value
        case value => value

  /** Takes up to `limit` elements of the rest of a `Chunk`; null if there are none. */
  def takeReady(limit: Int): Chunk | Null = ready.take(limit)

  /** Returns the number of elements, as far as other threads can see; those of a `Chunk` count as
    * one.
    */
  def size: Int = queued.count + math.max(0, batch.count)
  def capacity: Long = limit

  /** Returns the messages that were not taken, in order. Called by the consumer, once all producers
    * have ended.
    */
  def untaken: Iterator[Any] = for
    messages <- Iterator(batch, queued)
    index <- Iterator.range(0, messages.count)
  yield messages(index)

  private def fits(size: Int): Boolean = heldSize == 0 || size <= limit - heldSize

  private final class Entry(fiber: TaskFiber, val size: Int)
      extends GuardedEntry(fiber, producers, this)

  private[weir] def leave(entry: GuardedEntry): Unit = locked(entry.fiber)(entry.leaveList())

  private[weir] def awaitedAs: String =
    val state = if producers.isEmpty then "empty" else "full"
    s"the buffer of a stage of a stream, of $limit, which is $state"

  private final class Put(message: Any) extends Suspend[Boolean]:
    def begin(fiber: TaskFiber): Any = locked(fiber) {
      if fits(Buffer.sizeOf(message)) then
        append(message)
        true
      else
        val entry = Entry(fiber, Buffer.sizeOf(message))
        producers.add(entry)
        entry
    }

  private object Refill extends Suspend[Unit]:
    def begin(fiber: TaskFiber): Any = locked(fiber) {
      if queued.isEmpty then
        val entry = GuardedEntry(fiber, consumers, Buffer.this)
        consumers.add(entry)
        entry
      else swap()
    }

  /** Under the lock: appends a message. If the consumer waits, this also swaps the batch for it,
    * and wakes it.
    */
  private def append(message: Any): Unit =
    queued.add(message)
    heldSize += Buffer.sizeOf(message)
    val waiting = consumers.poll()
    if waiting ne null then
      swap()
      hand(waiting, ()): Unit

  private def swap(): Unit =
    val empty = batch
    empty.reuse(): Unit
    batch = queued
    queued = empty

  /** Wakes the producers that have room now, the one that has waited longest first. Each of them
    * looks for room again: another producer may be faster.
    */
  private def giveBack(fiber: TaskFiber): Unit = locked(fiber) {
    heldSize -= used
    used = 0
    var room = if heldSize == 0 then Long.MaxValue else limit - heldSize
    var entry = next(room)
    while entry ne null do
      if hand(entry, false) then room = (if room == Long.MaxValue then limit else room) - entry.size
      entry = next(room)
  }

  /** Removes the producer that has waited longest from the list, if there is room for its element.
    */
  private def next(room: Long): Entry | Null = producers.peek match
    case entry: Entry if entry.size <= room => producers.poll().asInstanceOf[Entry]
    case _ => null

private object Buffer:
  /** An element, where elements have sizes. */
  private final class Sized(val value: Any, val size: Int)

  private def sizeOf(message: Any): Int = message match
    case sized: Sized => sized.size
    case _ => 1

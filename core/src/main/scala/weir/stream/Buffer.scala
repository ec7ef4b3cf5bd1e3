package weir.stream

import weir.kernel.{RunLoop, Suspend, Waiter}
import weir.sync.WaitList

/** The bounded buffer between fibers that make elements and the one that consumes them, with batched wake-ups.
  *
  * The consumer takes all that is there at once, and uses it up without the lock. What it has used it gives back as room
  * when half of the buffer is used, or when it has nothing left: so the two sides meet once for many elements, and at
  * most `capacity` elements are made and not used at any time.
  *
  *   - **Shared, under this object's lock**: `queued`, `held`, who waits.
  *   - **Consumer only**: `batch`, `used`.
  *   - **Invariant**: `held` is at least the number of elements that are queued or in the batch, and at most `capacity`.
  */
private[stream] final class Buffer(capacity: Int):
  private val giveBackAt = math.max(1, capacity / 2)

  // shared, under this object's lock
  private var queued = new Array[Any](math.min(capacity, 16))
  private var count = 0
  private var held = 0
  private var consumer: Waiter | Null = null
  private val producers = WaitList()

  // consumer only
  private var batch = new Array[Any](queued.length)
  private var position = 0
  private var batchEnd = 0
  private var used = 0

  /** Puts an element. '''Waits''' while there is no room. '''Cancelled''' while it waits: the element is not in it. */
  def put(value: Any, fiber: RunLoop): Unit =
    while !fiber.await(Put(value)) do ()

  /** Puts the last word of a fiber that may not wait, be there room or not. */
  def force(value: Any): Unit = synchronized(append(value))

  /** The next element. '''Waits''' for it. */
  def take(fiber: RunLoop): Any =
    if position == batchEnd then fiber.await(Refill)
    val value = batch(position)
    batch(position) = null
    position += 1
    used += 1
    if used >= giveBackAt || position == batchEnd then giveBack()
    value

  private final class Put(value: Any) extends Suspend[Boolean]:
    def begin(fiber: RunLoop): Any = Buffer.this.synchronized {
      if held < capacity then
        append(value)
        true
      else
        val entry = WaitList.Entry(fiber, producers, Buffer.this)
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
  private def append(value: Any): Unit =
    if count == queued.length then
      queued =
        java.util.Arrays.copyOf(queued.asInstanceOf[Array[AnyRef]], growth).asInstanceOf[Array[Any]]
    queued(count) = value
    count += 1
    held += 1
    val waiting = consumer
    if waiting ne null then
      consumer = null
      swap()
      waiting.complete(()): Unit

  private def growth: Int = math.max(count + 1L, math.min(capacity.toLong, queued.length * 2L)).toInt

  private def swap(): Unit =
    val empty = batch
    batch = queued
    batchEnd = count
    position = 0
    queued = if empty.length < batch.length then new Array[Any](batch.length) else empty
    count = 0

  private def giveBack(): Unit = synchronized {
    held -= used
    used = 0
    var room = capacity - held
    var entry = if room > 0 then producers.poll() else null
    while entry ne null do
      if entry.complete(false) then room -= 1
      entry = if room > 0 then producers.poll() else null
  }

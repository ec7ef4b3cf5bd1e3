package weir.stream

import scala.annotation.unused
import scala.collection.mutable.ArrayDeque
import weir.{Outcome, Stream}
import weir.fiber.{Suspend, TaskFiber}

/** A stage whose upstream runs on a fiber of its own, the producer. The producer collects elements
  * into a state from which the consumer takes: `groupWithin`, `debounce`, `conflate` and the like.
  *
  *   - **Shared, under `lock`**: `terminal`, and the state.
  *   - **Room**: the producer waits in `awaitRoom`; a consumer that makes room wakes `room`.
  *   - **Errors** keep their place: the consumer reaches the terminal message once the state is
  *     empty.
  */
private[stream] abstract class Accumulate(upstream: Pull) extends ConsumerState:
  // shared, under the lock
  final protected val room = WaitSlot(lock)
  private var terminal: Terminal | Null = null

  @transient final protected val producer: UpstreamProducer = new UpstreamProducer(upstream):
    protected def put(value: Any, fiber: TaskFiber): Unit = add(value, fiber)
    protected def putReady(ready: Chunk, fiber: TaskFiber): Unit = addReady(ready, fiber)
    override protected def readyPut(fiber: TaskFiber): Unit = readyAdded(fiber)
    protected def tell(last: Terminal, fiber: TaskFiber): Unit = lock.locked(fiber) {
      terminal = last
      consumer.wake()
    }

  /** Adds an element, as the producer, without the lock. */
  protected def add(value: Any, fiber: TaskFiber): Unit

  /** Adds elements that upstream had already. */
  protected def addReady(ready: Chunk, fiber: TaskFiber): Unit =
    while !ready.isEmpty do add(ready.next(), fiber)

  /** Called after the last `addReady`: the next element has to be made. */
  protected def readyAdded(@unused fiber: TaskFiber): Unit = ()

  /** Under the lock: returns true if there is something for the consumer; `isFinal` is true if no
    * element will be added any more.
    */
  protected def isReady(isFinal: Boolean, fiber: TaskFiber): Boolean

  /** Takes the result for the consumer. Called under the lock, if `isReady`. */
  protected def take(): Any

  /** Called by the consumer, before it looks for the first time. */
  protected def begin(@unused fiber: TaskFiber): Unit = ()

  final protected def answer(fiber: TaskFiber): Any =
    val last = terminal
    if isReady(last ne null, fiber) then take()
    else if last ne null then last
    else WaitSlot.Nothing

  final def next(fiber: TaskFiber): Any = ask(fiber) {
    if !producer.hasBegun then
      begin(fiber)
      producer.begin(fiber)
    awaitAnswer(fiber)
  }

  /** Returns once `hasRoom`, which is evaluated under the lock, is true. Called by the producer, so
    * that it stays true until the producer adds its element.
    */
  final protected def awaitRoom(fiber: TaskFiber)(hasRoom: => Boolean): Unit =
    val look = new Suspend[Any]:
      def begin(fiber: TaskFiber): Any =
        WaitSlot.lookOrWait(lock, room, fiber)(if hasRoom then () else WaitSlot.Nothing)
    WaitSlot.repeat(Observation.awaitRoom(fiber, look)): Unit

  final protected def closeStage(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    Pull.both(stop(fiber, outcome), upstream.close(fiber, outcome))

  private def stop(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    producer.stop(fiber)
    keep(terminal, fiber, outcome)

/** Emits groups of `size` elements, or of those that have come within `nanos` of the first of them.
  *
  * While a full group waits to be taken, no element is made. If upstream has further elements
  * already, some more groups are filled with them, and the consumer is woken for several groups at
  * once: waking it costs more than filling one. It takes all that are full, as a `Chunk`.
  */
private[weir] class GroupWithinStage(upstream: Pull, size: Int, nanos: Long)
    extends Accumulate(upstream):
  private var full = Chunk.empty(1)
  private var group = Vector.newBuilder[Any]
  private var count = 0

  /** The number of chunks for which the consumer has not been woken. */
  private var untold = 0

  override def atMost(groups: Long): Unit =
    val elements = if groups > Long.MaxValue / size then Long.MaxValue else groups * size
    producer.demand = math.min(producer.demand, elements)
    upstream.atMost(elements)

  final override protected def hasDue: Boolean = !isEmpty

  /** Under the lock: returns true if the present group has no element. */
  final protected def isEmpty: Boolean = count == 0

  /** Under the lock: returns true if the next element may be added. */
  protected def hasRoom: Boolean = full.isEmpty

  protected def add(value: Any, fiber: TaskFiber): Unit =
    awaitRoom(fiber)(hasRoom)
    lock.locked(fiber) {
      append(value, fiber)
      if count <= 1 then consumer.wake() // a group is full, or its time has begun
    }

  override protected def addReady(ready: Chunk, fiber: TaskFiber): Unit =
    awaitRoom(fiber)(full.count <= GroupWithinStage.fullGroups)
    lock.locked(fiber) {
      while !ready.isEmpty do append(ready.next(), fiber)
      untold += 1
      if untold == GroupWithinStage.fullGroups || full.count > GroupWithinStage.fullGroups then
        tell()
    }

  override protected def readyAdded(fiber: TaskFiber): Unit = lock.locked(fiber)(tell())

  private def tell(): Unit =
    untold = 0
    consumer.wake()

  /** Under the lock: adds an element to the present group, and ends that if it is full. */
  protected def append(value: Any, fiber: TaskFiber): Unit =
    group.addOne(value): Unit
    count += 1
    if count == size then endGroup()
    else if count == 1 then dueIn(fiber, nanos)

  /** Under the lock: ends the present group, which is not empty. */
  final protected def endGroup(): Unit = full.add(takeGroup())

  private def takeGroup(): Vector[Any] =
    val result = group.result()
    group = Vector.newBuilder[Any]
    count = 0
    result

  protected def isReady(isFinal: Boolean, fiber: TaskFiber): Boolean =
    !full.isEmpty || !isEmpty && (isFinal || isDue(fiber))

  protected def take(): Any =
    if full.isEmpty then takeGroup()
    else
      val groups = full
      full = Chunk.empty(1)
      room.wake()
      if groups.count == 1 then groups.next() else groups

private[weir] object GroupWithinStage:
  def groups(upstream: Pull, size: Int, nanos: Long): Pull =
    UnchunkStage(GroupWithinStage(upstream, size, nanos), isShared = false)

  /** The largest number of full groups that wait before the elements of another chunk are added. */
  private inline val fullGroups = 8

/** A stage that keeps only the latest element, for the consumer to take when it is due. */
private[stream] abstract class LatestStage(upstream: Pull) extends Accumulate(upstream):
  private var latest: Any = WaitSlot.Nothing

  final protected def isEmpty: Boolean = WaitSlot.isNothing(latest)

  /** Under the lock, before each element: sets the time at which it is due. */
  protected def schedule(fiber: TaskFiber): Unit

  final override protected def hasDue: Boolean = !isEmpty

  final protected def add(value: Any, fiber: TaskFiber): Unit = lock.locked(fiber) {
    schedule(fiber)
    val wasEmpty = isEmpty
    latest = value
    if wasEmpty then consumer.wake()
  }

  final protected def isReady(isFinal: Boolean, fiber: TaskFiber): Boolean =
    !isEmpty && (isFinal || isDue(fiber))

  final protected def take(): Any =
    val value = latest
    latest = WaitSlot.Nothing
    value

/** Emits elements after which none has come for `nanos`. */
private[weir] final class DebounceStage(upstream: Pull, nanos: Long) extends LatestStage(upstream):
  protected def schedule(fiber: TaskFiber): Unit = dueIn(fiber, nanos)

/** Emits the latest element at the end of each period. */
private[weir] final class SampleStage(upstream: Pull, nanos: Long) extends LatestStage(upstream):
  private var startNanos = 0L

  override protected def begin(fiber: TaskFiber): Unit =
    startNanos = fiber.runtime.timers.nanoTime

  protected def schedule(fiber: TaskFiber): Unit =
    if isEmpty then
      val now = fiber.runtime.timers.nanoTime
      dueIn(fiber, nanos - (now - startNanos) % nanos)

/** Combines the elements that come while the consumer is busy, as long as their costs add up to at
  * most `limit`. `conflate`, `batch`.
  *
  * `first` and `combine` are the user's code and run without the lock: the producer takes the state
  * out while it runs them, and puts it back even if they fail.
  */
private[weir] final class BatchStage(
    upstream: Pull,
    limit: Long,
    cost: Any => Long,
    first: Any => Any,
    combine: (Any, Any) => Any
) extends Accumulate(upstream):
  private var state: Any = WaitSlot.Nothing
  private var left = limit

  private def isEmpty = WaitSlot.isNothing(state)

  protected def add(value: Any, fiber: TaskFiber): Unit =
    val price = Stream.notNegative("batch", "cost", cost(value))
    awaitRoom(fiber)(isEmpty || price <= left)
    val before = lock.locked(fiber) {
      val before = state
      state = WaitSlot.Nothing
      before
    }
    val isFirst = WaitSlot.isNothing(before)
    var after = before
    try after = if isFirst then first(value) else combine(before, value)
    finally
      lock.locked(fiber) {
        state = after
        left = (if isFirst then limit else left) - price
        if !isEmpty then consumer.wake()
      }

  protected def isReady(isFinal: Boolean, fiber: TaskFiber): Boolean = !isEmpty

  protected def take(): Any =
    val value = state
    state = WaitSlot.Nothing
    room.wake()
    value

/** A buffer that never makes the producer wait: `overflow` decides what happens when it is full. */
private[weir] final class OverflowStage(upstream: Pull, size: Int, overflow: weir.Overflow)
    extends Accumulate(upstream):
  private val queue = ArrayDeque[Any]()

  protected def add(value: Any, fiber: TaskFiber): Unit = lock.locked(fiber) {
    if queue.size < size then append(value)
    else
      overflow match
        case weir.Overflow.DropOldest =>
          queue.removeHead(): Unit
          append(value)
        case weir.Overflow.DropNewest => ()
        case weir.Overflow.Fail => throw weir.BufferOverflow("Stream.buffer", size)
  }

  private def append(value: Any): Unit =
    queue.append(value): Unit
    if queue.size == 1 then consumer.wake()

  protected def isReady(isFinal: Boolean, fiber: TaskFiber): Boolean = queue.nonEmpty
  protected def take(): Any = queue.removeHead()

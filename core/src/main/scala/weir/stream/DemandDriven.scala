package weir.stream

import scala.annotation.unused
import weir.Outcome
import weir.fiber.{DirectCode, Suspend, TaskFiber, Uncancelable}
import weir.group.Finalizers

/** A stage over several streams. A fiber of its own pulls each of them, and makes an element when
  * the consumer has requested it. So no element is made ahead of demand, and the consumer can wait
  * for the one that comes first, or for a time.
  *
  * {{{
  * side: idle --request--> requested --its fiber--> made --take--> idle
  *                                         +--> a Terminal: its fiber ends
  * }}}
  *
  *   - **Order of accesses**: `made` and `requested` change in one critical section. The fiber
  *     pulls only between a request and the delivery that answers it, and a request is made only
  *     while nothing is `made`. So no element is lost, and the fiber never waits for room.
  *   - **Both cannot wait**: the consumer waits after requests to all sides that it may wait for. A
  *     side's fiber waits only while nothing is requested of it.
  *
  * Once closing has begun, the fibers are cancelled, and each stream is closed by a fiber of its
  * own as soon as the one that pulls it has ended. This is because one stream may wait, masked, for
  * a resource that the finalizer of another returns.
  */
private[stream] abstract class DemandDriven(pulls: Pull*) extends ConsumerState:
  import DemandDriven.Empty

  final protected class Side(val pull: Pull):
    // shared, under the stage's lock
    private var requested = false
    var made: Any = Empty
    private val demand = WaitSlot(lock)

    @transient val producer: ProducerFiber = new ProducerFiber:
      protected def work(fiber: TaskFiber): Boolean =
        var value = nextRequested(fiber)
        while !Pull.isEnd(value) do
          deliver(value, fiber)
          value = nextRequested(fiber)
        true

      protected def tell(terminal: Terminal, fiber: TaskFiber): Unit = deliver(terminal, fiber)

    def isEmpty: Boolean = made.asInstanceOf[AnyRef] eq Empty
    def isEnd: Boolean = Pull.isEnd(made)
    def isFailed: Boolean = made.isInstanceOf[Terminal.Failed]

    /** True if the stage has told its end before this side had ended. Under the lock. */
    var isUnreached = false

    /** Under the lock: takes the element that was made. After the end, or an error, the stage asks
      * for no more.
      */
    def take(): Any =
      val value = made
      made = Empty
      value

    /** Under the lock: begins with the next element, unless one is there. */
    def request(): Unit =
      if isEmpty && !requested then
        requested = true
        demand.wake()

    /** Called by the consumer: starts the fiber if its first element is requested. Before that only
      * the consumer writes `requested`. Returns true if the fiber has begun.
      */
    def beginIfRequested(fiber: TaskFiber): Boolean =
      if requested && !producer.hasBegun then producer.begin(fiber)
      producer.hasBegun

    private object AwaitRequest extends Suspend[Any]:
      def begin(fiber: TaskFiber): Any =
        WaitSlot.lookOrWait(lock, demand, fiber)(if requested then () else WaitSlot.Nothing)

    private def nextRequested(fiber: TaskFiber): Any =
      WaitSlot.repeat(Observation.awaitRoom(fiber, AwaitRequest)): Unit
      pull.next(fiber)

    private def deliver(value: Any, fiber: TaskFiber): Unit = lock.locked(fiber) {
      made = value
      requested = false
      delivered()
    }

  final protected val sides: IndexedSeq[Side] = pulls.toIndexedSeq.map(Side(_))

  // consumer only
  private var allBegun = false

  /** Called under the lock, at the begin of each `next`. */
  protected def prepare(@unused fiber: TaskFiber): Unit = sides.foreach(_.request())

  /** Called under the lock when a side has `made` an element or a terminal. */
  protected def delivered(): Unit = consumer.wake()

  /** Under the lock: returns the first side that has failed. */
  final protected def failed: Side | Null = sides.find(_.isFailed).orNull

  /** Under the lock: returns the end of a stage that does not wait for the end of all sides. */
  final protected def endEarly(): Any =
    for side <- sides if !side.isEnd do side.isUnreached = true
    Pull.End

  def next(fiber: TaskFiber): Any = ask(fiber)(requestAndAwait(fiber))

  final protected def requestAndAwait(fiber: TaskFiber): Any =
    lock.locked(fiber)(prepare(fiber))
    if !allBegun then allBegun = sides.count(_.beginIfRequested(fiber)) == sides.size
    awaitAnswer(fiber)

  protected def closeStage(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    sides.foreach(_.producer.requestCancel())
    Pull.both(
      if sides.size == 1 then closeOne(sides.head, fiber, outcome)
      else
        val closers = sides.map { side =>
          fiber.fork(Uncancelable(_ => DirectCode(closeOne(side, _, outcome))))
        }
        fiber.await(Finalizers.join(closers))
      ,
      Terminal.keepAll(sides)(side => keep(side.made, fiber, outcome))
    )

  private def closeOne(side: Side, fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    side.producer.join(fiber)
    val isUnreached = lock.locked(fiber)(side.isUnreached)
    side.pull.close(fiber, if isUnreached then Terminal.unreached(outcome) else outcome)

private[stream] object DemandDriven:
  object Empty

/** Emits the elements of `upstream` while a task runs concurrently: `concurrently`,
  * `interruptWhen`, `timeout`. If the task fails, so does the stage. If it has succeeded, the stage
  * ends if `ends` is true.
  *
  * The task has a fiber of its own, so the stage sees its end a moment later. `isOver` says at once
  * that the task is over, if that can be known. The stage calls it before it requests an element
  * and before it takes one.
  */
private[weir] final class BesideStage(
    upstream: Pull,
    task: Pull,
    ends: Boolean,
    isOver: () => Boolean
) extends DemandDriven(upstream, task):
  private val foreground = sides(0)
  private val background = sides(1)

  /** The result of `hasEnded` before the latest request. It holds even if `isOver` has changed
    * since. Under the lock.
    */
  private var wasOver = false

  /** True once the consumer was told the end because the task had ended. Consumer only. */
  private var hasInterrupted = false

  override protected def prepare(fiber: TaskFiber): Unit =
    wasOver = hasEnded
    if !wasOver then super.prepare(fiber) // otherwise work would begin, to be cancelled at once

  override def atMost(count: Long): Unit = upstream.atMost(count)

  override def next(fiber: TaskFiber): Any = ask(fiber) {
    requestAndAwait(fiber) match
      case BesideStage.Interrupted => interrupted(fiber)
      case found => found
  }

  /** Cancels the work of upstream, since the task has ended. **Waits** for that: until then the
    * work may fail, and the consumer, which waits for the end of the stream, has that error in its
    * place.
    */
  private def interrupted(fiber: TaskFiber): Any =
    hasInterrupted = true
    foreground.producer.stop(fiber)
    foreground.made match
      case _: Terminal.Canceled => Pull.End // by this stage
      case failed: Terminal.Failed => failed
      case _ => Pull.End

  protected def answer(fiber: TaskFiber): Any =
    if background.isFailed then background.made
    else if wasOver || hasEnded then BesideStage.Interrupted
    else if foreground.isEmpty then WaitSlot.Nothing
    else foreground.take()

  /** Under the lock: returns true if the task has succeeded, and the stage ends with it. */
  private def hasEnded: Boolean = isOver() || ends && !background.isEmpty

  /** Work that the consumer waited for may run on fibers of stages upstream, which end only here. A
    * consumer that has not come to the end that it was told, as one behind a buffer, has not waited
    * for that work.
    */
  override protected def closeStage(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val isInterrupted = hasInterrupted && (outcome eq Pull.succeeded)
    super.closeStage(fiber, if isInterrupted then Terminal.interrupted else outcome)

private[weir] object BesideStage:
  /** The answer that the task has ended. */
  object Interrupted

/** Emits the same elements. If the next one takes longer than `nanos`, emits the result of
  * `onIdle`: an element, or an error. `idleTimeout`, `keepAlive`.
  */
private[weir] final class IdleStage(upstream: Pull, nanos: Long, onIdle: () => Any)
    extends DemandDriven(upstream):
  private val side = sides(0)

  override def atMost(count: Long): Unit = upstream.atMost(count)
  override protected def hasDue: Boolean = true

  override def next(fiber: TaskFiber): Any = ask(fiber) {
    val answer = requestAndAwait(fiber)
    if answer.asInstanceOf[AnyRef] eq IdleStage.Idle then onIdle() else answer
  }

  override protected def prepare(fiber: TaskFiber): Unit =
    side.request()
    dueIn(fiber, nanos)

  protected def answer(fiber: TaskFiber): Any =
    if !side.isEmpty then side.take()
    else if isDue(fiber) then IdleStage.Idle // `onIdle` is the user's code
    else WaitSlot.Nothing

private[weir] object IdleStage:
  private object Idle

  def timeout(upstream: Pull, nanos: Long, error: () => Throwable): Pull =
    IdleStage(upstream, nanos, () => Terminal.Failed(error()))

/** Emits the elements of both as they arrive; those of `first` if both have one. As soon as the
  * consumer has one of `first`, the next one is requested. If the next `next` requested it, the
  * other side would be there before it each time.
  */
private[weir] final class MergePreferredStage(first: Pull, second: Pull)
    extends DemandDriven(first, second):
  protected def answer(fiber: TaskFiber): Any =
    val bad = failed
    if bad ne null then bad.made
    else
      sides.find(side => !side.isEmpty && !side.isEnd) match
        case Some(side) =>
          val value = side.take()
          if side eq sides.head then side.request()
          value
        case None => if sides.forall(_.isEnd) then Pull.End else WaitSlot.Nothing

/** Emits pairs of the latest elements of both, whenever one of them has a new one. */
private[weir] final class ZipLatestStage(left: Pull, right: Pull) extends DemandDriven(left, right):
  private val latest = Array[Any](DemandDriven.Empty, DemandDriven.Empty)

  protected def answer(fiber: TaskFiber): Any =
    val bad = failed
    if bad ne null then bad.made
    else
      sides.indexWhere(side => !side.isEmpty && !side.isEnd) match
        case -1 => if isOver then endEarly() else WaitSlot.Nothing
        case index =>
          latest(index) = sides(index).take()
          if latest.exists(_.asInstanceOf[AnyRef] eq DemandDriven.Empty) then
            sides(index).request()
            answer(fiber)
          else (latest(0), latest(1))

  /** Returns true if both have ended, or one of them without an element. */
  private def isOver: Boolean =
    sides.forall(_.isEnd) ||
      sides.indices.exists(i =>
        sides(i).isEnd && (latest(i).asInstanceOf[AnyRef] eq DemandDriven.Empty)
      )

/** Emits pairs of elements that are made at the same time. */
private[weir] final class ParZipStage(left: Pull, right: Pull) extends DemandDriven(left, right):
  override def atMost(count: Long): Unit =
    left.atMost(count)
    right.atMost(count)

  protected def answer(fiber: TaskFiber): Any =
    val bad = failed
    if bad ne null then bad.made
    else if sides.exists(_.isEnd) then endEarly()
    else if sides.exists(_.isEmpty) then WaitSlot.Nothing
    else (sides(0).take(), sides(1).take())

/** Emits for each element the values that `f` returns for it: at least one, and more while the next
  * element is not there.
  */
private[weir] final class ExpandStage(upstream: Pull, f: Any => Iterator[Any])
    extends DemandDriven(upstream):
  private val side = sides(0)

  // consumer only
  private var more: Iterator[Any] = Iterator.empty

  /** True if `more` has a value. It is read before the wait, since it is the user's code. */
  private var hasMore = false

  override def next(fiber: TaskFiber): Any =
    var result: Any = DemandDriven.Empty
    while result.asInstanceOf[AnyRef] eq DemandDriven.Empty do
      hasMore = more.hasNext
      super.next(fiber) match
        case ExpandStage.More => result = more.next()
        case Terminal.Ended => result = Pull.End
        case element =>
          more = f(element)
          if more.hasNext then result = more.next()
    result

  protected def answer(fiber: TaskFiber): Any =
    if !side.isEmpty then side.take()
    else if hasMore then ExpandStage.More
    else WaitSlot.Nothing

private[weir] object ExpandStage:
  object More

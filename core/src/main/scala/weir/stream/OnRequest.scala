package weir.stream

import weir.Outcome
import weir.fiber.{DirectCode, Suspend, TaskFiber, Uncancelable, Waiter}
import weir.fiber.CancelSignal
import weir.group.Finalizers

/** A stage over several streams, each pulled by a fiber of its own, which makes an element when the
  * consumer has requested it. So nothing is made ahead, and the consumer can wait for whichever
  * comes first, or for a time.
  *
  * {{{
  * side: idle --request--> requested --its fiber--> made --take--> idle
  *                                         +--> Pull.End, Failed: its fiber ends
  * }}}
  *
  * Once closing has begun, the fibers are cancelled, and each stream is closed by a fiber of its
  * own as soon as the one that pulls it has ended: what one stream waits for, masked, may be what
  * the finalizer of another gives back.
  */
private[stream] abstract class OnRequest(pulls: Pull*) extends ConsumerState:
  import OnRequest.Empty

  final protected class Side(val pull: Pull):
    // consumer only
    var fiber: TaskFiber | Null = null

    // shared, under the stage's lock
    var requested = false
    var made: Any = Empty
    var producer: Waiter | Null = null

    def isEmpty: Boolean = made.asInstanceOf[AnyRef] eq Empty
    def isEnd: Boolean = Pull.isEnd(made)
    def isFailed: Boolean = made.isInstanceOf[Producer.Failed]

    /** Under the lock: what was made. After the end, or an error, the stage asks for no more. */
    def take(): Any =
      val value = made
      made = Empty
      value

    /** Under the lock: begins with the next element, unless one is there. */
    def request(consumer: TaskFiber): Unit =
      if isEmpty && !requested then
        requested = true
        val waiting = producer
        producer = null
        if fiber eq null then fiber = consumer.fork(DirectCode(run))
        else if waiting ne null then waiting.complete(()): Unit

    private object AwaitRequest extends Suspend[Unit]:
      def begin(fiber: TaskFiber): Any = OnRequest.this.synchronized {
        if requested then ()
        else
          val waiter = Waiter(fiber)
          producer = waiter
          waiter
      }

    private def run(fiber: TaskFiber): Unit =
      try
        var going = true
        while going do
          Observation.awaitRoom(fiber, AwaitRequest)
          val value = pull.next(fiber)
          going = !Pull.isEnd(value)
          deliver(value)
      catch
        case CancelSignal =>
          deliver(Producer.canceled)
          throw CancelSignal
        case error: Throwable => deliver(Producer.failed(error, fiber))

    private def deliver(value: Any): Unit = OnRequest.this.synchronized {
      made = value
      requested = false
      wakeConsumer()
    }

  final protected val sides: IndexedSeq[Side] = pulls.toIndexedSeq.map(Side(_))

  // consumer only
  private var ended = false
  private var thrown: Throwable | Null = null

  /** Under the lock, at the begin of each `next`. */
  protected def prepare(fiber: TaskFiber): Unit = sides.foreach(_.request(fiber))

  /** Under the lock: the first side that has failed. */
  final protected def failed: Side | Null = sides.find(_.isFailed).orNull

  def next(fiber: TaskFiber): Any =
    if ended then Pull.End
    else
      fiber.checkpoint()
      synchronized(prepare(fiber))
      awaitAnswer(fiber) match
        case Pull.End =>
          ended = true
          Pull.End
        case failed: Producer.Failed =>
          ended = true
          thrown = failed.error
          failed.rethrow(fiber)
        case value => value

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    sides.foreach(side => if side.fiber ne null then side.fiber.nn.requestCancel())
    Pull.both(
      if sides.size == 1 then closeOne(sides.head, fiber, outcome)
      else
        val closers = sides.map { side =>
          fiber.fork(Uncancelable(_ => DirectCode(closeOne(side, _, outcome))))
        }
        fiber.await(Finalizers.join(closers))
      ,
      keepErrors(fiber, outcome)
    )

  private def closeOne(side: Side, fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val running = side.fiber
    if running ne null then fiber.await(running.join): Unit
    side.pull.close(fiber, outcome)

  private def keepErrors(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    sides.foreach(_.made match
      case failed: Producer.Failed if failed.error ne thrown =>
        Producer.keepError(failed, fiber, outcome)
      case _ => ())

private[stream] object OnRequest:
  object Empty

/** Elements of `upstream` while a task runs beside it: `concurrently`, `interruptWhen`, `timeout`.
  * Where the task fails, so does the stage; where it has succeeded, the stage ends if `ends`.
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
) extends OnRequest(upstream, task):
  private val foreground = sides(0)
  private val background = sides(1)

  /** The result of `isOver` before the latest request. It holds even if `isOver` has changed since.
    * Under the lock.
    */
  private var wasOver = false

  override protected def prepare(fiber: TaskFiber): Unit =
    wasOver = isOver()
    if !wasOver then super.prepare(fiber)

  override def atMost(count: Long): Unit = upstream.atMost(count)

  protected def answer(fiber: TaskFiber): Any =
    if background.isFailed then background.made
    else if wasOver || isOver() || ends && !background.isEmpty then Pull.End
    else if foreground.isEmpty then ConsumerState.NoAnswer
    else foreground.take()

/** The same elements; where the next one takes longer than `nanos`, what `onIdle` returns: an
  * element, or an error. `idleTimeout`, `keepAlive`.
  */
private[weir] final class IdleStage(upstream: Pull, nanos: Long, onIdle: () => Any)
    extends OnRequest(upstream):
  private val side = sides(0)

  override def atMost(count: Long): Unit = upstream.atMost(count)
  override protected def hasDue: Boolean = true

  override protected def prepare(fiber: TaskFiber): Unit =
    side.request(fiber)
    dueIn(fiber, nanos)

  protected def answer(fiber: TaskFiber): Any =
    if !side.isEmpty then side.take()
    else if isDue(fiber) then onIdle()
    else ConsumerState.NoAnswer

private[weir] object IdleStage:
  def timeout(upstream: Pull, nanos: Long, error: () => Throwable): Pull =
    IdleStage(upstream, nanos, () => Producer.Failed(error()))

/** The elements of both as they come; those of `first` where both have one. As soon as the consumer
  * has one of `first`, the next one is requested: if it were only with the next `next`, the other
  * side would be there before it each time.
  */
private[weir] final class MergePreferredStage(first: Pull, second: Pull)
    extends OnRequest(first, second):
  protected def answer(fiber: TaskFiber): Any =
    val bad = failed
    if bad ne null then bad.made
    else
      sides.find(side => !side.isEmpty && !side.isEnd) match
        case Some(side) =>
          val value = side.take()
          if side eq sides.head then side.request(fiber)
          value
        case None => if sides.forall(_.isEnd) then Pull.End else ConsumerState.NoAnswer

/** Pairs of the latest elements of both, whenever one of them has a new one. */
private[weir] final class ZipLatestStage(left: Pull, right: Pull) extends OnRequest(left, right):
  private val latest = Array[Any](OnRequest.Empty, OnRequest.Empty)

  protected def answer(fiber: TaskFiber): Any =
    val bad = failed
    if bad ne null then bad.made
    else
      sides.indexWhere(side => !side.isEmpty && !side.isEnd) match
        case -1 => if isOver then Pull.End else ConsumerState.NoAnswer
        case index =>
          latest(index) = sides(index).take()
          if latest.exists(_.asInstanceOf[AnyRef] eq OnRequest.Empty) then
            sides(index).request(fiber)
            answer(fiber)
          else (latest(0), latest(1))

  /** Both have ended, or one of them without an element. */
  private def isOver: Boolean =
    sides.forall(_.isEnd) ||
      sides.indices.exists(i =>
        sides(i).isEnd && (latest(i).asInstanceOf[AnyRef] eq OnRequest.Empty)
      )

/** Pairs of elements that are made at the same time. */
private[weir] final class ParZipStage(left: Pull, right: Pull) extends OnRequest(left, right):
  override def atMost(count: Long): Unit =
    left.atMost(count)
    right.atMost(count)

  protected def answer(fiber: TaskFiber): Any =
    val bad = failed
    if bad ne null then bad.made
    else if sides.exists(_.isEnd) then Pull.End
    else if sides.exists(_.isEmpty) then ConsumerState.NoAnswer
    else (sides(0).take(), sides(1).take())

/** For each element what `f` makes of it, at least one, and more while the next element is not
  * there.
  */
private[weir] final class ExpandStage(upstream: Pull, f: Any => Iterator[Any])
    extends OnRequest(upstream):
  private val side = sides(0)

  // consumer only
  private var more: Iterator[Any] = Iterator.empty

  /** `more` is looked at before the wait, since it is the user's code. */
  private var hasMore = false

  override def next(fiber: TaskFiber): Any =
    var result: Any = OnRequest.Empty
    while result.asInstanceOf[AnyRef] eq OnRequest.Empty do
      hasMore = more.hasNext
      super.next(fiber) match
        case ExpandStage.More => result = more.next()
        case Pull.End => result = Pull.End
        case element =>
          more = f(element)
          if more.hasNext then result = more.next()
    result

  protected def answer(fiber: TaskFiber): Any =
    if !side.isEmpty then side.take()
    else if hasMore then ExpandStage.More
    else ConsumerState.NoAnswer

private[weir] object ExpandStage:
  object More

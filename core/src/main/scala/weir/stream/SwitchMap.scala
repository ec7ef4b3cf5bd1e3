package weir.stream

import scala.collection.mutable.ListBuffer
import weir.fiber.{CancelSignal, DirectCode, Suspend, TaskFiber, Waiter}
import weir.{Outcome, Stream}

/** The elements of the stream that `f` makes of the latest element of upstream: `switchMap`.
  *
  * {{{
  * upstream --next--> outer fiber --cancels, starts--> inner fiber --put--> slot --> consumer
  * }}}
  *
  *   - **The outer fiber** pulls upstream, and switches at each element, whether the consumer is
  *     busy or not. One inner fiber runs at a time: it pulls its stream, and closes it.
  *   - **The slot** has at most one element, and accepts those of `current` only. A switch empties
  *     it. So no element of the old stream comes after a switch has begun.
  *   - **The last element** of an inner stream is used before the stream is closed: the inner fiber
  *     waits until the consumer asks again (`isAsked`). A switch does not wait for that.
  *   - **After a failure** no element enters the slot and no inner fiber begins. So the consumer
  *     sees the failure after the element that is in the slot, even if elements never end.
  *   - **The race we fear**: a new inner fiber begins while the stage closes, and nobody ends it.
  *     `close` sets `closing` and takes `current` in one critical section, and an inner fiber is
  *     started in one that looks at `closing`. `close` waits for the outer fiber, which waits for
  *     the inner one that it cancels.
  */
private[weir] final class SwitchMapStage(upstream: Pull, f: Any => Stream[Any])
    extends ConsumerState:
  import SwitchMapStage.Empty

  // consumer only
  private var outerFiber: TaskFiber | Null = null

  // shared, under this object's lock
  private var current: Inner | Null = null
  private var slot: Any = Empty

  /** True while the consumer has used all that it has taken and waits for an element. */
  private var isAsked = false
  private var outerEnded = false

  /** The errors that the consumer has not seen yet. */
  private val failures = ListBuffer[Producer.Failed]()
  private var innerWaits: Waiter | Null = null

  /** The outcome of the use of this stage; null until the stage closes. */
  private var closing: Outcome[Unit] | Null = null

  /** The error of the finalizers of an inner stream while the stage was closing. At most one inner
    * fiber runs then: `current`, or the one that a switch has cancelled.
    */
  private var closeError: Throwable | Null = null

  def next(fiber: TaskFiber): Any =
    fiber.checkpoint() // since taking an element from the slot has none
    if outerFiber eq null then outerFiber = fiber.fork(DirectCode(runOuter))
    awaitAnswer(fiber) match
      case failed: Producer.Failed => failed.rethrow(fiber)
      case value => value

  protected def answer(fiber: TaskFiber): Any =
    if !isEmpty then
      val value = slot
      slot = Empty
      wakeInner()
      value
    else if failures.nonEmpty then failures.remove(0)
    else if outerEnded && (current eq null) then Pull.End
    else
      isAsked = true
      wakeInner()
      ConsumerState.NoAnswer

  private def isEmpty: Boolean = slot.asInstanceOf[AnyRef] eq Empty

  private def wakeInner(): Unit =
    val waiter = innerWaits
    innerWaits = null
    if waiter ne null then waiter.complete(false): Unit

  private def fail(failed: Producer.Failed): Unit =
    failures += failed
    wakeConsumer()

  // ---- the outer fiber ----

  private def runOuter(fiber: TaskFiber): Unit =
    try
      var value = upstream.next(fiber)
      while !Pull.isEnd(value) do
        switchTo(value, fiber)
        value = upstream.next(fiber)
      synchronized {
        outerEnded = true
        wakeConsumer()
      }
    catch
      case CancelSignal =>
        synchronized(fail(Producer.canceled))
        throw CancelSignal
      case error: Throwable =>
        val failed = Producer.failed(error, fiber)
        synchronized(fail(failed))

  private def switchTo(value: Any, fiber: TaskFiber): Unit =
    val old = synchronized {
      val old = current
      current = null
      slot = Empty
      old
    }
    if old ne null then fiber.await(old.fiber.nn.cancel)
    synchronized {
      if (closing eq null) && failures.isEmpty then
        val inner = Inner(value)
        inner.fiber = fiber.fork(DirectCode(inner.run))
        current = inner
    }

  // ---- an inner fiber ----

  private final class Inner(value: Any):
    /** Written before the fiber can be seen. */
    var fiber: TaskFiber | Null = null

    def run(fiber: TaskFiber): Unit =
      var pull: Pull | Null = null
      val ended =
        try
          val opened = f(value).open()
          pull = opened
          pullAll(opened, fiber)
          null
        catch
          case CancelSignal => Producer.canceled
          case error: Throwable => Producer.failed(error, fiber)
      val opened = pull
      end(ended, if opened eq null then null else close(opened, ended, fiber))

    private def pullAll(pull: Pull, fiber: TaskFiber): Unit =
      var value = pull.next(fiber)
      while !Pull.isEnd(value) do
        put(value, fiber)
        value = pull.next(fiber)
      while !fiber.await(AwaitUsed) do ()

    private def put(value: Any, fiber: TaskFiber): Unit =
      val put = Put(value)
      while !Observation.awaitRoom(fiber, put) do ()

    /** Closes `pull`, and returns the error of its finalizers. */
    private def close(
        pull: Pull,
        ended: Producer.Failed | Null,
        fiber: TaskFiber
    ): Throwable | Null =
      val stage = SwitchMapStage.this.synchronized(closing)
      val outcome = ended match
        case null => Pull.succeeded
        case Producer.Failed(_: Producer.Canceled) =>
          if stage eq null then Outcome.Canceled else stage
        case Producer.Failed(error) => Outcome.Failed(error)
      try
        fiber.masked(pull.close(fiber, outcome))
        null
      catch case error: Throwable => error

    private def end(ended: Producer.Failed | Null, thrown: Throwable | Null): Unit =
      SwitchMapStage.this.synchronized {
        val isCurrent = current eq this
        if isCurrent then current = null
        (ended, thrown) match
          case (null, null) => ()
          case (Producer.Failed(_: Producer.Canceled), null) =>
            if isCurrent then fail(ended.nn) // nobody else has cancelled it
          case (null | Producer.Failed(_: Producer.Canceled), error: Throwable) =>
            if closing eq null then fail(Producer.Failed(error)) else closeError = error
          case (Producer.Failed(error), later) =>
            if later ne null then Pull.bothFailed(error, later): Unit
            fail(ended.nn)
        wakeConsumer()
      }

    /** Puts the element into the slot. True once it is there, or was dropped after a switch. */
    private final class Put(value: Any) extends Suspend[Boolean]:
      def begin(fiber: TaskFiber): Any = SwitchMapStage.this.synchronized {
        if current ne Inner.this then true
        else if isEmpty && failures.isEmpty then
          slot = value
          isAsked = false
          wakeConsumer()
          true
        else innerWaiter(fiber)
      }

  private object AwaitUsed extends Suspend[Boolean]:
    def begin(fiber: TaskFiber): Any = SwitchMapStage.this.synchronized {
      if isEmpty && isAsked then true else innerWaiter(fiber)
    }

  /** A wait that completes with false when the state is to be checked again. */
  private def innerWaiter(fiber: TaskFiber): Waiter =
    val waiter = Waiter(fiber)
    innerWaits = waiter
    waiter

  // ---- closing ----

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val inner = synchronized {
      closing = outcome
      val inner = current
      current = null
      inner
    }
    val running = outerFiber
    if running ne null then running.requestCancel()
    if inner ne null then inner.fiber.nn.requestCancel()
    if inner ne null then fiber.await(inner.fiber.nn.join): Unit
    if running ne null then fiber.await(running.join): Unit
    failures.foreach(Producer.keepError(_, fiber, outcome))
    Pull.both(
      if closeError ne null then throw closeError,
      upstream.close(fiber, outcome)
    )

private[weir] object SwitchMapStage:
  /** No element. */
  private object Empty

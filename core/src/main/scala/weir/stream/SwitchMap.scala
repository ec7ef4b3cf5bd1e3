package weir.stream

import scala.collection.mutable.ListBuffer
import weir.fiber.{Suspend, TaskFiber}
import weir.{Outcome, Stream}

/** Emits the elements of the stream that `f` returns for the latest element of upstream:
  * `switchMap`.
  *
  *   - **The outer fiber** pulls upstream, and switches at each element, whether the consumer is
  *     busy or not. One inner fiber runs at a time: it pulls its stream, and closes it.
  *   - **The slot** has at most one element, and accepts only those of `current`. A switch empties
  *     it. So no element of the old stream comes after a switch has begun.
  *   - **The last element** of an inner stream is used before the stream is closed: the inner fiber
  *     waits until the consumer asks again (`isAsked`). A switch does not wait for that.
  *   - **After a failure** no element enters the slot and no inner fiber begins. So the consumer
  *     sees the failure after the element that is in the slot, even if elements never end.
  *   - **The race we fear**: a new inner fiber begins while the stage closes, and nobody ends it.
  *     `close` sets `closing` and takes `current` in one critical section. The outer fiber makes an
  *     inner one `current` in a critical section that looks at `closing`, starts that fiber, and
  *     looks at `closing` again. So either it finds `closing` and cancels the inner fiber, or
  *     `close` finds that this has begun, and cancels it. `close` waits for the outer fiber first:
  *     after that it knows whether the inner one has begun.
  *
  * {{{
  * upstream --next--> outer fiber --cancels, starts--> inner fiber --put--> slot --> consumer
  * }}}
  */
private[weir] final class SwitchMapStage(upstream: Pull, f: Any => Stream[Any])
    extends ConsumerState:
  @transient private val outer: ProducerFiber = new ProducerFiber:
    protected def work(fiber: TaskFiber): Boolean = switchAll(fiber)
    protected def tell(terminal: Terminal, fiber: TaskFiber): Unit = lock.locked(fiber) {
      terminal match
        case failed: Terminal.Failed => fail(failed)
        case Terminal.Ended =>
          outerEnded = true
          consumer.wake()
    }

  // shared, under `lock`
  private var current: Inner | Null = null
  private var slot: Any = WaitSlot.Nothing

  /** True while the consumer has used all that it has taken and waits for an element. */
  private var isAsked = false
  private var outerEnded = false

  /** The errors that the consumer has not seen yet. */
  private val failures = ListBuffer[Terminal.Failed]()
  private val innerWaits = WaitSlot(lock)

  /** The outcome of the use of this stage; null until the stage closes. */
  private var closing: Outcome[Unit] | Null = null

  /** The error of the finalizers of an inner stream while the stage was closing. At most one inner
    * fiber runs then: `current`, or the one that a switch has cancelled.
    */
  private var closeError: Throwable | Null = null

  def next(fiber: TaskFiber): Any = ask(fiber) {
    if !outer.hasBegun then outer.begin(fiber)
    awaitAnswer(fiber)
  }

  protected def answer(fiber: TaskFiber): Any =
    if !isEmpty then
      val value = slot
      slot = WaitSlot.Nothing
      innerWaits.wake()
      value
    else if failures.nonEmpty then failures.remove(0)
    else if outerEnded && (current eq null) then Pull.End
    else
      isAsked = true
      innerWaits.wake()
      WaitSlot.Nothing

  private def isEmpty: Boolean = WaitSlot.isNothing(slot)

  private def fail(failed: Terminal.Failed): Unit =
    failures += failed
    consumer.wake()

  // ---- the outer fiber ----

  private def switchAll(fiber: TaskFiber): Boolean =
    var value = upstream.next(fiber)
    while !Pull.isEnd(value) do
      switchTo(value, fiber)
      value = upstream.next(fiber)
    true

  private def switchTo(value: Any, fiber: TaskFiber): Unit =
    val old = lock.locked(fiber) {
      val old = current
      current = null
      slot = WaitSlot.Nothing
      if old ne null then old.isSwitchedOff = true
      old
    }
    if old ne null then old.stop(fiber)
    val inner = Inner(value)
    val begins = lock.locked(fiber) {
      val begins = (closing eq null) && failures.isEmpty
      if begins then current = inner
      begins
    }
    if begins then
      inner.begin(fiber)
      if lock.locked(fiber)(closing ne null) then inner.requestCancel()

  // ---- an inner fiber ----

  private final class Inner(value: Any) extends ProducerFiber:
    private var pull: Pull | Null = null

    /** True once a switch has ended this stream. Under the lock of the stage. */
    var isSwitchedOff = false

    protected def work(fiber: TaskFiber): Boolean =
      val opened = f(value).open()
      pull = opened
      pullAll(opened, fiber)
      true

    /** Closes the fiber's stream, then reports the end of the fiber. */
    protected def tell(terminal: Terminal, fiber: TaskFiber): Unit =
      val opened = pull
      end(terminal, if opened eq null then null else close(opened, terminal, fiber), fiber)

    private def pullAll(pull: Pull, fiber: TaskFiber): Unit =
      var value = pull.next(fiber)
      while !Pull.isEnd(value) do
        put(value, fiber)
        value = pull.next(fiber)
      WaitSlot.repeat(fiber.await(AwaitUsed)): Unit

    private def put(value: Any, fiber: TaskFiber): Unit =
      val put = Put(value)
      WaitSlot.repeat(Observation.awaitRoom(fiber, put)): Unit

    /** Closes `pull`, and returns the error of its finalizers. */
    private def close(pull: Pull, terminal: Terminal, fiber: TaskFiber): Throwable | Null =
      val (stage, isSwitchedOff) = lock.locked(fiber)((closing, this.isSwitchedOff))
      val outcome = terminal match
        case Terminal.Ended => Pull.succeeded
        case _: Terminal.Canceled =>
          if stage eq null then Outcome.Canceled
          else if isSwitchedOff then Terminal.unreached(stage)
          else stage
        case failed: Terminal.Failed => Outcome.Failed(failed.error)
      try
        fiber.masked(pull.close(fiber, outcome))
        null
      catch case error: Throwable => error

    /** Reports the end of the fiber to the stage; `thrown` is the error of its finalizers. */
    private def end(terminal: Terminal, thrown: Throwable | Null, fiber: TaskFiber): Unit =
      lock.locked(fiber) {
        val isCurrent = current eq this
        if isCurrent then current = null
        terminal match
          case Terminal.Ended | _: Terminal.Canceled if thrown ne null =>
            if closing eq null then fail(Terminal.Failed(thrown)) else closeError = thrown
          case canceled: Terminal.Canceled =>
            if isCurrent then fail(canceled) // nobody else has cancelled it
          case failed: Terminal.Failed =>
            if thrown ne null then Pull.bothFailed(failed.error, thrown): Unit
            fail(failed)
          case Terminal.Ended => ()
        consumer.wake()
      }

    /** Puts the element into the slot. Ends once it is there, or was dropped after a switch. */
    private final class Put(value: Any) extends Suspend[Any]:
      def begin(fiber: TaskFiber): Any = WaitSlot.lookOrWait(lock, innerWaits, fiber) {
        if current ne Inner.this then ()
        else if isEmpty && failures.isEmpty then
          slot = value
          isAsked = false
          consumer.wake()
        else WaitSlot.Nothing
      }

  private object AwaitUsed extends Suspend[Any]:
    def begin(fiber: TaskFiber): Any = WaitSlot.lookOrWait(lock, innerWaits, fiber) {
      if isEmpty && isAsked then () else WaitSlot.Nothing
    }

  // ---- closing ----

  protected def closeStage(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val inner = lock.locked(fiber) {
      closing = outcome
      val inner = current
      current = null
      inner
    }
    outer.requestCancel()
    if inner ne null then inner.requestCancel()
    outer.join(fiber) // first: the outer fiber may be about to start `inner`
    if inner ne null then inner.join(fiber)
    Pull.both(
      Pull.both(
        Terminal.keepAll(failures)(keep(_, fiber, outcome)),
        if closeError ne null then throw closeError
      ),
      upstream.close(fiber, outcome)
    )

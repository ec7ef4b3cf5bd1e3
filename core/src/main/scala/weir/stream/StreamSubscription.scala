package weir.stream

import java.util.concurrent.{CancellationException, Flow}
import weir.fiber.{Awaited, CancelSelf, CancelSignal, DirectCode, Suspend, TaskFiber}
import weir.runtime.Tuning
import weir.{Outcome, Stream, Task, WeirRuntime}

/** One run of a stream for a `Flow.Subscriber`: on a fiber of its own, or, as long as all elements
  * exist already, on the threads that request them.
  *
  * {{{
  * onSubscribe --it returns--> running --the stream is closed--> onComplete, onError
  *      |                         |
  *      +--------cancel-----------+--cancel--> over: no signal any more
  * }}}
  *
  * The fiber takes the whole demand at once, and signals that many elements. Elements that exist
  * already upstream follow an element at once. Then the fiber waits for the next request. The
  * signals are masked: a cancel does not interrupt the subscriber's code.
  *
  * If the pull is ready (`Pull.isReady`), a thread that requests signals the elements itself, and
  * no fiber is woken: taking them runs only the subscriber's code, on the subscriber's own thread.
  * A request for more than `Tuning.elementsOfRequest` leaves the rest to a fiber, and from then on
  * that one signals.
  *
  * **All signals after `onSubscribe` are serial**, and a request inside of one causes no recursion.
  * They come from that fiber, or, if it never runs, from its finalizer. Before it is started, they
  * come from the thread that has the turn. `begin` has it first. A thread takes the turn together
  * with the demand, or with a broken rule, in one critical section, and returns it in the one in
  * which it finds no demand left. A thread that ends the run, or starts the fiber, keeps it for
  * good.
  *
  *   - **Shared, under `lock`**: `requested`, `stop`, `isIdle`.
  *   - **Shared**: `subscriber`, `violation`, written under the lock. The former is null once it
  *     gets no more signals: the subscription then keeps no reference to it.
  *   - **The race that we fear**: the fiber begins to wait, and a request comes that does not wake
  *     it. `WaitSlot` explains why this does not happen.
  *   - **Another race**: `cancel` comes after `onSubscribe` and before the fiber is known, in
  *     `begin`. The thread that stores `stop` looks afterwards, under the lock, whether there was a
  *     cancel or a violation, and stops the fiber if so.
  *
  * `isAhead`: the stream is asked for one element before that is requested. `atEnd` is called once
  * the run is over, also if a cancel has come before its first step.
  */
private[weir] final class StreamSubscription(
    operator: String,
    stream: Stream[Any],
    to: Flow.Subscriber[? >: Any],
    runtime: WeirRuntime,
    isAhead: Boolean,
    atEnd: () => Unit
) extends Flow.Subscription,
      Awaited:
  import StreamSubscription.*

  // shared
  @volatile private var subscriber: Flow.Subscriber[? >: Any] | Null = to
  @volatile private var violation: Throwable | Null = null

  // shared, under the lock
  private val lock = StageLock()
  private val demand = WaitSlot(lock, outside = this)
  private var requested = 0L
  private var stop: (() => Unit) | Null = null

  /** True if no thread has the turn, and no fiber has been started: the next request signals. */
  private var isIdle = false

  // of the thread that has the turn, then the fiber's
  private var pull: Pull | Null = null
  private var thrownBySubscriber: Throwable | Null = null

  private[weir] def awaitedAs: String = s"$operator, whose subscriber has requested nothing more"

  def begin(): Unit =
    try
      subscriber.nn.onSubscribe(this)
      if subscriber eq null then runAtEnd() else open()
    catch
      case error: Throwable =>
        cancel()
        runAtEnd()
        runtime.report(s"$operator: the subscriber's onSubscribe", error)

  private def open(): Unit =
    try
      val opened = stream.open()
      pull = opened
      if opened.isReady && !isAhead then giveReady(opened) else start()
    catch case error: Throwable => finish(Terminal.Failed(error))

  private def start(): Unit =
    val task = DirectCode(run).onCancel(Task.delay(finish(canceled)))
    val stopping = task.runAsync {
      case Outcome.Failed(error) => runtime.report(operator, error)
      case _ => ()
    }(using runtime)
    val isLate = lock.lockedOutside {
      stop = stopping
      isOver
    }
    if isLate then stopping()

  // ---- the subscriber's side ----

  def request(count: Long): Unit =
    if count <= 0 then
      endWith(
        IllegalArgumentException(
          s"$operator: $count elements were requested. Reactive Streams, rule 3.9: a " +
            "non-positive subscription request is an error. Request at least 1."
        )
      )
    else
      val gives = lock.lockedOutside {
        if subscriber ne null then addDemand(count)
        demand.wake()
        takeTurn()
      }
      if gives then giveReady(pull.nn)

  def cancel(): Unit = end { subscriber = null }

  /** Ends the run, whose last signal is `error`. */
  def endWith(error: Throwable): Unit = end { if violation eq null then violation = error }

  /** Makes a change that ends the run. Stops the fiber, or takes the turn to end the run here. */
  private inline def end(inline change: Unit): Unit =
    var ends = false
    val stopping = lock.lockedOutside {
      val isFirst = !isOver
      ends = takeTurn()
      change
      if isFirst then stop else null
    }
    if stopping ne null then stopping()
    else if ends then finish(Terminal.Ended)

  /** Under the lock: takes the turn. Returns true if the caller has it now. */
  private def takeTurn(): Boolean =
    val takes = isIdle && (subscriber ne null)
    if takes then isIdle = false
    takes

  /** Under the lock. */
  private def addDemand(count: Long): Unit =
    requested = if Long.MaxValue - requested < count then Long.MaxValue else requested + count

  // ---- called by the thread that has the turn, before a fiber is started ----

  /** Signals the requested elements. Then it returns the turn, ends the run, or starts the fiber.
    */
  private def giveReady(pull: Pull): Unit =
    var room = Tuning.elementsOfRequest.toLong
    try
      var granted = takeDemandOrRest()
      while granted > 0 do
        if room == 0 then
          lock.lockedOutside(addDemand(granted))
          start()
          granted = 0
        else
          val count = math.min(granted, room)
          if signalReady(pull, count) then
            room -= count
            granted -= count
            if granted == 0 then granted = takeDemandOrRest()
          else granted = ending
      if granted == ending then finish(Terminal.Ended)
    catch case error: Throwable => finish(Terminal.Failed(error))

  /** Takes the whole demand. Returns `ending` if only the last signal is left to come, or 0 if the
    * caller has returned the turn.
    */
  private def takeDemandOrRest(): Long = lock.lockedOutside {
    if isOver then ending
    else
      isIdle = requested == 0
      takeDemand()
  }

  /** Signals the next `count` elements. Returns false if only the end is left to signal. */
  private def signalReady(pull: Pull, count: Long): Boolean =
    var left = count
    var goesOn = true
    while left > 0 && goesOn do
      val ready = pull.takeReady(math.min(left, Chunk.most).toInt)
      if ready eq null then goesOn = false
      else
        left -= ready.count
        signalAll(ready)
        goesOn = !pull.isSpent && !isOver
    goesOn

  private def isOver: Boolean = (subscriber eq null) || (violation ne null)

  // ---- the fiber ----

  private def run(fiber: TaskFiber): Unit =
    val pull = this.pull.nn
    val terminal: Terminal =
      try
        Pull.closing(pull, fiber)(loop(pull, fiber))
        Terminal.Ended
      catch
        case CancelSignal => throw CancelSignal
        case error: Throwable => Terminal.of(error, fiber)
    fiber.masked(finish(terminal))

  private def loop(pull: Pull, fiber: TaskFiber): Unit =
    var granted = 0L
    // Its end is known: it does not wait for a request.
    var waits = !isAhead && !(pull.isInstanceOf[FailSource] || (pull eq EmptySource))
    var ended = false
    while !ended do
      if granted == 0 && waits then granted = awaitDemand(fiber)
      waits = !isAhead
      val value = pull.next(fiber)
      if Pull.isEnd(value) then ended = true
      else
        if granted == 0 then granted = awaitDemand(fiber)
        granted = give(value, pull, granted, fiber)
        ended = pull.isSpent

  private def awaitDemand(fiber: TaskFiber): Long =
    val taken = lock.locked(fiber)(takeDemand())
    if taken > 0 then taken
    else WaitSlot.repeat(Observation.awaitRoom(fiber, AwaitDemand)).asInstanceOf[Long]

  /** Takes the whole demand, under the lock. A demand without a limit stays without a limit. */
  private def takeDemand(): Long =
    val taken = requested
    if taken != Long.MaxValue then requested = 0
    taken

  private object AwaitDemand extends Suspend[Any]:
    def begin(fiber: TaskFiber): Any =
      WaitSlot.lookOrWait(lock, demand, fiber) {
        if requested > 0 then takeDemand() else WaitSlot.Nothing
      }

  /** Signals `value`, and the elements that exist already after it. Returns how many more may be
    * signalled.
    */
  private def give(value: Any, pull: Pull, granted: Long, fiber: TaskFiber): Long =
    var left = granted - 1
    fiber.masked {
      signal(value)
      val ready =
        if left > 0 then pull.takeReady(math.min(left, Chunk.most).toInt) else null
      if ready ne null then
        left -= ready.count
        signalAll(ready)
    }
    if isOver then fiber.await(CancelSelf)
    if granted == Long.MaxValue then granted else left

  /** Signals all elements of `ready`. Another stream takes them together. */
  private def signalAll(ready: Chunk): Unit = subscriber match
    case input: PublisherInput if !ready.hasNull => input.onReady(ready)
    case _ =>
      while !ready.isEmpty do signal(ready.next())

  private def signal(value: Any): Unit =
    val receiver = subscriber
    if receiver ne null then
      if value.asInstanceOf[AnyRef] eq null then
        throw NullPointerException(
          s"$operator: an element of the stream was null. Reactive Streams, rule 2.13: no " +
            "element is null. Remove nulls with filter, or map them to other values."
        )
      try receiver.onNext(value)
      catch
        case error: Throwable =>
          subscriber = null // counts as cancelled: rule 2.13
          thrownBySubscriber = error
          throw error

  private def runAtEnd(): Unit =
    try atEnd()
    catch case error: Throwable => runtime.report(operator, error)

  /** Sends the last signal: `onComplete`, or `onError`. */
  private def finish(terminal: Terminal): Unit =
    pull = null
    runAtEnd()
    var last = terminal
    val receiver = lock.lockedOutside {
      val receiver = subscriber
      subscriber = null
      if violation ne null then last = Terminal.Failed(violation.nn)
      receiver
    }
    if receiver ne null then
      try
        last match
          case Terminal.Failed(error) => receiver.onError(error)
          case _ => receiver.onComplete()
      catch case thrown: Throwable => runtime.report(s"$operator: the subscriber", thrown)
    else
      terminal match
        case Terminal.Failed(error) if !error.isInstanceOf[CancellationException] =>
          val isOfSubscriber = error eq thrownBySubscriber
          val where = if isOfSubscriber then "the subscriber's onNext" else "the stream"
          runtime.report(s"$operator: $where", error)
        case _ => ()

  private def canceled =
    Terminal.Failed(CancellationException(s"$operator: the stream has cancelled itself."))

private object StreamSubscription:
  /** The result in place of a demand if only the last signal is to come. */
  private inline val ending = -1L

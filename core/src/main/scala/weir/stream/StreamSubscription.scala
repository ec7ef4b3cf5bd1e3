package weir.stream

import java.util.concurrent.{CancellationException, Flow}
import weir.fiber.{Awaited, CancelSelf, CancelSignal, DirectCode, Suspend, TaskFiber, Waiter}
import weir.{Outcome, Runtime, Stream, Task}

/** One run of a stream for a `Flow.Subscriber`, on a fiber of its own.
  *
  * {{{
  * onSubscribe --it returns--> running --the stream is closed--> onComplete, onError
  *      |                         |
  *      +--------cancel-----------+--cancel--> over: no signal any more
  * }}}
  *
  * The fiber takes all that is requested at once, and gives that many elements; what is ready
  * upstream follows an element at once. Then it waits for the next request. All signals after
  * `onSubscribe` come from that fiber, or, if it never runs, from its finalizer: so they are
  * serial, and a request inside of `onNext` causes no recursion. They are masked: a cancel does not
  * interrupt the subscriber's code.
  *
  *   - **Shared, under this object's lock**: `requested`, `waiting`, `stop`.
  *   - **Shared**: `subscriber`, `violation`, written under the lock. The former is null once it
  *     gets no more signals: the subscription then keeps no reference to it.
  *   - **The race that we fear**: the fiber begins to wait, and a request comes that does not wake
  *     it. Both `AwaitDemand` and `request` look in one critical section; a woken fiber looks
  *     again.
  *   - **Another one**: `cancel` comes after `onSubscribe` and before the fiber is known, in
  *     `begin`. Who stores `stop` looks afterwards, under the lock, whether there was a cancel or a
  *     violation, and stops the fiber if so.
  *
  * `isAhead`: the stream is asked for one element before that is requested. `atEnd` is called once
  * the run is over, also if a cancel has come before its first step.
  */
private[weir] final class StreamSubscription(
    operator: String,
    stream: Stream[Any],
    to: Flow.Subscriber[? >: Any],
    runtime: Runtime,
    isAhead: Boolean,
    atEnd: () => Unit
) extends Flow.Subscription,
      Awaited:

  // shared
  @volatile private var subscriber: Flow.Subscriber[? >: Any] | Null = to
  @volatile private var violation: Throwable | Null = null

  // shared, under this object's lock
  private var requested = 0L
  private var waiting: Waiter | Null = null
  private var stop: (() => Unit) | Null = null

  // the fiber's
  private var thrownBySubscriber: Throwable | Null = null

  private[weir] def awaitedAs: String = s"$operator, whose subscriber has requested nothing more"

  def begin(): Unit =
    try
      subscriber.nn.onSubscribe(this)
      if subscriber ne null then start() else end()
    catch
      case error: Throwable =>
        cancel()
        end()
        runtime.report(s"$operator: the subscriber's onSubscribe", error)

  private def start(): Unit =
    val task = DirectCode(run).onCancel(Task.delay(finish(canceled)))
    val stopping = task.runAsync {
      case Outcome.Failed(error) => runtime.report(operator, error)
      case _ => ()
    }(using runtime)
    val isLate = synchronized {
      stop = stopping
      (subscriber eq null) || (violation ne null)
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
      val woken = synchronized {
        if subscriber ne null then
          requested = if Long.MaxValue - requested < count then Long.MaxValue else requested + count
        val woken = waiting
        waiting = null
        woken
      }
      if woken ne null then woken.complete(()): Unit

  def cancel(): Unit =
    val stopping = synchronized {
      val first = subscriber ne null
      subscriber = null
      if first then stop else null
    }
    if stopping ne null then stopping()

  private def endWith(error: Throwable): Unit =
    val stopping = synchronized {
      val first = (subscriber ne null) && (violation eq null)
      if first then violation = error
      if first then stop else null
    }
    if stopping ne null then stopping()

  // ---- the fiber ----

  private def run(fiber: TaskFiber): Unit =
    val pull = stream.open()
    val error: Throwable | Null =
      try
        Pull.closing(pull, fiber)(loop(pull, fiber))
        null
      catch
        case CancelSignal => throw CancelSignal
        case error: Throwable => error
    val shown = if error eq null then null else Producer.failed(error, fiber).error
    fiber.masked(finish(shown))

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
    var taken = takeDemand()
    while taken == 0 do
      Observation.awaitRoom(fiber, AwaitDemand)
      taken = takeDemand()
    taken

  /** All that is requested. What is without a limit stays so. */
  private def takeDemand(): Long = synchronized {
    val taken = requested
    if taken != Long.MaxValue then requested = 0
    taken
  }

  private object AwaitDemand extends Suspend[Unit]:
    def begin(fiber: TaskFiber): Any = StreamSubscription.this.synchronized {
      if requested > 0 then ()
      else
        val waiter = new Waiter(fiber):
          override def awaited: Awaited = StreamSubscription.this
        fiber.runtime.waitsOutside(waiter)
        waiting = waiter
        waiter
    }

  /** Gives `value`, and what is ready after it. Returns how many more may be given. */
  private def give(value: Any, pull: Pull, granted: Long, fiber: TaskFiber): Long =
    var left = granted - 1
    fiber.masked {
      signal(value)
      val ready =
        if left > 0 then pull.takeReady(math.min(left, Ready.most).toInt) else null
      if ready ne null then
        left -= ready.count
        var index = 0
        while index < ready.count do
          signal(ready.elements(index))
          index += 1
    }
    if (subscriber eq null) || (violation ne null) then fiber.await(CancelSelf)
    if granted == Long.MaxValue then granted else left

  private def signal(value: Any): Unit =
    val receiver = subscriber
    if receiver ne null then
      if value.asInstanceOf[AnyRef] eq null then
        throw NullPointerException(
          s"$operator: an element of the stream was null. Reactive Streams, rule 2.13: no " +
            "element is null. Leave nulls out with filter, or map them to something."
        )
      try receiver.onNext(value)
      catch
        case error: Throwable =>
          subscriber = null // counts as cancelled: rule 2.13
          thrownBySubscriber = error
          throw error

  private def end(): Unit =
    try atEnd()
    catch case error: Throwable => runtime.report(operator, error)

  /** The last signal: `onComplete`, or `onError` with `error`. */
  private def finish(error: Throwable | Null): Unit =
    end()
    var broken: Throwable | Null = null
    val receiver = synchronized {
      val last = subscriber
      subscriber = null
      broken = violation
      last
    }
    val last = if broken ne null then broken else error
    if receiver ne null then
      try if last eq null then receiver.onComplete() else receiver.onError(last)
      catch case thrown: Throwable => runtime.report(s"$operator: the subscriber", thrown)
    else if (error ne null) && !error.isInstanceOf[CancellationException] then
      val where = if error eq thrownBySubscriber then "the subscriber's onNext" else "the stream"
      runtime.report(s"$operator: $where", error)

  private def canceled = CancellationException(s"$operator: the stream has cancelled itself.")

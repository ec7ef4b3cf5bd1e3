package weir.stream

import java.util.ArrayDeque
import scala.annotation.unused
import scala.collection.mutable.ArrayBuffer
import weir.fiber.{BeginFrame, CancelSignal, Frame, Locals, Suspend, TaskFiber, Waiter}
import weir.group.Failures
import weir.stream.ParEvalMapStage.*
import weir.{Outcome, Task}

/** Runs an effect for each element, at most `limit` at a time, and at most `limit + buffer`
  * elements ahead of the consumer: `parEvalMap` and `parEvalMapUnordered`.
  *
  * Fibers called runners take elements and run their effects in place (`MapRunner`). At most one of
  * them pulls from upstream at a time. Once it has an element it requests another runner, if there
  * is room, and runs the effect. A runner that finds another one pulling exits. So effects that
  * never suspend take one runner for each carrier.
  *
  * {{{
  * upstreamState  NotBegun --first next--> Idle --a runner pulls--> Pulling --an element--> Idle
  *                                                                     +--> Pull.End, Failed
  * runner         requested -> enter -> takeElement -> effect -> store -> takeElement ...
  *                                           +--no room--> exit <--+-- error, cancel
  * stage          running --an effect has failed, or close--> stopped: all runners are cancelled
  * }}}
  *
  *   - **Shared, under this object's lock**: everything that is mutable, except for fields that are
  *     marked.
  *   - **Room**: `inFlight < limit`, and fewer than `limit + buffer` elements taken and not
  *     consumed. A finished element frees its permit at once, even while the head of the order
  *     still runs.
  *   - **Making room**: code that makes room also requests a runner (`giveBack`), or takes the next
  *     element itself (the runner, after `store`). The runner that has pulled requests another one
  *     if there is still room. The consumer returns the room of a quarter of the buffer together,
  *     or of everything that it has used before it waits. So while it waits, no room is unused.
  *   - **Errors**: an error of upstream keeps its place in the order. A failed effect cancels the
  *     others; results that were finished in order before it are still delivered. An error that the
  *     consumer does not reach is kept: see `Terminal.keep`.
  *   - **At most**: in order, no more elements are taken than will be asked for. Unordered, the
  *     consumer may want the first result of many, so all of them begin.
  */
private[weir] class ParEvalMapStage(
    upstream: Pull,
    initialLimit: Int,
    buffer: Int,
    private[stream] val f: Any => Task[Any],
    ordered: Boolean,
    isResized: Boolean = false,
    rule: InPlace.Rule = InPlace.Rule.default
) extends Pull,
      Takeover:
  private val giveBackAt = math.max(1, buffer / 4)

  /** Changed by `resize`. */
  private var limit = initialLimit

  /** In order: the results of all elements taken. Otherwise: those that are done. The consumer
    * moves those that are done to its batch.
    */
  private[stream] val results = ArrayDeque[MapResult]()
  private val runners = ArrayBuffer[MapRunner]()
  private[stream] var upstreamState: AnyRef = NotBegun

  /** The number of elements that may still be taken. */
  private[stream] var demand = Long.MaxValue

  private[stream] var taken = 0L

  /** The number of effects that have begun and not ended. */
  private[stream] var inFlight = 0

  /** True if a runner has been forked, and has not entered yet. */
  private[stream] var runnerRequested = false

  /** True if the runner that was requested is to help the consumer, whose effect takes long. */
  private[stream] var helperRequested = false

  /** The number of effects that the consumer has left to runners which have not entered yet. */
  private[stream] var handedOver = 0

  private[stream] var stopped = false

  /** The first error of an effect, with later ones suppressed under it. */
  private[stream] var failure: Terminal.Failed | Null = null

  /** The consumer, which waits for a result, or for the end of all runners. */
  private var consumer: Waiter | Null = null

  private[stream] var consumed = 0L

  // consumer only
  private val batch = ArrayDeque[MapResult]()

  /** The number of elements that it has used and not yet added to `consumed`. */
  private var used = 0

  /** The error that it has reached. */
  private var thrown: Throwable | Null = null

  /** The counters for the effects, if the stream is observed. Written before the first runner. */
  private[stream] var stretch: StretchCounters | Null = null

  /** Lets the consumer run effects. It is null if the consumer must not wait for any effect, or if
    * upstream could cancel the consumer.
    */
  private[stream] val inPlace: InPlace | Null =
    if ordered && !isResized && upstream.isPlain then InPlace(this, upstream, f, rule) else null

  // written before the first runner
  /** True if the consumer uses no result, so that a runner that has one continues by itself. */
  private var discards = false

  // the runner that is pulling only
  /** The locals of upstream, which it keeps whichever runner pulls. An effect begins with them. */
  private[stream] var upstreamLocals: Locals | Null = null

  // ---- the consumer ----

  override def atMost(count: Long): Unit =
    if ordered then
      synchronized { demand = math.min(demand, count) }
      upstream.atMost(count)

  override private[stream] def discard(): Unit = if !ordered then discards = true

  override def hasFibers: Boolean = true

  def next(fiber: TaskFiber): Any =
    fiber.checkpoint()
    var value: Any = NoAnswer
    while value.asInstanceOf[AnyRef] eq NoAnswer do
      value =
        if (inPlace ne null) && inPlace.isOn then inPlace.next(fiber) else nextOfRunners(fiber)
    value

  private def nextOfRunners(fiber: TaskFiber): Any =
    if batch.isEmpty then
      awaitAnswer(fiber, fillBatch) match
        case failed: Terminal.Failed => throwing(failed, fiber)
        case InPlace.On => return NoAnswer
        case answer => if Pull.isEnd(answer) then return Pull.End
    val value = batch.poll().nn.value
    used += 1
    if used >= giveBackAt then synchronized(giveBack(fiber))
    value

  private[stream] def throwing(failed: Terminal.Failed, fiber: TaskFiber): Nothing =
    thrown = failed.error
    failed.reach(fiber)

  private val fillBatch: Task[Any] = new Suspend[Any]:
    def begin(fiber: TaskFiber): Any = orWait(fiber) {
      if upstreamState eq NotBegun then
        upstreamState = Idle
        upstreamLocals = fiber.localsForChild
        stretch = Observation.stretchOf(fiber)
        if stretch ne null then stretch.nn.parallelism = math.max(1, limit)
        requestRunner(fiber)
      if used > 0 then giveBack(fiber)
      while isHeadDone do batch.add(results.poll()): Unit
      if !batch.isEmpty then ()
      else if failure ne null then failure
      else if hasEnded && inFlight == 0 then upstreamState
      else if (inPlace ne null) && inPlace.isWanted && beginsInPlace(fiber) then InPlace.On
      else NoAnswer
    }

  /** Under the lock. */
  private def giveBack(fiber: TaskFiber): Unit =
    consumed += used
    used = 0
    requestRunner(fiber)

  private def isHeadDone: Boolean =
    val head = results.peek()
    (head ne null) && head.isDone

  private def hasEnded: Boolean =
    (upstreamState eq Pull.End) || upstreamState.isInstanceOf[Terminal.Failed]

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    Pull.both(stopAll(fiber, outcome), upstream.close(fiber, outcome))

  private def stopAll(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    synchronized(stop()).foreach(_.fiber.requestCancel())
    awaitAnswer(fiber, noRunner): Unit
    val (effects, source) = synchronized((failure, upstreamState))
    if (effects ne null) && (effects.error ne thrown) then effects.keep(fiber, outcome)
    source match
      case failed: Terminal.Failed
          if (failed.error ne thrown) && ((effects eq null) || (effects.error ne failed.error)) =>
        failed.keep(fiber, outcome)
      case _ => ()

  private def noRunner: Task[Any] = new Suspend[Any]:
    def begin(fiber: TaskFiber): Any = orWait(fiber)(if noneIsLeft then () else NoAnswer)

  /** Returns true if no runner is left. A runner that was requested is not in `runners` before it
    * enters.
    */
  private def noneIsLeft: Boolean = runners.isEmpty && !runnerRequested && handedOver == 0

  private def awaitAnswer(fiber: TaskFiber, question: Task[Any]): Any =
    var answer = Observation.awaitEffects(fiber, question)
    while answer.asInstanceOf[AnyRef] eq NoAnswer do
      answer = Observation.awaitEffects(fiber, question)
    answer

  /** Returns `answer`, evaluated under the lock, or the consumer's wait, after which it looks
    * again.
    */
  private inline def orWait(fiber: TaskFiber)(inline answer: Any): Any = synchronized {
    val found = answer
    if found.asInstanceOf[AnyRef] ne NoAnswer then found
    else
      val waiter = Waiter(fiber)
      consumer = waiter
      waiter
  }

  private def wakeConsumer(): Unit =
    val waiter = consumer
    consumer = null
    if waiter ne null then waiter.complete(NoAnswer): Unit

  /** Changes the limit. Effects that run continue, even if there are more of them than `limit` now.
    */
  private[stream] def resize(limit: Int, fiber: TaskFiber): Unit =
    if limit >= 0 then
      synchronized {
        this.limit = limit
        if stretch ne null then stretch.nn.parallelism = math.max(1, limit)
        requestRunner(fiber)
      }
    else
      resizeFailed(
        IllegalArgumentException(
          s"Stream.parEvalMap: the signal of the parallelism was $limit. It must be at least 0."
        )
      )

  private[stream] def resizeFailed(error: Throwable): Unit =
    val toCancel = synchronized {
      val toCancel = fail(error)
      wakeConsumer()
      toCancel
    }
    toCancel.foreach(_.fiber.requestCancel())

  // ---- the runners; all but `takeElement` under the lock ----

  private def hasRoom: Boolean =
    !stopped && (upstreamState eq Idle) && demand > 0 && inFlight < limit &&
      !((inPlace ne null) && inPlace.isWanted) && mayRunAhead

  /** Returns true if there is room ahead of the consumer. If there is none, the consumer requests a
    * runner when it returns room.
    */
  private def mayRunAhead: Boolean =
    taken - consumed - buffer < limit // not limit + buffer, which may overflow

  private[stream] def requestRunner(fiber: TaskFiber): Unit =
    if !runnerRequested && hasRoom then
      runnerRequested = true
      try fiber.fork(EnterRunner): Unit
      catch
        case error: Throwable =>
          runnerRequested = false // or `close` would wait for it
          throw error

  private[stream] object EnterRunner extends BeginFrame[Unit]:
    def begin(fiber: TaskFiber): Frame = MapRunner(ParEvalMapStage.this, fiber, f)

  /** Enters a runner. Returns false if the stage was stopped before, so that the runner was not
    * among those to cancel.
    */
  private[stream] def enter(runner: MapRunner): Boolean = synchronized {
    if runner.isHandedOver then handedOver -= 1
    else
      runnerRequested = false
      if helperRequested then help()
    runner.index = runners.size
    runners.addOne(runner): Unit
    !stopped
  }

  /** Stores the result of the runner's element, if it has one that is done. Returns true if it has
    * another element to run the effect for.
    */
  private[stream] def takeElement(runner: MapRunner, fiber: TaskFiber): Boolean =
    while mayPull(runner) && pull(runner, fiber) do ()
    runner.hasElement

  private def mayPull(runner: MapRunner): Boolean =
    var toWake: Waiter | Null = null
    val may = synchronized {
      toWake = store(runner)
      val may = !runner.hasElement && hasRoom
      if may then upstreamState = Pulling
      may
    }
    if toWake ne null then toWake.complete(NoAnswer): Unit
    may

  /** Pulls one element. Returns false if upstream has ended. */
  private def pull(runner: MapRunner, fiber: TaskFiber): Boolean =
    var end: AnyRef = Pull.End
    val result =
      try
        fiber.adopt(upstreamLocals)
        val element = if stretch eq null then upstream.next(fiber) else nextObserved(fiber)
        upstreamLocals = fiber.localsForChild
        if Pull.isEnd(element) then null else resultOf(element)
      catch
        case CancelSignal => throw CancelSignal
        case error: Throwable =>
          end = Terminal.of(error, fiber)
          null
    synchronized {
      if result ne null then
        upstreamState = Idle
        taken += 1
        demand -= 1
        if begins(result) then
          inFlight += 1
          runner.result = result
        if ordered then results.add(result): Unit
        requestRunner(fiber)
      else upstreamState = end // the runner exits now, which wakes the consumer
    }
    result ne null

  private def nextObserved(fiber: TaskFiber): Any =
    val start = fiber.runtime.timers.nanoTime
    try upstream.next(fiber)
    finally stretch.nn.waitedForInput.add(fiber.runtime.timers.nanoTime - start)

  /** Called by the runner that has pulled `element`: returns the result to fill. May run the user's
    * code.
    */
  protected def resultOf(element: Any): MapResult = MapResult(element)

  /** Under the lock: returns true if the effect of an element that was taken runs now. If not, the
    * element is `following` another one.
    */
  protected def begins(@unused result: MapResult): Boolean = true

  /** Under the lock: returns the element with which the runner of one that is done continues. */
  protected def following(@unused result: MapResult): MapResult | Null = null

  /** Stores the result of a runner. Returns the consumer if it waits for this result: it must be
    * woken without the lock.
    */
  private def store(runner: MapRunner): Waiter | Null =
    if !runner.hasValue then null
    else
      val result = runner.result
      result.value = runner.takeValue()
      result.isDone = true
      val next = following(result)
      if next eq null then inFlight -= 1 else runner.result = next
      if inPlace ne null then
        val isLast = inFlight == 0 && (upstreamState eq Idle)
        inPlace.count(runner.wasReady, isLast, runner.fiber)
      if discards then consumed += 1
      else if !ordered then results.add(result): Unit
      if results.peek() ne result then null
      else
        val waiter = consumer
        consumer = null
        waiter

  /** Ends the runner: there was no room, or its effect, or upstream, has failed or was cancelled.
    */
  private[stream] def exit(runner: MapRunner, outcome: Outcome[Unit]): Unit =
    var toWake: Waiter | Null = null
    val toCancel = synchronized {
      val last = runners.remove(runners.size - 1)
      if last ne runner then
        runners(runner.index) = last
        last.index = runner.index
      toWake = store(runner)
      val wasStopped = stopped
      val toCancel = outcome match
        case Outcome.Succeeded(_) => Nil
        case Outcome.Failed(error) => fail(error)
        case Outcome.Canceled if stopped => Nil
        case Outcome.Canceled =>
          fail(Terminal.SelfCanceled("An effect of parEvalMap, or its upstream, cancelled itself."))
      if if stopped then !wasStopped || noneIsLeft else hasEnded then wakeConsumer()
      toCancel
    }
    if toWake ne null then toWake.complete(NoAnswer): Unit
    toCancel.foreach(_.fiber.requestCancel())

  private[stream] def fail(error: Throwable): List[MapRunner] =
    val first = failure
    if first eq null then failure = Terminal.Failed(error)
    else Failures.add(first.error, error): Unit
    if stopped then Nil else stop()

  /** Stops the stage. Returns the runners to cancel, once the lock is free. */
  private def stop(): List[MapRunner] =
    stopped = true
    if inPlace ne null then inPlace.interrupt()
    runners.toList

private[weir] object ParEvalMapStage:
  // the states of upstream; its end is `Pull.End` or a `Terminal.Failed`
  object NotBegun
  object Idle
  object Pulling

  /** There is nothing for the consumer yet. */
  object NoAnswer

/** An element, while its effect has not begun; then the result. */
private class MapResult(var value: Any):
  var isDone = false

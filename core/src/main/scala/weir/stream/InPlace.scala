package weir.stream

import java.lang.invoke.{MethodHandles, VarHandle}
import java.util.concurrent.atomic.AtomicBoolean
import scala.annotation.static
import weir.fiber.{CancelSignal, Frame, TaskFiber}
import weir.group.HelperRequests
import weir.runtime.{ExecutionThread, Tuning}
import weir.{Task, WeirRuntime}

/** Runs upstream and the effects of a `parEvalMap` in the consumer's own loop, while the effects
  * are ready and short: no element is handed over then.
  *
  * {{{
  * Off --nothing is in flight--> Free --next--> Pulling --> Running --ready--> Free
  *  ^                              |                           |
  *  +--a helper: no one has asked--+     a helper: it takes long, now it is one of several
  *  |                                                          v
  *  +--not ready, long, the end, an error; by the consumer-- Taken
  * }}}
  *
  * README.md in this folder has the protocol.
  *
  *   - **The consumer** moves the state, except for the moves of a helper, by CAS and under the
  *     lock of the stage.
  *   - **Watched**: from the first effect on, the stage is in a slot of `HelperRequests`, whose
  *     thread requests the helper.
  */
private[stream] final class InPlace(
    stage: ParEvalMapStage,
    upstream: Pull,
    f: Any => Task[Any],
    rule: InPlace.Rule
) extends HelperRequests.Requester:
  import InPlace.*

  // consumer only; a runner writes the fields other than the thread before `isWanted`
  /** The thread on which the consumer was last, and its runtime. */
  private var thread: ExecutionThread | Null = null
  private var runtime: WeirRuntime | Null = null

  /** The number of elements that it has begun with; the thread of `HelperRequests` reads it too. */
  private var begun = 0L
  private var begunBefore = 0L
  private var slowSamples = 0

  // under the lock of the stage
  /** True if the runners leave the elements to the consumer. */
  private[stream] var isWanted = false

  /** The number of ready effects since the last one that was not ready, or since the last stretch,
    * and the time at which they began.
    */
  private var readyInARow = 0
  private var since = 0L

  /** The numbers of quick stretches in a row: those that are needed, and those that there were. */
  private var needed = 1
  private var quick = 0

  /** True if the effect that runs was interrupted, since another one has failed. */
  private var isInterrupted = false

  // shared
  @volatile private var state = Off

  /** True while it is in a slot of `HelperRequests`, or about to be. */
  private val isWatched = AtomicBoolean()

  /** True if upstream or the effects have turned out to take long. */
  @volatile private var isSlow = false

  // thread of HelperRequests only
  private var seen = -1L

  // ---- when ----

  /** Returns true from `begin` to `end`. For the consumer. */
  def isOn: Boolean = state != Off

  /** Called under the lock for each effect that a runner has ended. The arguments are true if it
    * was ready, and if nothing is in flight now. While an effect is in flight, the runners must not
    * stop: the consumer may have to wait for it.
    */
  def count(ready: Boolean, isLast: Boolean, fiber: TaskFiber): Unit =
    if !ready then
      readyInARow = 0
      quick = 0
    else
      if readyInARow == 0 then since = System.nanoTime()
      readyInARow += 1
      if readyInARow == rule.stretch then
        readyInARow = 0
        quick = if isShort((System.nanoTime() - since) / rule.stretch) then quick + 1 else 0
      if isLast && quick >= needed && fits(fiber) then
        quick = 0
        runtime = fiber.runtime
        isWanted = isWatched.get || entersSlot() // the consumer may not come for long
        if !isWanted then needMore()

  private def isShort(nanos: Long): Boolean = nanos < rule.shortNanos

  /** Returns false in an `evalOn`; with a `ContextHook`, which would have to be called twice for
    * each element; and in the test kit, where the thread of `HelperRequests` must not queue a job.
    */
  private def fits(fiber: TaskFiber): Boolean =
    (fiber.context eq null) && (fiber.runtime.hook eq null) && fiber.runtime.scheduler.spawns

  /** Returns true if `fiber` may run effects. A masked fiber could not be interrupted, and on a
    * calling thread an interrupt would cancel it.
    */
  def mayBegin(fiber: TaskFiber): Boolean =
    fiber.masks == 0 && !fiber.isOnCallingThread && fits(fiber)

  /** Under the lock. */
  def begin(): Unit =
    isWanted = false
    isSlow = false
    slowSamples = 0
    begunBefore = begun
    thread = null
    state = Free

  /** Under the lock, by the consumer: ends the run in place and returns the state so far. From now
    * on, the runners take the elements.
    */
  def end(): Int =
    val was = State.getAndSet(this, Off).asInstanceOf[Int]
    if was != Off then noteLength()
    was

  private def noteLength(): Unit =
    if begun - begunBefore > Tuning.longRunInPlace then needed = 1 else needMore()

  /** Under the lock: called if it was wrong to begin, or would be. */
  def needMore(): Unit = needed = math.min(rule.growth * needed, Tuning.mostStretches)

  // ---- the consumer ----

  /** Returns the next result, or `Pull.End`; `NoAnswer` if the runners continue. */
  def next(fiber: TaskFiber): Any =
    if isSlow || fiber.masks != 0 || (fiber.executionThread ne thread) && !isAt(fiber) then
      stage.leaveInPlace(fiber)
      ParEvalMapStage.NoAnswer
    else
      begun += 1
      val own = fiber.locals
      fiber.locals = stage.upstreamLocals
      try if (begun & (Tuning.effectsPerClock - 1)) == 0 then sampled(fiber) else run(fiber)
      catch case error: Throwable => failed(error, fiber)
      finally fiber.locals = own

  private def isAt(fiber: TaskFiber): Boolean =
    thread = fiber.executionThread
    runtime = fiber.runtime
    mayBegin(fiber)

  private def run(fiber: TaskFiber): Any =
    if !State.compareAndSet(this, Free, Pulling) then return ParEvalMapStage.NoAnswer
    val element = upstream.next(fiber)
    if Pull.isEnd(element) then stage.endInPlace()
    else
      stage.countInPlace()
      state = Running // a full fence: pairs with the order of accesses in `requestNow`
      if !isWatched.get then watch()
      val effect = f(element)
      val value = Frame.readyInBudget(fiber, effect)
      if value.asInstanceOf[AnyRef] eq Frame.NotReady then
        fiber.endIfCanceled()
        stage.handOver(effect, fiber)
        ParEvalMapStage.NoAnswer
      else
        if !State.compareAndSet(this, Running, Free) then stage.leaveInPlace(fiber)
        value

  private def sampled(fiber: TaskFiber): Any =
    val start = System.nanoTime()
    val value = run(fiber)
    if isShort(System.nanoTime() - start) then slowSamples = 0
    else
      slowSamples += 1
      if slowSamples == 2 then isSlow = true
    value

  /** Handles an error. An error of another effect, which has interrupted this one, comes first. */
  private def failed(error: Throwable, fiber: TaskFiber): Any =
    val ofUpstream = state == Pulling
    val wasInterrupted = stage.leaveAtError()
    if error eq CancelSignal then throw error
    else if wasInterrupted then ParEvalMapStage.NoAnswer
    else stage.failInPlace(fiber.failedInPlace(error), ofUpstream, fiber)

  // ---- the helper ----

  /** Enters a slot of `HelperRequests`. If that is taken, this is the last effect in place. */
  private def watch(): Unit =
    if !entersSlot() && !isWatched.get then
      isSlow = true
      requestHelper()

  /** Enters a slot. Returns false if it is in one already, or gets none. */
  private def entersSlot(): Boolean = isWatched.compareAndSet(false, true) && {
    val slot = runtime.nn.helperRequests.delay(System.identityHashCode(this), this)
    if slot < 0 then isWatched.set(false)
    slot >= 0
  }

  private def requestHelper(): Unit =
    isWatched.set(false) // first: pairs with the order of accesses in `run`
    stage.requestHelper(runtime.nn)

  def isBlocked: Boolean =
    val at = thread
    state == Running && (at ne null) && at.nn.thread.getState != Thread.State.RUNNABLE

  /** Enters a slot again while there is progress. */
  def requestNow(): Unit =
    val moves = begun != seen
    seen = begun
    val now = state
    if !moves && now != Pulling || isBlocked then requestHelper()
    else
      if !moves then isSlow = true // upstream blocks
      isWatched.set(false)
      // The consumer may have begun with an effect before that, and have read true.
      if moves || state == Running || state == Free then watch()

  /** Under the lock, by a helper: returns the state in which it has found the consumer. If that has
    * not asked for a while, or its effect takes long, the runners now take the elements behind.
    */
  def takeOver(): Int =
    if State.compareAndSet(this, Running, Taken) then Running
    else if State.compareAndSet(this, Free, Off) then
      noteLength()
      Free
    else Pulling

  /** Under the lock: interrupts the effect if it is one of several. */
  def interrupt(): Unit =
    if state == Taken && !isInterrupted then
      isInterrupted = true
      thread.nn.thread.interrupt()

  /** Under the lock, after `end`: returns true if the effect was interrupted. If so, the interrupt
    * is cleared.
    */
  def clearInterrupt(): Boolean =
    val was = isInterrupted
    isInterrupted = false
    if was then Thread.interrupted(): Unit
    was

private[stream] object InPlace:
  @static private val State: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[InPlace], "state", classOf[Int])

  /** The rule for when the consumer begins to run effects: after `stretch` ready ones that took
    * less than `shortNanos` on average. Each time that this was wrong, `growth` times as many
    * stretches are needed.
    */
  final class Rule(val stretch: Int, val shortNanos: Long, val growth: Int)

  object Rule:
    val default: Rule = Rule(Tuning.effectStretch, Tuning.shortEffectNanos, growth = 2)

  /** The state of upstream while the consumer runs the effects. */
  object On

  private[stream] inline val Off = 0
  private[stream] inline val Free = 1
  private inline val Pulling = 2
  private[stream] inline val Running = 3
  private[stream] inline val Taken = 4

package weir.stream

import weir.fiber.TaskFiber
import weir.runtime.Tuning
import weir.stream.InPlace.{Free, Off, On, Running, Taken}
import weir.{Task, WeirRuntime}

/** Decides whether the consumer of a `parEvalMap` runs the effects, and passes the elements from
  * the runners to the consumer and back. `InPlace` has the states.
  *
  * All fields are under the lock of the stage. So are the methods, except for those that take it.
  */
private[stream] abstract class Takeover(stage: ParEvalMapStage, rule: InPlace.Rule):
  import stage.{lock, results, room, runners}

  /** True if the runners leave the elements to the consumer. */
  final private[stream] var isWanted = false

  /** True from `count` to `want`. One runner at a time enters a slot: another one would find the
    * stage watched, though the first one may get no slot.
    */
  private var isOffering = false

  /** The number of ready effects since the last one that was not ready, or since the last stretch,
    * and the time at which they began.
    */
  private var readyInARow = 0
  private var since = 0L

  /** The numbers of quick stretches in a row: those that are needed, and those that there were. */
  protected var needed = 1
  private var quick = 0

  /** True if the runner that was requested is to help the consumer, whose effect takes long. */
  private var helps = false

  /** The result of the effect that the consumer has left, which is its `value`, until a runner has
    * entered and taken it.
    */
  private var left: MapResult | Null = null

  // ---- when ----

  /** Called for each effect that `runner` has ended. Returns true if the consumer may run those
    * behind it: then the runner calls `want`. While an effect is in flight, the runners must not
    * stop: the consumer may have to wait for it.
    */
  final def count(runner: MapRunner): Boolean =
    if !runner.wasReady then
      readyInARow = 0
      quick = 0
    else
      if readyInARow == 0 then since = System.nanoTime()
      readyInARow += 1
      if readyInARow == rule.stretch then
        readyInARow = 0
        quick = if isShort((System.nanoTime() - since) / rule.stretch) then quick + 1 else 0
    val mayLeave = quick >= needed && !isOffering && isQuiet && fits(runner.fiber)
    if mayLeave then
      quick = 0
      isOffering = true
    mayLeave

  final protected def isShort(nanos: Long): Boolean = nanos < rule.shortNanos

  /** Returns true if nothing is in flight, and no runner pulls. */
  private def isQuiet: Boolean =
    room.inFlight == 0 && (runners.source eq MapRunners.Idle)

  /** Returns false in an `evalOn`; with a `ContextHook`, which would have to be called twice for
    * each element; and in the test kit, where the thread of `HelperRequests` must not queue a job.
    */
  private def fits(fiber: TaskFiber): Boolean =
    (fiber.context eq null) && (fiber.runtime.hook eq null) && fiber.runtime.scheduler.spawns

  /** Returns true if `fiber` may run effects. A masked fiber could not be interrupted, and on a
    * calling thread an interrupt would cancel it.
    */
  final protected def mayBegin(fiber: TaskFiber): Boolean =
    fiber.masks == 0 && !fiber.isOnCallingThread && fits(fiber)

  /** Called by a runner, and takes the lock: leaves the elements to the consumer, if that is
    * watched, since it may not come for long.
    */
  final def want(fiber: TaskFiber): Unit =
    watchFirst(fiber)
    lock.locked(fiber) {
      isOffering = false
      if isQuiet then
        isWanted = isWatched
        if isWanted then stage.consumer.wake() else needMore()
    }

  /** Called if it was wrong to begin, or would be. */
  final protected def needMore(): Unit =
    needed = math.min(rule.growth * needed, Tuning.mostStretches)

  // ---- from the runners to the consumer ----

  /** Called by the consumer, which has found no result: returns true if it runs the effects from
    * now on. If a runner is still needed, all of them continue.
    */
  final def begins(fiber: TaskFiber): Boolean = isWanted && {
    isWanted = false
    val may = isQuiet && results.isEmpty && mayBegin(fiber)
    if may then
      runners.source = On
      begin()
    else needMore()
    may
  }

  // ---- from the consumer to the runners ----

  /** Called by the consumer: the runners take the elements from now on. */
  final protected def leave(): Unit = end() match
    case Taken =>
      results.poll(): Unit
      room.ended()
      room.giveBack(1)
    case Off => () // a helper was faster
    case _ => runners.source = MapRunners.Idle

  /** Called by the consumer, and takes the lock: leaves its effect to a runner. */
  final protected def handOver(effect: Task[Any], fiber: TaskFiber): Unit =
    val forks = lock.locked(fiber) {
      if end() != Taken then
        runners.source = MapRunners.Idle
        addInFlight()
      if !runners.isStopped then
        val result = results.peek().nn
        result.value = effect
        left = result
      runners.request()
    }
    clearInterrupt(fiber)
    if forks then runners.fork(fiber)

  /** Returns true if a runner has to enter, even if there is no room. */
  final def needsRunner: Boolean = helps || (left ne null)

  /** The consumer's element counts as one that a runner has taken. */
  private def addInFlight(): Unit =
    results.add(MapResult(null, runners.locals)): Unit
    room.add(begins = true)

  /** Takes the lock: requests a runner that continues with the elements behind, unless the consumer
    * pulls then. Also requests one if the consumer was to run effects, and has not come.
    */
  final protected def requestHelper(runtime: WeirRuntime): Unit =
    val forks = lock.lockedOutside {
      val isNeeded = (runners.source eq On) || isWanted
      if isNeeded then
        isWanted = false
        helps = true
      isNeeded && runners.request()
    }
    if forks then runners.submit(runtime)

  /** Called by each runner that enters. Returns the result of the effect that it has to run. */
  final def enter(): MapResult | Null =
    if helps && (runners.source eq On) then help()
    helps = false
    val taken = left
    left = null
    taken

  /** Called as the stage stops. No runner enters it with an effect, or for the consumer, then. */
  def stop(): Unit =
    left = null
    helps = false
    isWanted = false

  private def help(): Unit =
    val found = takeOver()
    if found == Running then addInFlight()
    if found == Running || found == Free then runners.source = MapRunners.Idle

  // ---- the run in place ----

  protected def begin(): Unit

  /** Ends the run in place and returns the state so far. */
  protected def end(): Int

  /** Called by the helper: returns the state in which it has found the consumer. If that has not
    * asked for a while, or its effect takes long, the runners now take the elements behind.
    */
  protected def takeOver(): Int

  protected def isWatched: Boolean
  protected def watchFirst(fiber: TaskFiber): Unit
  protected def clearInterrupt(fiber: TaskFiber): Unit

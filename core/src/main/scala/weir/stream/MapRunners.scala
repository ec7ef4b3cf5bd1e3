package weir.stream

import scala.collection.mutable.LinkedHashSet
import weir.fiber.{BeginFrame, CancelSignal, Frame, Locals, TaskFiber}
import weir.{Outcome, WeirRuntime}

/** The fibers that take the elements of a `parEvalMap`, and run their effects: its runners.
  *
  * At most one of them pulls from upstream at a time. Once it has an element it requests another
  * runner, if there is room, and runs the effect. A runner that finds another one pulling exits. So
  * effects that never suspend take one runner for each carrier.
  *
  * {{{
  * source   NotBegun --open--> Idle --a runner pulls--> Pulling --an element--> Idle
  *                                                         +--> Pull.End, Failed
  *          any --an effect has failed, or close--> Stopped
  * runner   requested -> enter -> takeElement -> effect -> store -> takeElement ...
  *                                    +--no room--> exit <--+-- error, cancel
  * }}}
  */
private[stream] final class MapRunners(stage: ParEvalMapStage):
  import MapRunners.*
  import stage.{inPlace, lock, room, upstream}

  // under the lock
  private val running = LinkedHashSet[MapRunner]()

  /** True if a runner was requested, and has not entered yet. */
  private var isRequested = false
  var source: AnyRef = NotBegun

  // the fiber that pulls only
  /** The locals of upstream, which it keeps whichever fiber pulls. An effect begins with them. */
  var locals: Locals | Null = null

  // ---- under the lock ----

  def open(fiber: TaskFiber): Unit =
    if source eq NotBegun then
      source = Idle
      locals = fiber.localsForChild

  def isStopped: Boolean = source.isInstanceOf[Stopped]

  /** Returns the end of upstream, or that of the stage once it has stopped; null before. */
  def ending: Terminal | Null = source match
    case stopped: Stopped => stopped.why
    case end: Terminal => end
    case _ => null

  /** A runner that was requested is not in `running` before it enters. */
  def isEmpty: Boolean = running.isEmpty && !isRequested

  private def mayPull: Boolean =
    (source eq Idle) && room.isFree && ((inPlace eq null) || !inPlace.isWanted)

  /** Requests a runner if there is work for one, and none is on its way. Returns true if the caller
    * has to `fork` it, once the lock is free.
    */
  def request(): Boolean =
    val requests = !isRequested && (mayPull || (inPlace ne null) && inPlace.needsRunner)
    if requests then isRequested = true
    requests

  /** Returns the fibers to cancel, once the lock is free, as the stage stops. */
  def toCancel(): List[TaskFiber] =
    if inPlace ne null then inPlace.stop()
    running.iterator.map(_.fiber).toList

  private def beginPulling(): Boolean =
    val may = mayPull
    if may then source = Pulling
    may

  // ---- a runner is requested, enters and exits ----

  def fork(fiber: TaskFiber): Unit = orRefused(fiber.fork(Enter): Unit)

  /** As `fork`, on a thread without a fiber. */
  def submit(runtime: WeirRuntime): Unit = orRefused {
    val runner = TaskFiber(runtime, Enter)
    runner.locals = locals
    runtime.scheduler.submit(runner)
  }

  private inline def orRefused(inline fork: Unit): Unit =
    try fork
    catch
      case error: Throwable =>
        lock.lockedOutside {
          isRequested = false // or `close` would wait for it
          stage.consumer.wake()
        }
        throw error

  private object Enter extends BeginFrame[Unit]:
    def begin(fiber: TaskFiber): Frame = MapRunner(stage, fiber)

  /** Enters a runner. Returns the effect with which it begins, if the consumer has left one. If the
    * stage was stopped before, the runner is not among those to cancel, and takes no element.
    */
  def enter(runner: MapRunner): MapResult | Null =
    var left: MapResult | Null = null
    val forks = lock.locked(runner.fiber) {
      isRequested = false
      running += runner
      if inPlace ne null then left = inPlace.enter()
      (left ne null) && request()
    }
    if forks then fork(runner.fiber)
    left

  /** Ends the runner: there was no room, or its effect has failed, or it was cancelled. */
  def exit(runner: MapRunner, outcome: Outcome[Unit]): Unit =
    val fiber = runner.fiber
    outcome match
      case Outcome.Failed(error) => stage.fail(error, fiber)
      case Outcome.Canceled if lock.locked(fiber)(!isStopped) =>
        val message = "An effect of parEvalMap, or its upstream, cancelled itself."
        stage.fail(Terminal.SelfCanceled(message), fiber)
      case _ => ()
    lock.locked(fiber) {
      running -= runner
      stage.store(runner): Unit
      if isEmpty then stage.consumer.wake()
    }

  // ---- elements ----

  /** Stores the result of the runner's element, if it has one that is done. Returns true if it has
    * another element to run the effect for.
    */
  def takeElement(runner: MapRunner): Boolean =
    while storeAndBegin(runner) && pull(runner) do ()
    runner.hasElement

  /** Stores a result. Returns true if the runner pulls now. */
  private def storeAndBegin(runner: MapRunner): Boolean =
    var isQuick = false
    val may = lock.locked(runner.fiber) {
      isQuick = stage.store(runner)
      !isQuick && !runner.hasElement && beginPulling()
    }
    if isQuick then
      inPlace.nn.want(runner.fiber)
      lock.locked(runner.fiber)(beginPulling())
    else may

  /** Pulls one element. Returns false if upstream has ended: then the runner exits, which wakes the
    * consumer.
    */
  private def pull(runner: MapRunner): Boolean =
    val fiber = runner.fiber
    val pulled: MapResult | Terminal =
      try
        fiber.adopt(locals)
        val element = upstream.next(fiber)
        locals = fiber.localsForChild
        if Pull.isEnd(element) then Pull.End else stage.resultOf(element)
      catch
        case CancelSignal => throw CancelSignal
        case error: Throwable => Terminal.of(error, fiber)
    pulled match
      case result: MapResult =>
        stage.change(fiber)(if leavePulling(Idle) then add(runner, result))
        true
      case end: Terminal =>
        if !lock.locked(fiber)(leavePulling(end)) then stage.stop(end, fiber)
        false

  /** Returns false if the stage was stopped meanwhile. */
  private def leavePulling(next: AnyRef): Boolean =
    val leaves = source eq Pulling
    if leaves then source = next
    leaves

  private def add(runner: MapRunner, result: MapResult): Unit =
    val begins = stage.begins(result)
    room.take()
    room.add(begins)
    if begins then runner.result = result
    if stage.ordered then stage.results.add(result): Unit

private[stream] object MapRunners:
  // the states of upstream; its end is a `Terminal`
  object NotBegun
  object Idle
  object Pulling

  /** The stage has stopped, and nobody pulls any more. */
  final class Stopped(val why: Terminal)

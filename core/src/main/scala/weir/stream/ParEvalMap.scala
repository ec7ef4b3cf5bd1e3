package weir.stream

import java.util.ArrayDeque
import scala.annotation.unused
import weir.fiber.{Locals, Suspend, TaskFiber}
import weir.{Outcome, Task}

/** Runs an effect for each element, at most `limit` at a time, and at most `limit + buffer`
  * elements ahead of the consumer: `parEvalMap` and `parEvalMapUnordered`.
  *
  * This class has the results and their order. `MapRoom` decides whether an element may be taken,
  * and `MapRunners` takes it and runs its effect. README.md in this folder has the invariants of
  * all three.
  *
  * {{{
  * result  taken --its effect has ended--> done --takeBatch--> batch --giveBack--> not ahead
  * stage   running --an effect has failed, or close--> stopped: all runners are cancelled
  * }}}
  */
private[weir] class ParEvalMapStage(
    private[stream] val upstream: Pull,
    limit: Int,
    buffer: Int,
    private[stream] val f: Any => Task[Any],
    private[stream] val ordered: Boolean,
    rule: InPlace.Rule | Null = InPlace.Rule.default
) extends ConcurrentStage:
  final private[stream] val lock = StageLock()
  final private[stream] val consumer = WaitSlot(lock)
  final private[stream] val room = MapRoom(limit, buffer)

  /** Lets the consumer run effects. It is null if the consumer must not wait for any effect, or if
    * upstream could cancel the consumer.
    */
  final private[stream] val inPlace: InPlace | Null =
    if ordered && (rule ne null) && upstream.isPlain then InPlace(this, rule) else null

  final private[stream] val runners = MapRunners(this)

  // under the lock
  /** In order: the results of all elements taken. Otherwise: those that are done. The consumer
    * moves those that are done to its batch.
    */
  final private[stream] val results = ArrayDeque[MapResult]()

  // consumer only
  /** Results, which count as ahead of the consumer until it has taken the last of them. */
  private val batch = Chunk.empty(1)
  private val batchSize = math.max(1, buffer / 4)

  // written before the first runner
  /** True if the consumer uses no result, so that a runner that has one continues by itself. */
  private var discards = false

  // ---- the consumer ----

  override def atMost(count: Long): Unit =
    if ordered then
      room.atMost(count)
      upstream.atMost(count)

  override private[stream] def discard(): Unit = if !ordered then discards = true

  def next(fiber: TaskFiber): Any = ask(fiber) {
    WaitSlot.repeat(
      if (inPlace ne null) && inPlace.isOn then inPlace.next(fiber)
      else if batch.isEmpty then Observation.awaitEffects(fiber, Look)
      else if batch.count > 1 then batch.next()
      else change(fiber)(take())
    )
  }

  private object Look extends Suspend[Any]:
    def begin(fiber: TaskFiber): Any = change(fiber) {
      runners.open(fiber)
      takeBatch()
      if !batch.isEmpty then take()
      else
        runners.source match
          case stopped: MapRunners.Stopped => stopped.why
          case end: Terminal if room.inFlight == 0 => end
          case _ if (inPlace ne null) && inPlace.begins(fiber) => WaitSlot.Nothing // it is on
          case _ => consumer.enter(fiber)
    }

  private def takeBatch(): Unit =
    var result = results.peek()
    while (result ne null) && result.isDone && batch.count < batchSize do
      batch.add(results.poll().nn.value)
      result = results.peek()

  /** Takes the next result. After the last one of the batch, its room is free. */
  private def take(): Any =
    val value = batch.next()
    if batch.isEmpty then room.giveBack(batch.reuse())
    value

  /** Makes a change that may make room: then a runner is requested. */
  final private[stream] inline def change[A](fiber: TaskFiber)(inline body: A): A =
    var forks = false
    val result = lock.locked(fiber) {
      val result = body
      forks = runners.request()
      result
    }
    if forks then runners.fork(fiber)
    result

  // ---- the results; under the lock ----

  /** Stores the result of `runner`, if it has one that is done. Returns true if the consumer may
    * run the effects behind: see `InPlace.count`.
    */
  final private[stream] def store(runner: MapRunner): Boolean =
    runner.hasValue && {
      val result = runner.result
      result.value = runner.takeValue()
      result.isDone = true
      val next = following(result)
      if next eq null then room.ended() else runner.result = next
      if discards then room.giveBack(1) else if !ordered then results.add(result): Unit
      if results.peek() eq result then consumer.wake()
      (inPlace ne null) && inPlace.count(runner)
    }

  /** Called by the runner that has pulled `element`, without the lock: returns the result to fill.
    * May run the user's code.
    */
  private[stream] def resultOf(element: Any): MapResult = MapResult(element, runners.locals)

  /** Returns true if the effect of an element that was taken runs now. If not, the element is
    * `following` another one.
    */
  private[stream] def begins(@unused result: MapResult): Boolean = true

  /** Returns the element with which the runner of one that is done continues. */
  protected def following(@unused result: MapResult): MapResult | Null = null

  // ---- the end ----

  final private[stream] def fail(error: Throwable, fiber: TaskFiber): Unit =
    stop(Terminal.Failed(error), fiber)

  /** Stops the stage, as an effect has failed, or it closes; or adds to that an error that comes
    * later. The error of the first effect counts, then that of upstream. The others are suppressed
    * under it, before their runners exit: so they come before the close returns.
    */
  final private[stream] def stop(why: Terminal, fiber: TaskFiber): Unit =
    var toCancel: List[TaskFiber] = Nil
    var kept, other = why
    lock.locked(fiber) {
      val isFirst = !runners.isStopped
      if isFirst then toCancel = runners.toCancel()
      runners.ending match
        case failed: Terminal.Failed =>
          if isFirst && (why ne Terminal.Ended) then other = failed else kept = failed
        case _ => ()
      runners.source = MapRunners.Stopped(kept)
      consumer.wake()
    }
    kept match
      case Terminal.Failed(first) if other ne kept => other.keep(fiber, Outcome.Failed(first))
      case _ => ()
    if inPlace ne null then inPlace.interrupt()
    for running <- toCancel if running ne fiber do running.requestCancel()

  protected def closeStage(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    Pull.both(stopAll(fiber, outcome), upstream.close(fiber, outcome))

  private def stopAll(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    stop(Terminal.Ended, fiber)
    WaitSlot.repeat(Observation.awaitEffects(fiber, NoRunner)): Unit
    keep(runners.ending, fiber, outcome) // no other fiber writes it any more

  private object NoRunner extends Suspend[Any]:
    def begin(fiber: TaskFiber): Any =
      WaitSlot.lookOrWait(lock, consumer, fiber)(if runners.isEmpty then () else WaitSlot.Nothing)

  /** Changes the limit. Effects that run continue, even if there are more of them than `limit` now.
    */
  final private[stream] def resize(limit: Int, fiber: TaskFiber): Unit =
    change(fiber)(room.limit = limit)

/** An element, while its effect has not begun; then the result.
  *
  * @param locals those of upstream after it has made the element: the effect begins with them
  */
private[stream] class MapResult(var value: Any, val locals: Locals | Null):
  var isDone = false

package weir.stream

import java.util.ArrayDeque
import scala.annotation.unused
import weir.fiber.{Suspend, TaskFiber}
import weir.group.Failures
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

  /** Null while the stage runs. Then the first error of an effect, with later ones suppressed under
    * it; or the end, if the stage was closed before.
    */
  private[stream] var stopped: Terminal | Null = null

  // consumer only
  private val batch = ArrayDeque[MapResult]()
  private val batchSize = math.max(1, buffer / 4)

  /** The number of results that were moved to `batch` and count as ahead of the consumer. */
  private var held = 0

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
      if (inPlace ne null) && inPlace.isOn then inPlace.next(fiber) else nextOfRunners(fiber)
    )
  }

  private def nextOfRunners(fiber: TaskFiber): Any =
    if batch.isEmpty then
      val found = Observation.awaitEffects(fiber, Look)
      if found.asInstanceOf[AnyRef] eq InPlace.On then WaitSlot.Nothing else found
    else
      val value = batch.poll().nn.value
      if batch.isEmpty then change(fiber)(giveBack())
      value

  private object Look extends Suspend[Any]:
    def begin(fiber: TaskFiber): Any =
      var forks = false
      val found = WaitSlot.lookOrWait(lock, consumer, fiber) {
        runners.open(fiber)
        val found = answer(fiber)
        forks = runners.request()
        found
      }
      if forks then runners.fork(fiber)
      found

  private def answer(fiber: TaskFiber): Any =
    takeBatch()
    if held > 0 then
      val value = batch.poll().nn.value
      if batch.isEmpty then giveBack()
      value
    else if stopped ne null then stopped
    else if runners.hasEnded && room.inFlight == 0 then runners.source
    else if (inPlace ne null) && inPlace.begins(fiber) then InPlace.On
    else WaitSlot.Nothing

  private def giveBack(): Unit =
    room.giveBack(held)
    held = 0

  /** Makes a change that may make room: then a runner is requested. */
  final private[stream] inline def change(fiber: TaskFiber)(inline body: Unit): Unit =
    val forks = lock.locked(fiber) {
      body
      runners.request()
    }
    if forks then runners.fork(fiber)

  private def takeBatch(): Unit =
    var result = results.peek()
    while (result ne null) && result.isDone && held < batchSize do
      batch.add(results.poll()): Unit
      held += 1
      result = results.peek()

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
  private[stream] def resultOf(element: Any): MapResult = MapResult(element)

  /** Called by the runner, without the lock, before it runs the effect of `result`. */
  private[stream] def prepare(@unused result: MapResult, @unused fiber: TaskFiber): Unit = ()

  /** Returns true if the effect of an element that was taken runs now. If not, the element is
    * `following` another one.
    */
  private[stream] def begins(@unused result: MapResult): Boolean = true

  /** Returns the element with which the runner of one that is done continues. */
  protected def following(@unused result: MapResult): MapResult | Null = null

  // ---- the end ----

  /** Stops the stage with the error of an effect. The first one counts. Later ones are suppressed
    * under it, while their runners have not ended: so they come before the close returns.
    */
  final private[stream] def fail(error: Throwable, fiber: TaskFiber): Unit =
    var toCancel: List[TaskFiber] | Null = null
    val first = lock.locked(fiber) {
      stopped match
        case failed: Terminal.Failed => failed
        case before =>
          if before eq null then toCancel = runners.toCancel()
          val failed = Terminal.Failed(error)
          stopped = failed
          consumer.wake()
          failed
    }
    Failures.add(first.error, error): Unit
    if toCancel ne null then cancelAll(toCancel, fiber)

  private def cancelAll(toCancel: List[TaskFiber], fiber: TaskFiber): Unit =
    if inPlace ne null then inPlace.interrupt()
    for running <- toCancel if running ne fiber do running.requestCancel()

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    Pull.both(stopAll(fiber, outcome), upstream.close(fiber, outcome))

  private def stopAll(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val toCancel = lock.locked(fiber) {
      if stopped ne null then Nil
      else
        stopped = Terminal.Ended
        runners.toCancel()
    }
    cancelAll(toCancel, fiber)
    WaitSlot.repeat(Observation.awaitEffects(fiber, NoRunner)): Unit
    // No other fiber writes them any more.
    keep(stopped, fiber, outcome)
    if !isSame(stopped, runners.source) then keep(runners.source, fiber, outcome)

  private def isSame(effects: Terminal | Null, source: AnyRef): Boolean = (effects, source) match
    case (Terminal.Failed(first), Terminal.Failed(second)) => first eq second
    case _ => false

  private object NoRunner extends Suspend[Any]:
    def begin(fiber: TaskFiber): Any =
      WaitSlot.lookOrWait(lock, consumer, fiber)(if runners.isEmpty then () else WaitSlot.Nothing)

  /** Changes the limit. Effects that run continue, even if there are more of them than `limit` now.
    */
  final private[stream] def resize(limit: Int, fiber: TaskFiber): Unit =
    change(fiber)(room.limit = limit)

/** An element, while its effect has not begun; then the result. */
private[stream] class MapResult(var value: Any):
  var isDone = false

/** The number of elements that a `parEvalMap` may still take, and of effects that may begin. Under
  * the lock of the stage.
  *
  * A finished effect frees its permit at once, even while the head of the order still runs.
  */
private[stream] final class MapRoom(var limit: Int, buffer: Int):
  private var demand = Long.MaxValue

  /** The number of elements that were taken, and that the consumer has not used up. */
  private var ahead = 0L

  /** The number of effects that have begun and not ended. */
  var inFlight = 0

  /** If there is no room ahead of the consumer, it requests a runner when it gives room back. */
  def isFree: Boolean =
    demand > 0 && inFlight < limit && ahead - buffer < limit // `limit + buffer` may overflow

  def atMost(count: Long): Unit = demand = math.min(demand, count)

  def take(): Unit = demand -= 1

  def add(begins: Boolean): Unit =
    ahead += 1
    if begins then inFlight += 1

  def ended(): Unit = inFlight -= 1

  def giveBack(used: Int): Unit = ahead -= used

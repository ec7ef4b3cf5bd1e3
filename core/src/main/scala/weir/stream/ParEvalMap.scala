package weir.stream

import java.util.ArrayDeque
import scala.collection.mutable.ArrayBuffer
import weir.kernel.{CancelSignal, Enter, Locals, Loop, RunLoop, Suspend, Waiter}
import weir.task.Failures
import weir.{Outcome, Task}

/** Runs an effect for each element, at most `limit` at a time, at most `limit + buffer` elements ahead of the consumer.
  *
  * As with `Claims`, fibers called runners claim elements and run the effect in place. At most one of them pulls from
  * above at a time; once it has an element it invites another runner, if there is room, and runs the effect. A runner
  * that finds somebody else pulling ends. So effects that never suspend take one runner for each carrier.
  *
  *   - **Shared, under this object's lock**: all that is mutable.
  *   - **Room**: `inFlight < limit`, and fewer than `limit + buffer` elements claimed and not consumed. A finished
  *     element frees its permit at once, whatever the head of the order does.
  *   - **Nobody is forgotten**: whoever makes room invites (`store` by claiming again itself, `take` by `invite`), and
  *     whoever has pulled invites if there is still room.
  *   - **Errors**: an error from above keeps its place in the order. A failed effect cancels the others; what was
  *     finished in order before it is still delivered. One that the consumer does not come to is kept: see `Producer.keepError`.
  *   - **At most**: in order, no more elements are claimed than will be asked for. Otherwise a user may want the first of many to
  *     end.
  */
private[weir] final class ParEvalMapStage(
    upstream: Pull,
    limit: Int,
    buffer: Int,
    f: Any => Task[Any],
    ordered: Boolean
) extends Pull:
  private val results = ArrayDeque[MapSlot]()
  private val runners = ArrayBuffer[MapRunner]()
  private var inFlight = 0
  private var toClaim = Long.MaxValue
  private var begun = false
  private var pulling = false
  private var invited = false
  private var upstreamEnded = false
  private var upstreamError: Throwable | Null = null
  private var failure: Throwable | Null = null
  private var stopped = false
  private var consumer: Waiter | Null = null
  private var closer: Waiter | Null = null

  // consumer only
  /** The error that it has come to. */
  private var thrown: Throwable | Null = null

  // whoever is pulling: what is above keeps its locals whichever runner pulls, and an effect begins with them
  private var above: Locals | Null = null

  // ---- the consumer ----

  override def atMost(count: Long): Unit =
    if ordered then
      synchronized { toClaim = math.min(toClaim, count) }
      upstream.atMost(count)

  def next(fiber: RunLoop): Any =
    fiber.checkpoint()
    var value = fiber.await(takeResult)
    while value.asInstanceOf[AnyRef] eq ParEvalMapStage.TryAgain do value = fiber.await(takeResult)
    value match
      case failed: Producer.Failed =>
        thrown = failed.error
        failed.rethrow(fiber)
      case _ => value

  private val takeResult: Task[Any] = new Suspend[Any]:
    def begin(fiber: RunLoop): Any = ParEvalMapStage.this.synchronized(take(fiber))

  private def take(fiber: RunLoop): Any =
    if !begun then
      begun = true
      above = fiber.heritage
      invite(fiber)
    val head = results.peek()
    if (head ne null) && head.isDone then
      results.poll()
      invite(fiber)
      head.value
    else if failure ne null then Producer.Failed(failure.nn)
    else if upstreamEnded && inFlight == 0 then
      if upstreamError eq null then Pull.End else Producer.Failed(upstreamError.nn)
    else
      val waiter = Waiter(fiber)
      consumer = waiter
      waiter

  private def wakeConsumer(): Unit =
    val waiter = consumer
    consumer = null
    if waiter ne null then waiter.complete(ParEvalMapStage.TryAgain): Unit

  def close(fiber: RunLoop, outcome: Outcome[Unit]): Unit =
    Pull.both(stopAll(fiber, outcome), upstream.close(fiber, outcome))

  private def stopAll(fiber: RunLoop, outcome: Outcome[Unit]): Unit =
    stop()
    fiber.await(allEnded)
    val (effects, above) = synchronized((failure, upstreamError))
    if (effects ne null) && (effects ne thrown) then
      Producer.keepError(Producer.Failed(effects), fiber, outcome)
    if (above ne null) && (above ne thrown) && (above ne effects) then
      Producer.keepError(Producer.Failed(above), fiber, outcome)

  private def stop(): Unit =
    val running = synchronized {
      stopped = true
      runners.toList
    }
    running.foreach(_.fiber.requestCancel())

  private def allEnded: Task[Unit] = new Suspend[Unit]:
    def begin(fiber: RunLoop): Any = ParEvalMapStage.this.synchronized {
      if runners.isEmpty then ()
      else
        val waiter = Waiter(fiber)
        closer = waiter
        waiter
    }

  // ---- the runners ----

  private def hasRoom: Boolean =
    val ahead = if ordered then results.size else results.size + inFlight
    !stopped && (failure eq null) && !upstreamEnded && !pulling && toClaim > 0 &&
    inFlight < limit && ahead - buffer < limit // not limit + buffer, which may overflow

  private def invite(fiber: RunLoop): Unit =
    if !invited && hasRoom then
      invited = true
      fiber.fork(EnterRunner): Unit

  private object EnterRunner extends Enter[Unit]:
    def begin(fiber: RunLoop): Loop = MapRunner(ParEvalMapStage.this, fiber, f)

  private[stream] def enter(runner: MapRunner): Unit = synchronized {
    invited = false
    runner.place = runners.size
    runners.addOne(runner): Unit
  }

  /** True if the runner has an element to run the effect for. */
  private[stream] def claim(runner: MapRunner, fiber: RunLoop): Boolean =
    val may = synchronized {
      val may = hasRoom
      if may then pulling = true
      may
    }
    may && {
      val pulled =
        try
          fiber.adopt(above)
          val value = upstream.next(fiber)
          above = fiber.heritage
          value
        catch
          case CancelSignal => throw CancelSignal
          case error: Throwable =>
            synchronized { upstreamError = Producer.failed(error, fiber).error }
            Pull.End
      synchronized {
        pulling = false
        if Pull.isEnd(pulled) then
          upstreamEnded = true // the runner ends now, which wakes the consumer: see `exit`
          false
        else
          inFlight += 1
          toClaim -= 1
          runner.element = pulled
          runner.slot = MapSlot()
          if ordered then results.add(runner.slot): Unit
          invite(fiber)
          true
      }
    }

  private[stream] def store(slot: MapSlot, value: Any): Unit = synchronized {
    slot.value = value
    slot.isDone = true
    inFlight -= 1
    if !ordered then results.add(slot): Unit
    if results.peek() eq slot then wakeConsumer()
  }

  private[stream] def fail(error: Throwable): Unit =
    val first = synchronized {
      val first = failure eq null
      failure = Failures.add(failure, error)
      first && !stopped
    }
    if first then stop()

  private[stream] def canceled(): Unit =
    if !synchronized(stopped) then
      fail(
        Producer.Canceled("An effect of parEvalMap, or the stream above it, canceled itself.")
      )

  private[stream] def exit(runner: MapRunner): Unit = synchronized {
    val last = runners.remove(runners.size - 1)
    if last ne runner then
      runners(runner.place) = last
      last.place = runner.place
    wakeConsumer()
    if runners.isEmpty && (closer ne null) then closer.nn.complete(()): Unit
  }

private[weir] object ParEvalMapStage:
  object TryAgain

/** The place of one element's result. */
private final class MapSlot:
  var value: Any = null
  var isDone = false

package weir.stream

import weir.Outcome
import weir.kernel.{CancelSignal, Direct, RunLoop, Suspend, Waiter}

/** Makes an element on a fiber of its own while the one before it is used, and never more than that.
  *
  * One place, and one question at a time. The consumer asks, takes what was made, and asks for the next one in the same
  * step, unless it knows that it wants no more. The producer begins with an element only once it was asked for it: so
  * it never waits for room, and nothing is made before it was asked for.
  *
  *   - **Shared, under this object's lock**: `asked`, `place`, who waits.
  *   - **Invariant**: `asked` and a full place exclude each other: `asked` is taken by the producer before it begins, the
  *     place is emptied by the consumer before it asks.
  *   - **The race we fear**: each waits for the other. The consumer waits with the place empty, having asked, and the question
  *     either stands or is in the producer's hand, who answers it, by an element, the end, an error or its cancel. The
  *     producer waits with nothing asked: then the place is full, or the consumer uses its last element, or is about to ask.
  *     A consumer that was waiting asks for the next one by the hand of the producer, and may be back for it before
  *     that is done: so `left` is counted under the lock, at which it has to wait.
  */
private[weir] final class PrefetchStrictStage(upstream: Pull) extends Pull:
  // consumer only
  private var producer: RunLoop | Null = null
  private var ended = false

  // shared, under this object's lock
  private var left = Long.MaxValue // that the consumer has not asked for
  private var asked = false
  private var place: Any = PrefetchStrictStage.Empty
  private var waitingProducer: Waiter | Null = null
  private var waitingConsumer: Waiter | Null = null

  override def atMost(count: Long): Unit =
    left = math.min(left, count)
    upstream.atMost(count)

  def next(fiber: RunLoop): Any =
    if ended then Pull.End
    else
      if producer eq null then
        asked = true
        producer = fiber.fork(Direct(run))
      fiber.await(Take) match
        case Pull.End =>
          ended = true
          Pull.End
        case failed: Producer.Failed =>
          ended = true
          failed.rethrow(fiber)
        case value => value

  private object Take extends Suspend[Any]:
    def begin(fiber: RunLoop): Any = PrefetchStrictStage.this.synchronized {
      left -= 1
      if isEmpty then
        val waiter = Waiter(fiber)
        waitingConsumer = waiter
        waiter
      else
        val value = place
        place = PrefetchStrictStage.Empty
        ask()
        value
    }

  private object AwaitQuestion extends Suspend[Unit]:
    def begin(fiber: RunLoop): Any = PrefetchStrictStage.this.synchronized {
      if asked then asked = false
      else
        val waiter = Waiter(fiber)
        waitingProducer = waiter
        waiter
    }

  private def isEmpty: Boolean = place.asInstanceOf[AnyRef] eq PrefetchStrictStage.Empty

  private def ask(): Unit =
    if left > 0 then
      val waiter = waitingProducer
      waitingProducer = null
      if waiter eq null then asked = true else waiter.complete(()): Unit

  /** Hands over what was made. A consumer that waits for it has asked for the next one by that. */
  private def answer(value: Any): Unit = synchronized {
    val waiter = waitingConsumer
    waitingConsumer = null
    if (waiter ne null) && waiter.complete(value) then ask() else place = value
  }

  private def run(fiber: RunLoop): Unit =
    try
      var going = true
      while going do
        fiber.await(AwaitQuestion)
        val value = upstream.next(fiber)
        going = !Pull.isEnd(value)
        answer(value)
    catch
      case CancelSignal =>
        answer(Producer.canceled)
        throw CancelSignal
      case error: Throwable => answer(Producer.failed(error, fiber))

  def close(fiber: RunLoop, outcome: Outcome[Unit]): Unit =
    Pull.both(stop(fiber, outcome), upstream.close(fiber, outcome))

  private def stop(fiber: RunLoop, outcome: Outcome[Unit]): Unit =
    val running = producer
    if running ne null then
      fiber.await(running.cancel)
      Producer.keepError(place, fiber, outcome)

private[weir] object PrefetchStrictStage:
  object Empty

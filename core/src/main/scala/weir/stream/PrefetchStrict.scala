package weir.stream

import weir.Outcome
import weir.fiber.{CancelSignal, DirectCode, Suspend, TaskFiber, Waiter}

/** Makes one element on a fiber of its own, the producer, while the consumer uses the one before
  * it. `prefetchStrict`.
  *
  * There is one request at a time, and room for one element. When the consumer takes an element it
  * requests the next one in the same step, unless it knows that it wants no more. The producer
  * begins with an element only once that is requested: so it never waits for room.
  *
  *   - **Shared, under this object's lock**: all that is mutable, but for what is marked.
  *   - **Invariant**: nothing is requested while an element is `made`. The producer takes the
  *     request before it begins, and the consumer takes the element before it makes a request.
  *   - **The race we fear**: each waits for the other. The consumer waits while nothing is `made`,
  *     after a request. Either `requested` is set, or the producer has taken the request and
  *     delivers an element, the end, an error or its cancel. The producer waits while nothing is
  *     `requested`: then an element is `made`, or the consumer uses its last one, or is about to
  *     make a request.
  *   - **The count of requests**: if the consumer waits, the producer makes the next request for
  *     it, in `deliver`. The consumer may come back before `deliver` has ended: so `demand` is
  *     counted under the lock.
  */
private[weir] final class PrefetchStrictStage(upstream: Pull) extends Pull:
  // consumer only
  private var producer: TaskFiber | Null = null
  private var ended = false

  // shared, under this object's lock
  /** How many elements may still be taken. */
  private var demand = Long.MaxValue
  private var requested = false
  private var made: Any = PrefetchStrictStage.Empty
  private var waitingProducer: Waiter | Null = null
  private var waitingConsumer: Waiter | Null = null

  override def atMost(count: Long): Unit =
    demand = math.min(demand, count)
    upstream.atMost(count)

  override def hasFibers: Boolean = true

  def next(fiber: TaskFiber): Any =
    if ended then Pull.End
    else
      fiber.checkpoint()
      if producer eq null then
        requested = true
        producer = fiber.fork(DirectCode(run))
      Observation.awaitInput(fiber, Take) match
        case Pull.End =>
          ended = true
          Pull.End
        case failed: Producer.Failed =>
          ended = true
          failed.rethrow(fiber)
        case value => value

  private object Take extends Suspend[Any]:
    def begin(fiber: TaskFiber): Any = PrefetchStrictStage.this.synchronized {
      demand -= 1
      if isEmpty then
        val waiter = Waiter(fiber)
        waitingConsumer = waiter
        waiter
      else
        val value = made
        made = PrefetchStrictStage.Empty
        requestNext()
        value
    }

  private object AwaitRequest extends Suspend[Unit]:
    def begin(fiber: TaskFiber): Any = PrefetchStrictStage.this.synchronized {
      if requested then requested = false
      else
        val waiter = Waiter(fiber)
        waitingProducer = waiter
        waiter
    }

  private def isEmpty: Boolean = made.asInstanceOf[AnyRef] eq PrefetchStrictStage.Empty

  private def requestNext(): Unit =
    if demand > 0 then
      val waiter = waitingProducer
      waitingProducer = null
      if waiter eq null then requested = true else waiter.complete(()): Unit

  /** Delivers what was made. If the consumer waits for it, requests the next element for it. */
  private def deliver(value: Any): Unit = synchronized {
    val waiter = waitingConsumer
    waitingConsumer = null
    if (waiter ne null) && waiter.complete(value) then requestNext() else made = value
  }

  private def run(fiber: TaskFiber): Unit =
    try
      var going = true
      while going do
        Observation.awaitRoom(fiber, AwaitRequest)
        val value = upstream.next(fiber)
        going = !Pull.isEnd(value)
        deliver(value)
    catch
      case CancelSignal =>
        deliver(Producer.canceled)
        throw CancelSignal
      case error: Throwable => deliver(Producer.failed(error, fiber))

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    Pull.both(stop(fiber, outcome), upstream.close(fiber, outcome))

  private def stop(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val running = producer
    if running ne null then
      fiber.await(running.cancel)
      Producer.keepError(made, fiber, outcome)

private[weir] object PrefetchStrictStage:
  object Empty

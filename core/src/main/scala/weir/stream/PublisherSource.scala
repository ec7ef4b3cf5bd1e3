package weir.stream

import java.util.concurrent.Flow
import weir.Outcome
import weir.fiber.TaskFiber

/** Emits the elements of a `Flow.Publisher`, which `subscribe` brings to `input`:
  * `Stream.fromPublisher`.
  *
  * An element is used up when the next one is asked for. When half of the buffer is used up, or
  * there is nothing else to take, as many elements as are used up are requested again. The
  * publisher's `subscribe`, `request` and `cancel` run masked on the consumer's fiber: no interrupt
  * may hit them.
  */
private[weir] final class PublisherSource(
    input: PublisherInput,
    subscribe: PublisherInput => Unit,
    limit: Int
) extends ConcurrentStage:
  private val requestAt = math.max(1, limit / 2)
  private var batch = Chunk.empty(math.min(limit, 16))
  private var hasBegun = false

  /** The number of elements that may be requested now. */
  private var credit = limit.toLong

  /** The number of elements that may be requested in all. */
  private var demand = Long.MaxValue

  override def atMost(count: Long): Unit = demand = math.min(demand, count)

  def next(fiber: TaskFiber): Any = ask(fiber) {
    if !hasBegun then begin(fiber)
    if credit >= requestAt then request(fiber)
    var end: Terminal | Null = null
    while batch.isEmpty && (end eq null) do end = refill(fiber)
    if end ne null then end
    else
      credit += 1
      batch.next()
  }

  override private[stream] def takeReady(most: Int): Chunk | Null =
    val taken = batch.take(most)
    if taken ne null then credit += taken.count
    taken

  private def begin(fiber: TaskFiber): Unit =
    if !input.begin() then
      throw IllegalStateException(
        "Stream.processor: the pipe has run its input twice. The elements come only once. Share " +
          "them with broadcastThrough."
      )
    hasBegun = true
    val stretch = Observation.stretchOf(fiber)
    if stretch ne null then stretch.queue = input
    guarded("threw from subscribe. Reactive Streams, rule 1.9: it returns normally") {
      fiber.masked(subscribe(input))
    }

  private def request(fiber: TaskFiber): Unit =
    val count = math.min(credit, demand)
    val subscription = if count > 0 then input.grant(count, fiber) else null
    if subscription ne null then
      credit = 0
      if demand != Long.MaxValue then demand -= count
      guarded("threw from request. Reactive Streams, rule 3.16: it returns normally") {
        fiber.masked(subscription.request(count))
      }

  private inline def guarded(did: String)(inline call: Unit): Unit =
    try call
    catch case error: Throwable => input.threw(did, error)

  /** Takes the elements that have come. If there are none, returns the end; or else requests as
    * many as may be requested, and waits.
    */
  private def refill(fiber: TaskFiber): Terminal | Null = input.take(batch, fiber) match
    case taken: Chunk =>
      batch = taken
      null
    case end: Terminal => end
    case null =>
      if credit > 0 then request(fiber)
      Observation.awaitInput(fiber, input.Changed): Unit
      null

  protected def closeStage(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    if hasBegun then
      Pull.both(
        PublisherSource.cancel(input),
        keep(input.endSoFar, fiber, outcome)
      )

private[weir] object PublisherSource:
  def of(publisher: Flow.Publisher[?], limit: Int): Pull =
    val input = PublisherInput("Stream.fromPublisher", PublisherInput.nameOf(publisher), limit)
    PublisherSource(
      input,
      publisher.asInstanceOf[Flow.Publisher[Any]].subscribe(_),
      limit
    )

  /** Cancels the subscription of `input`, if that is not over. */
  def cancel(input: PublisherInput): Unit =
    val subscription = input.close()
    if subscription ne null then
      try subscription.cancel()
      catch
        case error: Throwable =>
          throw IllegalStateException(
            s"The cancel of the subscription of ${input.awaitedAs} threw an error. Reactive " +
              "Streams, rule 3.15: it must return normally.",
            error
          )

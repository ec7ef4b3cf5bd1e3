package weir.stream

import scala.collection.mutable.{ArrayBuffer, ArrayDeque, HashMap}
import weir.fiber.{CancelSignal, DirectCode, TaskFiber}
import weir.group.Failures
import weir.{Outcome, Task}

/** Runs an effect for each element, at most `limit` at a time, those of one key one after the other
  * in the order of the elements: `parEvalMapBy`.
  *
  * {{{
  * element: taken --its key is free--> ready --worker--> runs --> in results --consumer--> gone
  *             +--otherwise--> waits in its key's line --the one before has run--> ready
  * }}}
  *
  * The producer takes elements while fewer than `limit + buffer` are taken and not consumed. It
  * forks a worker for an element that is ready while there are fewer than `limit`. A worker runs
  * effects as long as there is an element that is ready.
  *
  *   - **Shared, under this object's lock**: all that is mutable, but for what is marked.
  *   - **Invariant**: a key is in `lines` as long as one of its elements is ready or runs. So the
  *     map is never larger than the number of elements taken.
  *   - **No element is left**: a worker ends only under the lock and where none is ready; whoever
  *     adds one that is ready, under the lock, is a worker itself or forks one if there is room.
  *   - **Order**: a result is in `results` before the next element of its key is ready.
  *   - **Errors**: an error of upstream comes after all results. A failed effect cancels the
  *     other workers, and the consumer, when it comes to the error, the producer; what is in
  *     `results` by then is still delivered.
  */
private[weir] final class ByKeyStage(
    upstream: Pull,
    limit: Int,
    buffer: Int,
    key: Any => Any,
    f: Any => Task[Any]
) extends Gather(upstream):
  private val lines = HashMap[Any, ArrayDeque[Any]]()
  private val ready = ArrayDeque[ByKeyStage.Element]()
  private val results = ArrayDeque[Any]()

  /** Elements that are not consumed. */
  private var taken = 0L

  /** Workers that have been forked, and not found that there is nothing to do. */
  private var working = 0
  private val fibers = ArrayBuffer[TaskFiber]()
  private var pruneAt = ByKeyStage.firstPrune

  private var stopped = false
  private var failure: Producer.Failed | Null = null
  private var failureSeen = false

  protected def add(value: Any, fiber: TaskFiber): Unit =
    val itsKey = key(value)
    awaitRoom(fiber)(taken - buffer < limit)
    synchronized {
      taken += 1
      lines.get(itsKey) match
        case Some(line) => line.append(value): Unit
        case None =>
          lines(itsKey) = ArrayDeque()
          ready.append(ByKeyStage.Element(itsKey, value)): Unit
          if working < limit && !stopped then
            working += 1
            prune()
            fibers.addOne(fiber.fork(DirectCode(work))): Unit
    }

  /** Forgets workers that have ended, in a constant time for each fork. */
  private def prune(): Unit =
    if fibers.size >= pruneAt then
      fibers.filterInPlace(_.outcome eq null): Unit
      pruneAt = math.max(ByKeyStage.firstPrune, 2 * fibers.size)

  private def work(fiber: TaskFiber): Unit =
    try
      var element = nextReady()
      while element ne null do
        val value = fiber.await(f(element.value))
        element = store(element, value)
    catch
      case CancelSignal =>
        fail(Producer.canceled)
        throw CancelSignal
      case error: Throwable => fail(Producer.failed(error, fiber))

  /** Null if the worker has nothing to do, and ends. */
  private def nextReady(): ByKeyStage.Element | Null = synchronized {
    if stopped || ready.isEmpty then
      working -= 1
      null
    else ready.removeHead()
  }

  private def store(element: ByKeyStage.Element, value: Any): ByKeyStage.Element | Null =
    synchronized {
      results.append(value): Unit
      wakeConsumer()
      val line = lines(element.key)
      if line.isEmpty then lines.remove(element.key): Unit
      else ready.append(ByKeyStage.Element(element.key, line.removeHead())): Unit
      nextReady()
    }

  private def fail(failed: Producer.Failed): Unit =
    val others = synchronized {
      val first = failure
      if stopped && (first eq null) then
        // the stage closes: only an error of the effect itself is kept
        failure = failed
        Nil
      else if first eq null then
        failure = failed
        stopped = true
        wakeConsumer()
        fibers.toList
      else
        if !failed.error.isInstanceOf[Producer.Canceled] then
          Failures.add(first.error, failed.error): Unit
        Nil
    }
    others.foreach(_.requestCancel())

  protected def isReady(isFinal: Boolean, fiber: TaskFiber): Boolean =
    results.nonEmpty || (failure ne null)

  override protected def isDrained: Boolean = taken == 0

  protected def take(): Any =
    if results.nonEmpty then
      taken -= 1
      roomMade()
      results.removeHead()
    else
      failureSeen = true
      failure

  override protected def stop(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val begun = synchronized {
      stopped = true
      fibers.toList
    }
    begun.foreach(_.requestCancel())
    Pull.both(
      super.stop(fiber, outcome), {
        val all = synchronized(fibers.toList) // no more are forked
        all.foreach(_.requestCancel())
        all.foreach(worker => fiber.await(worker.join): Unit)
        if (failure ne null) && !failureSeen then Producer.keepError(failure, fiber, outcome)
      }
    )

private[weir] object ByKeyStage:
  private inline val firstPrune = 16

  private final class Element(val key: Any, val value: Any)

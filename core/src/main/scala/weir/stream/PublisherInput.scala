package weir.stream

import java.util.Arrays
import java.util.concurrent.Flow
import java.util.concurrent.atomic.AtomicBoolean
import weir.WeirRuntime
import weir.fiber.{Awaited, Suspend, TaskFiber, Waiter}

/** The subscriber to which a `Flow.Publisher` signals: it holds the elements that have come and
  * have not been taken. `PublisherSource` is its consumer.
  *
  * {{{
  * Open --onComplete, onError--> ended --signal after it--> broken
  *  |                                                         ^
  *  +--a signal or a call that breaks a rule------------------+
  * from each of them: --close--> closed
  * }}}
  *
  * The publisher's threads append. The consumer takes all elements that are there at once, and uses
  * them without the lock. Only the consumer calls `request`, and not from a signal: so a publisher
  * that signals inside of `request` causes no recursion.
  *
  *   - **Shared, under this object's lock**: all fields. No code of the publisher's is called with
  *     the lock held.
  *   - **Invariant**: three kinds of elements are at most `limit` together: `owed`, those that are
  *     requested and have not come; those queued; and those that the consumer has taken and not
  *     used up.
  *   - **The race that we fear**: the consumer waits for an element while the publisher waits for a
  *     request. Before it waits, the consumer has requested as many elements as it has used up, so
  *     that `owed` is above 0, or there is no subscription yet. It looks for elements, for an end
  *     and for a new subscription in the critical section in which it begins to wait; each of the
  *     three wakes it. A woken consumer looks again, so a cancelled wait loses nothing.
  *   - **Another race**: `close` comes before `onSubscribe`. Then there is nothing to cancel yet;
  *     `onSubscribe` finds `isClosed`, and cancels the subscription that it is given.
  */
private[weir] final class PublisherInput(operator: String, publisher: String, limit: Int)
    extends Flow.Subscriber[Any],
      Awaited,
      StretchCounters.Queue:
  import PublisherInput.*

  private val begun = AtomicBoolean()

  // shared, under this object's lock
  private var subscription: Flow.Subscription | Null = null
  private var queued = new Array[Any](math.min(limit, 16))
  private var count = 0
  private var owed = 0L
  private var ending: Any = Open
  private var isBroken = false
  private var isEndTaken = false
  private var isClosed = false
  private var isKnown = false // the consumer has seen the subscription
  private var consumer: Waiter | Null = null
  private var reporter: WeirRuntime | Null = null

  def size: Int = synchronized(count)
  def capacity: Long = limit
  private[weir] def awaitedAs: String =
    s"$operator($publisher), which owes an element (${synchronized(owed)} requested)"

  // ---- the publisher's side ----

  def onSubscribe(offered: Flow.Subscription | Null): Unit =
    if offered eq null then refuseNull("onSubscribe", "subscription")
    var isWelcome = false
    val other = wakeAfter {
      if subscription ne null then breach(s"called onSubscribe twice. $rule 2.12: at most once")
      else
        subscription = offered
        isWelcome = !isClosed && (ending.asInstanceOf[AnyRef] eq Open)
        null
    }
    if !isWelcome then offered.nn.cancel()
    if other ne null then other.cancel()

  def onNext(element: Any): Unit =
    if element.asInstanceOf[AnyRef] eq null then refuseNull("onNext", "element")
    arrive(1) {
      if count == queued.length then makeRoom(1)
      queued(count) = element
    }

  /** As an `onNext` for each element of `ready`, none of which is null. */
  def onReady(ready: Chunk): Unit = arrive(ready.count) {
    if ready.count > queued.length - count then makeRoom(ready.count)
    System.arraycopy(ready.elements, 0, queued, count, ready.count)
  }

  private inline def arrive(arriving: Int)(inline store: Unit): Unit =
    val broken = wakeAfter {
      if isClosed || isBroken then null
      else if subscription eq null then
        breach(s"called onNext before onSubscribe. $rule 1.9: that comes first")
      else if ending.asInstanceOf[AnyRef] ne Open then
        breach(s"called onNext after the end. $rule 1.7: nothing may follow it")
      else if owed < arriving then
        breach(s"called onNext for an element that was not requested. $rule 1.1: no more than are")
      else
        store
        owed -= arriving
        count += arriving
        null
    }
    if broken ne null then broken.cancel()

  def onComplete(): Unit = end("onComplete", Pull.End)

  def onError(error: Throwable | Null): Unit =
    if error eq null then refuseNull("onError", "error")
    end("onError", Terminal.Failed(error.nn))

  /** Handles a last signal. Calls nothing of the subscription, which is over: rule 2.3. A second
    * `onComplete` is ignored: it loses nothing.
    */
  private def end(signal: String, message: Any): Unit = wakeAfter {
    if isClosed || isBroken then null
    else if subscription eq null then
      breach(s"called $signal before onSubscribe. $rule 1.9: that comes first", cause(message))
    else if ending.asInstanceOf[AnyRef] eq Open then
      ending = message
      null
    else if message.asInstanceOf[AnyRef] ne Pull.End then
      breach(s"called $signal after the end. $rule 1.7: nothing may follow it", cause(message))
    else null
  }: Unit

  private def refuseNull(signal: String, what: String): Nothing =
    val broken = wakeAfter {
      if isClosed || isBroken then null
      else breach(s"called $signal with null. $rule 2.13: no $what is null")
    }
    if (broken ne null) && signal != "onError" then broken.cancel()
    throw NullPointerException(
      s"$operator: $publisher called $signal with null. $rule 2.13: no $what is null."
    )

  // ---- under the lock ----

  private inline def wakeAfter(
      inline change: => Flow.Subscription | Null
  ): Flow.Subscription | Null =
    var waiting: Waiter | Null = null
    val result = synchronized {
      val result = change
      waiting = consumer
      consumer = null
      result
    }
    if waiting ne null then waiting.nn.complete(()): Unit
    result

  /** Makes room for `more` elements. `limit` is enough for all that may come. */
  private def makeRoom(more: Int): Unit =
    val length = math.max(count + more, math.min(limit.toLong, queued.length * 2L).toInt)
    queued = Arrays.copyOf(queued.asInstanceOf[Array[AnyRef]], length).asInstanceOf[Array[Any]]

  /** Ends this with an error that says what the publisher has done, after the elements that have
    * come. The first such error counts; it is reported if the consumer has reached the end already.
    * Returns the subscription to cancel, if it is not over.
    */
  private def breach(did: String, cause: Throwable | Null = null): Flow.Subscription | Null =
    val error = violation(did, cause)
    val over = ending.asInstanceOf[AnyRef] ne Open
    isBroken = true
    if isEndTaken then reporter.nn.report(operator, error)
    else
      ending match
        case failed: Terminal.Failed => failed.error.addSuppressed(error)
        case _ => ending = Terminal.Failed(error)
    if over then null else subscription

  private def violation(did: String, cause: Throwable | Null): IllegalStateException =
    IllegalStateException(
      s"$operator: $publisher $did. Elements may be missing, so the stream fails. The publisher " +
        "has to be corrected.",
      cause
    )

  // ---- the consumer's side ----

  /** Returns true for the first caller: the elements come once. */
  def begin(): Boolean = begun.compareAndSet(false, true)

  /** Exchanges the elements that have come for the batch of `source`, which is used again if it is
    * large enough. Returns the number of elements.
    */
  def exchange(source: PublisherSource): Int = synchronized {
    val have = count
    if have > 0 then
      val full = queued
      val empty = source.batch
      queued = if empty.length < full.length then new Array[Any](full.length) else empty
      source.batch = full
      count = 0
    have
  }

  /** Returns what follows the elements that have come: `Open`, `Pull.End` or `Terminal.Failed`. */
  def takeEnding(runtime: WeirRuntime): Any = synchronized {
    if count > 0 then Open
    else
      if ending.asInstanceOf[AnyRef] ne Open then
        isEndTaken = true
        reporter = runtime
      ending
  }

  /** Returns the subscription, for a request of `n` elements; null if there is none yet, or it is
    * over.
    */
  def grant(n: Long): Flow.Subscription | Null = synchronized {
    isKnown = subscription ne null
    if (subscription eq null) || (ending.asInstanceOf[AnyRef] ne Open) then null
    else
      owed += n
      subscription
  }

  /** Reports that a method of the publisher's has thrown. */
  def threw(did: String, error: Throwable): Unit =
    wakeAfter { if isClosed || isBroken then null else breach(did, error) } match
      case null => ()
      case broken => broken.cancel()

  /** Waits until something has come that the consumer does not know. */
  object Changed extends Suspend[Unit]:
    def begin(fiber: TaskFiber): Any = PublisherInput.this.synchronized {
      val isNews = count > 0 || (ending.asInstanceOf[AnyRef] ne Open) ||
        ((subscription ne null) && !isKnown)
      if isNews then ()
      else
        val waiter = new Waiter(fiber):
          override def awaited: Awaited = PublisherInput.this
        fiber.runtime.waitsOutside(waiter)
        consumer = waiter
        waiter
    }

  /** Closes the input, which then takes no signals any more. Returns the subscription to cancel;
    * null if there is none, or it is over, or another call has returned it.
    */
  def close(): Flow.Subscription | Null = synchronized {
    val first = !isClosed
    isClosed = true
    queued = none
    if first && (ending.asInstanceOf[AnyRef] eq Open) then subscription else null
  }

  /** Returns the end that the consumer has not reached. */
  def untakenEnding: Terminal = synchronized {
    ending match
      case terminal: Terminal if !isEndTaken => terminal
      case _ => Terminal.Ended
  }

private[weir] object PublisherInput:
  /** There may be more. */
  object Open

  private val none = new Array[Any](0)
  private val rule = "Reactive Streams, rule"

  private def cause(message: Any): Throwable | Null = message match
    case Terminal.Failed(error) => error
    case _ => null

  def nameOf(publisher: Any): String = publisher match
    case null => "the publisher, which is null,"
    case some => s"the publisher, a ${some.getClass.getName},"

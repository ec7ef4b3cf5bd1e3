package weir.stream

import java.util.concurrent.Flow
import java.util.concurrent.atomic.AtomicBoolean
import weir.WeirRuntime
import weir.fiber.{Awaited, Suspend, TaskFiber}
import weir.group.Failures

/** The subscriber to which a `Flow.Publisher` signals: it holds the elements that have come and
  * have not been taken. `PublisherSource` is its consumer.
  *
  * {{{
  * open --onComplete, onError--> ended --close, a broken rule--> closed: takes no signals
  *  |                                                              ^
  *  +--close, a signal or a call that breaks a rule----------------+
  * }}}
  *
  * The publisher's threads append. The consumer takes all elements that are there at once, and uses
  * them without the lock. Only the consumer calls `request`, and not from a signal: so a publisher
  * that signals inside of `request` causes no recursion.
  *
  *   - **Shared, under `lock`**: all fields. No code of the publisher's is called with the lock
  *     held.
  *   - **Invariant**: three kinds of elements are at most `limit` together: `owed`, those that are
  *     requested and have not come; those queued; and those that the consumer has taken and not
  *     used up.
  *   - **The race that we fear**: the consumer waits for an element while the publisher waits for a
  *     request. Before it waits, the consumer has requested as many elements as it has used up, so
  *     that `owed` is above 0, or there is no subscription yet. It looks for elements, for an end
  *     and for a new subscription in the critical section in which it begins to wait (`WaitSlot`);
  *     each of the three wakes it.
  *   - **Another race**: `close` comes before `onSubscribe`. Then there is nothing to cancel yet;
  *     `onSubscribe` finds `isClosed`, and cancels the subscription that it is given.
  */
private[weir] final class PublisherInput(operator: String, publisher: String, limit: Int)
    extends Flow.Subscriber[Any],
      Awaited,
      StretchCounters.Queue:
  import PublisherInput.*

  private val begun = AtomicBoolean()

  // shared, under the lock
  private val lock = StageLock()
  private val consumer = WaitSlot(lock, outside = this)
  private var subscription: Flow.Subscription | Null = null
  private var queued = Chunk.empty(math.min(limit, 16))
  private var owed = 0L
  private var ending: Terminal | Null = null
  private var isClosed = false
  private var isKnown = false // the consumer has seen the subscription

  /** The runtime of the consumer, once that has taken the end. */
  private var reporter: WeirRuntime | Null = null

  def size: Int = lock.lockedOutside(queued.count)
  def capacity: Long = limit
  private[weir] def awaitedAs: String =
    s"$operator($publisher), which owes an element ($owed requested)"

  // ---- the publisher's side ----

  def onSubscribe(offered: Flow.Subscription | Null): Unit =
    if offered eq null then refuseNull("onSubscribe", "subscription")
    var isWelcome = false
    signal {
      if subscription ne null then s"called onSubscribe twice. $rule 2.12: at most once"
      else
        subscription = offered
        isWelcome = !isClosed && (ending eq null)
        null
    }
    if !isWelcome then offered.nn.cancel()

  def onNext(element: Any): Unit =
    if element.asInstanceOf[AnyRef] eq null then refuseNull("onNext", "element")
    arrive(1)(queued.add(element))

  /** As an `onNext` for each element of `ready`, none of which is null. */
  def onReady(ready: Chunk): Unit = arrive(ready.count)(queued.addAll(ready))

  private inline def arrive(arriving: Int)(inline store: Unit): Unit = signal {
    if isClosed then null
    else if subscription eq null then
      s"called onNext before onSubscribe. $rule 1.9: that comes first"
    else if ending ne null then s"called onNext after the end. $rule 1.7: nothing may follow it"
    else if owed < arriving then
      s"called onNext for an element that was not requested. $rule 1.1: no more than are"
    else
      store
      owed -= arriving
      null
  }

  def onComplete(): Unit = end("onComplete", Terminal.Ended, null)

  def onError(error: Throwable | Null): Unit =
    if error eq null then refuseNull("onError", "error")
    end("onError", Terminal.Failed(error.nn), error)

  /** Handles a last signal. A second `onComplete` is ignored: it loses nothing. */
  private def end(name: String, terminal: Terminal, error: Throwable | Null): Unit =
    signal(
      if isClosed then null
      else if subscription eq null then
        s"called $name before onSubscribe. $rule 1.9: that comes first"
      else if ending eq null then
        ending = terminal
        null
      else if error ne null then s"called $name after the end. $rule 1.7: nothing may follow it"
      else null,
      error
    )

  private def refuseNull(signal: String, what: String): Nothing =
    val did = s"called $signal with null. $rule 2.13: no $what is null"
    breach(did, null, cancels = signal != "onError")
    throw NullPointerException(s"$operator: $publisher $did.")

  /** Makes a change under the lock, and wakes the consumer. The change returns the rule that it
    * breaks, or null.
    */
  private inline def signal(
      inline change: String | Null,
      cause: Throwable | Null = null
  ): Unit =
    val did: String | Null = lock.lockedOutside {
      consumer.wake()
      change
    }
    if did ne null then breach(did, cause)

  /** Ends this with an error that says what the publisher has done, after the elements that have
    * come. The first such error counts; it is reported if the consumer has reached the end already.
    * Cancels the subscription, unless that is over: rule 2.3.
    */
  private def breach(did: String, cause: Throwable | Null, cancels: Boolean = true): Unit =
    val error = IllegalStateException(
      s"$operator: $publisher $did. Elements may be missing, so the stream fails. The publisher " +
        "has to be corrected.",
      cause
    )
    var reports: WeirRuntime | Null = null
    var first: Throwable | Null = null
    val broken = lock.lockedOutside {
      if isClosed then null
      else
        val isOver = ending ne null
        isClosed = true
        reports = reporter
        ending match
          case failed: Terminal.Failed => first = failed.error
          case _ if reports eq null => ending = Terminal.Failed(error)
          case _ => ()
        consumer.wake()
        if isOver then null else subscription
    }
    if reports ne null then reports.nn.report(operator, error)
    else if first ne null then Failures.add(first, error): Unit
    if cancels && (broken ne null) then broken.cancel()

  // ---- the consumer's side ----

  /** Returns true for the first caller: the elements come once. */
  def begin(): Boolean = begun.compareAndSet(false, true)

  /** Takes the elements that have come, for `used`, whose elements were taken. If there are none,
    * returns the end; null if there is none yet.
    */
  def take(used: Chunk, fiber: TaskFiber): Chunk | Terminal | Null = lock.locked(fiber) {
    if queued.isEmpty then
      if ending ne null then reporter = fiber.runtime
      ending
    else
      val taken = queued
      used.reuse(): Unit
      queued = used
      taken
  }

  /** Returns the subscription, for a request of `n` elements; null if there is none yet, or it is
    * over.
    */
  def grant(n: Long, fiber: TaskFiber): Flow.Subscription | Null = lock.locked(fiber) {
    isKnown = subscription ne null
    if (subscription eq null) || (ending ne null) then null
    else
      owed += n
      subscription
  }

  /** Reports that a method of the publisher's has thrown. */
  def threw(did: String, error: Throwable): Unit = breach(did, error)

  /** Waits until something has come that the consumer does not know. */
  object Changed extends Suspend[Any]:
    def begin(fiber: TaskFiber): Any = WaitSlot.lookOrWait(lock, consumer, fiber) {
      if !queued.isEmpty || (ending ne null) || (subscription ne null) && !isKnown then ()
      else WaitSlot.Nothing
    }

  /** Closes the input, which then takes no signals any more. Returns the subscription to cancel;
    * null if there is none, or it is over, or another call has returned it.
    */
  def close(): Flow.Subscription | Null = lock.lockedOutside {
    val wasOpen = !isClosed && (ending eq null)
    isClosed = true
    queued = Chunk.empty(0)
    if wasOpen then subscription else null
  }

  /** Returns the end so far. */
  def endSoFar: Terminal | Null = lock.lockedOutside(ending)

private[weir] object PublisherInput:
  private val rule = "Reactive Streams, rule"

  def nameOf(publisher: Any): String = publisher match
    case null => "the publisher, which is null,"
    case some => s"the publisher, a ${some.getClass.getName},"

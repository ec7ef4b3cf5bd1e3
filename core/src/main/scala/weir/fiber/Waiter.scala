package weir.fiber

import java.lang.invoke.{MethodHandles, VarHandle}
import java.util.concurrent.locks.LockSupport
import scala.annotation.static
import weir.{Outcome, Task, WeirRuntime}

/** One wait of one fiber. It decides between the fiber that suspends, its waker and a canceller.
  *
  * {{{
  * Registering --fiber--> Suspended --waker--> Assigned --waker--> Done
  *      |                     |
  *      |                     +--canceller--> Canceled
  *      +--waker--> Assigned --waker--> Done
  * }}}
  *
  *   - **Owner**: the thread that moves the state out of `Suspended` owns the fiber, and queues it.
  *     A waker that comes before `Suspended` only stores the value: the fiber continues by itself.
  *   - `complete` returns true if the fiber gets the value. If it returns false, the caller still
  *     has the value, for the next waiter.
  *   - **Ordering**: all of the fiber's fields are written before the CAS to `Suspended`, which
  *     pairs with the CAS of the waker or the canceller. `value` is written before `Done` is, and
  *     read after.
  */
private[weir] class Waiter(val fiber: TaskFiber):

  // owner only until Suspended
  /** True if a cancel ends the wait. */
  private[weir] var cancelable = false

  /** The thread that is parked, if the fiber awaits in direct style; null if the fiber has left its
    * thread.
    */
  private[weir] var thread: Thread | Null = null

  /** The shard of the thread that the fiber has left: a waker that is not a fiber queues it there.
    * It is a byte, to keep a fiber that waits small.
    */
  private[fiber] var leftShard: Byte = 0

  /** The watch's time at which the wait began. */
  private[weir] var since = 0

  // shared
  @volatile private var state = Waiter.Registering

  // the waker's between Assigned and Done, then the fiber's
  private[fiber] var value: Any = null
  private[fiber] var isError = false

  /** Completes the wait with `value`. Returns true if the fiber gets it, false if the wait was
    * completed or cancelled before.
    */
  final def complete(value: Any): Boolean = finish(value, isError = false)

  /** Completes the wait with `error`. Returns true if the fiber fails with it, false if the wait
    * was completed or cancelled before.
    */
  final def fail(error: Throwable): Boolean = finish(error, isError = true)

  private def finish(value: Any, isError: Boolean): Boolean =
    val assigned = assign(value, isError)
    if assigned == Waiter.MustWake then wakeUp()
    assigned != Waiter.Refused

  /** The first step of `complete`, for a waker that holds a lock which it must not hold while it
    * wakes a fiber. Returns `Refused`, `NotSuspended`, or `MustWake`: then the caller owns the
    * fiber, and has to call `wakeUpFrom`.
    */
  final private[weir] def assign(value: Any): Int = assign(value, isError = false)

  private def assign(value: Any, isError: Boolean): Int =
    var current = state
    while current == Waiter.Registering || current == Waiter.Suspended do
      if Waiter.State.compareAndSet(this, current, Waiter.Assigned) then
        this.value = value
        this.isError = isError
        state = Waiter.Done
        return if current == Waiter.Suspended then Waiter.MustWake else Waiter.NotSuspended
      current = state
    Waiter.Refused

  /** The step after an `assign` that has returned `MustWake`, on the thread of the fiber `waker`,
    * to whose preferred shard this fiber goes.
    */
  final private[weir] def wakeUpFrom(waker: TaskFiber): Unit =
    val parked = thread
    if parked eq null then fiber.resumeFrom(this, waker) else LockSupport.unpark(parked)

  /** Called by the fiber. Returns false if a waker was faster: then the result is here, or will be
    * in a moment.
    */
  private[fiber] def suspend(): Boolean =
    Waiter.State.compareAndSet(this, Waiter.Registering, Waiter.Suspended)

  /** Called by a canceller. Returns true if this call has ended the wait: then the caller owns the
    * fiber.
    */
  private[fiber] def takeForCancel(): Boolean =
    state == Waiter.Suspended && cancelable &&
      Waiter.State.compareAndSet(this, Waiter.Suspended, Waiter.Canceled)

  /** Wakes the fiber, whose wait this thread has moved out of `Suspended`. */
  private[weir] def wakeUp(): Unit =
    val parked = thread
    if parked eq null then resumeFiber() else LockSupport.unpark(parked)

  /** Queues the fiber, which this thread owns. A class that overrides this method has to be
    * `EagerlyLinked`.
    */
  protected def resumeFiber(): Unit = fiber.resume(this)

  /** Returns true while the fiber is suspended, or its result is being stored. */
  private[weir] def isWaiting: Boolean =
    val current = state
    current == Waiter.Suspended || current == Waiter.Assigned

  /** Returns true until a waker or a canceller has ended the wait, also before the fiber has
    * suspended.
    */
  private[weir] def isOpen: Boolean =
    val current = state
    current == Waiter.Registering || current == Waiter.Suspended

  private[weir] def isCanceled: Boolean = state == Waiter.Canceled

  /** Returns true if the fiber has its value, or will have it as soon as it runs. */
  private[weir] def isDone: Boolean = state == Waiter.Done

  /** Returns true once a waker has decided the result, which is here or will be in a moment. */
  private[weir] def hasResult: Boolean =
    val current = state
    current == Waiter.Assigned || current == Waiter.Done

  /** Returns the result, once `hasResult` is true. */
  private[weir] def result: Either[Throwable, Any] =
    awaitDone()
    if isError then Left(value.asInstanceOf[Throwable]) else Right(value)

  /** Returns true if the fiber has its value, and that is not an error. */
  private[fiber] def hasValue: Boolean = state == Waiter.Done && !isError

  /** Returns the value if it is here, or else this waiter, for a fiber that is about to wait. */
  private[weir] def resultOrSelf: Any = if hasValue then value else this

  /** Called by the fiber after `suspend` was false: waits the few instructions until the result is
    * here.
    */
  private[fiber] def awaitDone(): Unit = while state != Waiter.Done do Thread.onSpinWait()

  /** Called by the fiber once a cancel has ended the wait: removes this waiter from the list that
    * it is in.
    */
  def abandon(): Unit = ()

  /** Returns true if a dump finds the fiber without an entry in the fiber registry. */
  def isFound: Boolean = false

  /** Returns the object that the fiber waits for, for a fiber dump; null if only the user's code
    * knows it.
    */
  def awaited: Awaited | Null = null

  /** Returns the task that the fiber runs after `abandon`, before its other finalizers; null for
    * none.
    */
  def cancelHook: Task[Unit] | Null = null

  /** Returns the value that has come although a cancel had ended the wait, once `cancelHook` has
    * run; null for none.
    */
  def late: Pure[Any] | Null = null

private[weir] object Waiter:
  @static private val State: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[Waiter], "state", classOf[Int])

  private[fiber] inline val Registering = 0
  private[fiber] inline val Suspended = 1
  private[fiber] inline val Assigned = 2
  private[fiber] inline val Done = 3
  private[fiber] inline val Canceled = 4

  // the results of `assign`
  /** The wait had ended before. */
  private[weir] inline val Refused = 0

  /** The fiber gets the value; it has not left its thread. */
  private[weir] inline val NotSuspended = 1

  /** The fiber gets the value, and the caller has to wake it. */
  private[weir] inline val MustWake = 2

/** An object that fibers wait for, as a fiber dump shows it. Every primitive is one, and is the
  * lock of its wait lists.
  */
private[weir] trait Awaited:

  /** Returns a text that says what it is and why a fiber waits, such as
    * `Queue.bounded(4), which is full`. Called from any thread, at any time; takes no lock.
    */
  private[weir] def awaitedAs: String

  /** Returns the fibers that must act before the wait can end, if they are known: the holder of a
    * permit, the fiber that is joined.
    */
  private[weir] def holders: Iterator[TaskFiber] = Iterator.empty

  /** Returns true if the frames of other fibers tell who holds it: see `Frame.held`. */
  private[weir] def isHeldByFrames: Boolean = false

  /** For a dump, if frames tell the holders: returns the number of all permits, free and held;
    * `Long.MaxValue` if it is not known.
    */
  private[weir] def allPermits: Long = Long.MaxValue

/** The frame that follows a wait which a cancel has ended. It runs the wait's hook, masked. Then it
  * continues with the value that has come nevertheless (`Waiter.late`), or else with the cancel. So
  * a `timeout` whose task has just taken an item returns the item, even to a fiber that is being
  * cancelled.
  */
private[fiber] final class CanceledWait(waiter: Waiter, hook: Task[Unit])
    extends Frame(Tag.HandlingFrame):

  def start(fiber: TaskFiber): Task[Any] =
    fiber.push(this)
    fiber.addMask()
    hook

  def step(fiber: TaskFiber, value: Any): Task[Any] | Null =
    fiber.removeMask()
    val late = waiter.late
    if late eq null then CancelSelf else late

  override def failed(fiber: TaskFiber, error: Throwable): Task[Any] | Null =
    fiber.push(this) // first: printing calls the error's own methods, which may throw
    fiber.runtime.report("a finalizer of a cancelled fiber", error)
    Task.unit

/** Links and initializes classes before they are used: those that override a method which is called
  * on an object that a lock has just handed out.
  *
  * README, "A JVM that calls the wrong method", has the reason. Each caller names its own classes.
  */
private[weir] object EagerlyLinked:
  def apply(classes: Class[?]*): Unit =
    val lookup = MethodHandles.lookup()
    classes.foreach(lookup.ensureInitialized)

/** Waiters in the order in which they came. A cancelled one is removed at once, in constant time.
  *
  * Every method must be called with the lock of the primitive that owns the list held.
  */
private[weir] final class WaitList:
  private var first: WaitList.Entry | Null = null
  private var last: WaitList.Entry | Null = null
  private var count = 0

  def isEmpty: Boolean = first eq null
  def size: Int = count

  /** Returns the entry that has waited longest, or null. Does not remove it. */
  def peek: WaitList.Entry | Null = first

  def add(entry: WaitList.Entry): Unit =
    entry.previous = last
    if last eq null then first = entry else last.nn.next = entry
    last = entry
    entry.listed = true
    count += 1

  /** Removes the entry that has waited longest, and returns it. Returns null if the list is empty.
    */
  def poll(): WaitList.Entry | Null =
    val entry = first
    if entry ne null then remove(entry)
    entry

  /** Removes the entry. Has no effect if it is not in the list. */
  def remove(entry: WaitList.Entry): Unit =
    if entry.listed then
      val previous = entry.previous
      val next = entry.next
      if previous eq null then first = next else previous.next = next
      if next eq null then last = previous else next.previous = previous
      entry.previous = null
      entry.next = null
      entry.listed = false
      count -= 1

private[weir] object WaitList:
  /** A waiter that can be in one list at a time, which `lock` guards. */
  class Entry(fiber: TaskFiber, list: WaitList, lock: AnyRef) extends Waiter(fiber):
    private[weir] var previous: Entry | Null = null
    private[weir] var next: Entry | Null = null
    private[weir] var listed = false

    /** The next entry that `Guarded` has to wake. */
    private[weir] var nextWoken: Entry | Null = null

    override def abandon(): Unit = lock.synchronized(list.remove(this))

    override def awaited: Awaited | Null = lock match
      case awaited: Awaited => awaited
      case _ => null

/** The joiners of one fiber that has not ended. It is also the lock of their list.
  *
  * @param first
  *   the callback that was there before them
  */
private[fiber] final class Joiners(fiber: FiberCore, first: EndCallback | Null) extends Awaited:
  def awaitedAs: String = s"the end of fiber ${fiber.name}"
  override def holders: Iterator[TaskFiber] = Iterator(fiber).collect { case fiber: TaskFiber =>
    fiber
  }

  // shared, under this object's lock
  val list = WaitList()

  /** True once the fiber has ended: a further joiner reads the outcome. */
  var closed = false

  /** Passes the outcome to all joiners. Returns true if any of them has got it; the wait of a
    * joiner may have been cancelled before.
    */
  def wakeAll(outcome: Outcome[Any]): Boolean =
    var isDelivered = first ne null
    // Closed first: a joiner that comes while the callback runs does not wait for its end.
    var joiner = synchronized {
      closed = true
      list.poll()
    }
    if first ne null then
      fiber.passTrace(outcome, null)
      first.call(outcome, fiber.runtime)
    while joiner ne null do
      fiber.passTrace(outcome, joiner.fiber)
      if joiner.complete(outcome) then isDelivered = true
      joiner = synchronized(list.poll())
    isDelivered

/** The wait of a thread that blocks until a fiber has ended. */
private[fiber] final class ThreadJoin(list: WaitList, lock: AnyRef)
    extends WaitList.Entry(null.asInstanceOf[TaskFiber], list, lock):
  thread = Thread.currentThread()
  suspend(): Unit

/** The callback of a `runAsync`. It is in the fiber's field `ending`, in the place of joiners. Such
  * a fiber hardly ever has any. So it needs no list, no lock, and no wait.
  */
private[fiber] final class EndCallback(callback: Outcome[Any] => Unit):
  def call(outcome: Outcome[Any], runtime: WeirRuntime): Unit =
    try callback(outcome)
    catch case error: Throwable => runtime.report("a callback of runAsync", error)

/** Calls `callback` with the outcome, on the thread that ends the fiber. */
private[weir] final class CallbackJoin(
    callback: Outcome[Any] => Unit,
    runtime: WeirRuntime,
    list: WaitList,
    lock: AnyRef
) extends WaitList.Entry(null.asInstanceOf[TaskFiber], list, lock):
  suspend(): Unit
  override protected def resumeFiber(): Unit =
    try callback(value.asInstanceOf[Outcome[Any]])
    catch case error: Throwable => runtime.report("a callback of runAsync", error)

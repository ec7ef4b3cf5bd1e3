package weir.group

import java.lang.invoke.{MethodHandles, VarHandle}
import scala.annotation.static
import weir.fiber.{Awaited, TaskFiber}
import weir.runtime.{Counters, FiberRegistry, Registered}

/** Decides when a group of children requests one more runner.
  *
  * There are three ways: a helper request in the scheduler's queue, a delayed request in
  * `HelperRequests`, and a runner spawned on a worker of its own. README.md in this folder has the
  * protocol.
  *
  *   - **Invariant**: while a child is left to take, either a helper request is queued or delayed,
  *     or some active runner is still going to look, or the limit is reached. `helperRequested` is
  *     true from the moment a runner begins to make the request until the helper has begun.
  *   - **Ordering**: a runner makes visible what it leaves to others, then reads `helperRequested`.
  *     The helper writes false to it, then looks for a child. One of the two sees the other.
  *   - **Bounded**: only the thread that has moved `helperRequested` to true writes `started`.
  */
private[weir] abstract class HelperPolicy(limit: Int)
    extends Awaited,
      Registered,
      HelperRequests.Requester:

  // owner only: the thread that has moved `helperRequested` to true, until the helper has begun
  /** The number of runners that count against the limit: all except the spawned ones. */
  private var started = 1

  // shared
  @volatile private var helperRequested = false

  /** True if the group is in the fiber registry, or about to be. Nothing is spawned before. */
  @volatile private[group] var isRegistered = false

  /** Written by the thread that has moved `isRegistered` to true. */
  @volatile private var registryEntry: FiberRegistry.Entry | Null = null

  // ---- properties of the group ----

  /** Returns true if a further runner would find a child to take. */
  def hasMore: Boolean

  /** Returns the number of children that have been taken; always 0 if that is not cheap to find
    * out.
    */
  def takenCount: Long = 0

  /** Returns the call-site key. Groups with the same key come from the same code, and are likely to
    * be alike. It is 0 for a group that never delays its helper request. The `hasMore` of all
    * others must run no user's code.
    */
  def callSiteKey: Int = 0

  def isStopped: Boolean

  /** Returns the fiber that waits for the group; null before the start. */
  private[weir] def parentFiber: TaskFiber | Null

  /** Returns the runner that has begun last. */
  private[group] def latestRunner: Runner | Null

  /** Returns the fiber of a new runner, on the runtime of `by`, not queued yet. */
  private[group] def newRunner(role: Int, by: TaskFiber): TaskFiber

  // ---- requesting at once ----

  /** Ensures that, while a child is left to take, a helper request is queued or delayed. Must be
    * called after each child is taken, before it is run.
    *
    * On a thread that has come for a blocked worker it also spawns a runner.
    */
  private[group] final def ensureHelper(fiber: TaskFiber): Unit =
    if limit == Int.MaxValue && fiber.maySpawn() && hasMore && register(fiber) then
      fiber.spawn(newRunner(Runner.Spawned, fiber))
    requestHelper(fiber)

  /** Queues a helper, unless one is on its way or none is allowed. `by` is null outside of any
    * fiber.
    */
  private[weir] final def requestHelper(by: TaskFiber | Null): Unit =
    if !helperRequested && started < limit && hasMore &&
      HelperPolicy.HelperRequested.compareAndSet(this, false, true)
    then
      // At the limit it stays true: no further helper may be requested.
      if started < limit then
        val helper = newRunner(Runner.Helper, parentFiber.nn)
        started += 1
        Counters.count(Counters.HelperRequest)
        try if by ne null then by.submit(helper) else helper.runtime.scheduler.submit(helper)
        catch
          case error: Throwable =>
            started -= 1 // `requestNow` is called again
            throw error

  /** Called by a helper as it begins, before it looks for a child: pairs with the reads of
    * `helperRequested` in `requestHelper`.
    */
  private[group] final def helperBegins(): Unit = helperRequested = false

  // ---- the fiber registry ----

  final def registeredFibers: Iterator[TaskFiber] = holders

  /** Enters the group in the fiber registry. Returns true once a dump finds the group. If there is
    * no memory for that, nothing is spawned.
    */
  private def register(by: TaskFiber): Boolean =
    (registryEntry ne null) || !isRegistered &&
      HelperPolicy.Registered.compareAndSet(this, false, true) && {
        try registryEntry = by.runtime.scheduler.fiberRegistry.add(this, by.preferredShard)
        catch case _: OutOfMemoryError => ()
        registryEntry ne null
      }

  /** Must be called once, when the group has ended. */
  private[group] final def unregister(by: TaskFiber): Unit =
    val entry = registryEntry
    if entry ne null then by.runtime.scheduler.fiberRegistry.remove(entry)

  // ---- the delayed request: for the first runner ----

  /** Delays the first helper request if that is allowed. Returns the request slot, or -1. Must not
    * be called for a group whose key is 0.
    */
  private[group] final def delayRequest(fiber: TaskFiber): Int =
    val requests = fiber.runtime.helperRequests
    if fiber.runtime.scheduler.spawns && requests.mayDelay(callSiteKey) &&
      HelperPolicy.HelperRequested.compareAndSet(this, false, true)
    then
      val slot = requests.delay(fiber.preferredShard, this)
      if slot < 0 then helperRequested = false
      slot
    else -1

  /** Withdraws the delayed request. Returns true if it was still there. Then the runner has to look
    * again for a child, or to call `ensureHelper`: other runners may have left a child to the
    * request meanwhile.
    */
  private[group] final def withdrawRequest(fiber: TaskFiber, slot: Int): Boolean =
    val was = fiber.runtime.helperRequests.withdraw(slot, this)
    if was then helperRequested = false
    was

  final def requestNow(): Unit =
    helperRequested = false // then it looks: others have left children while they saw it true
    if !isStopped then requestHelper(null)

  final def isBlocked: Boolean =
    val runner = latestRunner
    val thread = if runner eq null then null else runner.fiber.runningOn
    (thread ne null) && thread.getState != Thread.State.RUNNABLE

private[weir] object HelperPolicy:
  @static private val HelperRequested: VarHandle =
    MethodHandles
      .lookup()
      .findVarHandle(classOf[HelperPolicy], "helperRequested", classOf[Boolean])
  @static private val Registered: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[HelperPolicy], "isRegistered", classOf[Boolean])

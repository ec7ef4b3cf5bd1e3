package weir.group

import java.lang.invoke.{MethodHandles, VarHandle}
import java.util.Arrays
import java.util.concurrent.atomic.AtomicReferenceArray
import java.util.concurrent.locks.LockSupport
import scala.annotation.static
import weir.fiber.{Awaited, TaskFiber}
import weir.runtime.{Counters, FiberRegistry, Registered, ThreadShortage, Tuning}

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

/** The helper requests that groups of children have delayed, because groups of the same call site
  * have lately needed no helper.
  *
  * To request a helper, a runner wakes the standby. This takes the runner up to ten times as long
  * as 1,000 ready children do, and a standby that continues to search occupies a core. A group that
  * has delayed its request makes it as soon as a child suspends. If a child blocks or computes, a
  * thread of this class makes the request, at the second of its looks at the latest. README.md in
  * this folder has the protocol.
  *
  *   - **Request slots**: the thread that takes a group out of its slot, by CAS, has to handle the
  *     request: a thread of the group's runner, or the one of this class. A group that finds its
  *     slot occupied makes its request at once.
  *   - **The thread** is one of the operating system, and runs no user's code. It ends when it has
  *     seen no group for a while.
  *   - **Call-site keys** share a table without any lock: if an entry is lost or mixed up there, a
  *     group requests a helper too early, or a look too late. The table is cleared as the thread
  *     ends: for groups so rare that the thread does not see them, delaying costs more than it
  *     saves.
  *
  * This class is not final, only for tests.
  */
private[weir] class HelperRequests(
    begin: Thread => Unit = _.start(),
    nanos: Long = Tuning.helperRequestNanos,
    looks: Int = Tuning.helperRequestLooks
):
  import HelperRequests.*

  // shared
  private val slots = AtomicReferenceArray[Requester]((Tuning.helperRequestSlots + 1) * stride)

  /** For each key, the number of groups in a row that have needed no helper. */
  private val needless = new Array[Byte](keys)

  /** True if the thread runs. Changed under this object's lock. */
  @volatile private var looking = false

  private val threadShortage = ThreadShortage()

  /** Returns true if so many groups with this key have needed no helper that the next one can delay
    * its request.
    */
  def mayDelay(callSiteKey: Int): Boolean =
    needless(callSiteKey & (keys - 1)) >= Tuning.needlessHelperRequests

  /** Notes the time that a group with this key took; `Long.MaxValue` for one in which a child has
    * waited. A short group has needed no helper. Any other weighs as much as the short ones that
    * have saved the time that it took.
    */
  def learn(callSiteKey: Int, nanos: Long): Unit =
    val at = callSiteKey & (keys - 1)
    val before = needless(at)
    if nanos >= Tuning.shortGroupNanos then
      val weight = math.min(nanos / Tuning.savedNanos, Tuning.needlessHelperRequests)
      val after = math.max(0, before - weight).toByte
      // All carriers read the cache line, so it is written only if that changes something.
      if after != before then needless(at) = after
    else if before < Byte.MaxValue then needless(at) = (before + 1).toByte

  /** Delays the request of `group`, on `shard`. Returns the slot for `withdraw`, or -1 if the group
    * has to make its request now.
    */
  def delay(shard: Int, group: Requester): Int =
    val slot = ((shard & (Tuning.helperRequestSlots - 1)) + 1) * stride
    if !looking && !start() || !slots.compareAndSet(slot, null, group) then -1
    else if looking || start() || !withdraw(slot, group) then slot // it may have ended meanwhile
    else -1

  /** Withdraws the request of `group`. Returns true if it was still delayed; from then on the
    * caller has to make it.
    */
  def withdraw(slot: Int, group: Requester): Boolean = slots.compareAndSet(slot, group, null)

  /** Returns true if the thread runs. For tests. */
  def isLooking: Boolean = looking

  /** Starts the thread if it is not there. Returns true if the thread is there, or has been
    * started.
    */
  protected def start(): Boolean = threadShortage.mayStart && synchronized {
    if !looking && threadShortage.mayStart then
      try
        val seen = new Array[Requester | Null](slots.length)
        begin(
          Thread
            .ofPlatform()
            .daemon()
            .name("weir-helper-requests")
            .inheritInheritableThreadLocals(false)
            .unstarted(() => look(seen))
        )
        looking = true
        threadShortage.started()
      catch case _: Throwable => threadShortage.failed() // the caller can make its request at once
    looking
  }

  private def look(seen: Array[Requester | Null]): Unit =
    var quiet = 0
    var here = true
    while here do
      pause()
      quiet = if sees(seen) then 0 else quiet + 1
      if quiet >= looks then
        quiet = 0
        stop()
        here = sees(seen) && goOn()

  private def stop(): Unit = synchronized {
    looking = false
    Arrays.fill(needless, 0.toByte)
  }

  /** Returns false if another thread looks by now. */
  private def goOn(): Boolean = synchronized {
    val alone = !looking
    looking = true
    alone
  }

  /** Returns true if a group was seen, and also if a look fails: whatever is thrown here, out of
    * memory above all, the thread must stay.
    */
  private def sees(seen: Array[Requester | Null]): Boolean =
    try lookAt(seen)
    catch case _: Throwable => true

  /** Makes the requests of the groups that were there at the last look, and of those whose thread
    * is blocked. Returns true if there was any group.
    */
  private def lookAt(seen: Array[Requester | Null]): Boolean =
    var any = false
    var slot = 0
    while slot < slots.length do
      val group = slots.get(slot)
      if group ne null then
        any = true
        if ((group eq seen(slot)) || group.isBlocked) && withdraw(slot, group) then
          request(slot, group)
      seen(slot) = group
      slot += stride
    any

  /** Makes the request. If there is no memory, the request is delayed again, up to the next look.
    */
  private def request(slot: Int, group: Requester): Unit =
    var done = false
    while !done do
      try
        group.requestNow()
        done = true
      catch
        case _: Throwable =>
          done = slots.compareAndSet(slot, null, group)
          if !done then pause() // another group has the slot

  private def pause(): Unit =
    LockSupport.parkNanos(this, nanos)
    Thread.interrupted(): Unit // or the next pause would end at once

private[weir] object HelperRequests:
  /** A group of children whose helper request is delayed. */
  private[weir] trait Requester:
    /** Returns true if the thread of the group's runner does not run, as far as one look can tell.
      */
    def isBlocked: Boolean

    /** Makes the request that was delayed. Called again if it has thrown. */
    def requestNow(): Unit

  private inline val keys = 256

  /** The distance of two slots, so that no two are on one cache line. */
  private inline val stride = 16

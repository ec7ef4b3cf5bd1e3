package weir.group

import java.util.Arrays
import java.util.concurrent.atomic.AtomicReferenceArray
import java.util.concurrent.locks.LockSupport
import weir.runtime.{ThreadShortage, Tuning}

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

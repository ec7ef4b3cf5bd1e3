package weir.runtime

import java.util.Arrays
import java.util.concurrent.atomic.AtomicReferenceArray
import java.util.concurrent.locks.LockSupport

/** Invitations that groups of children put off, as groups of their kind have lately needed nobody.
  *
  * To invite, the runner of a group raises the standby, which takes him up to ten times as long as 1,000 ready children do, and
  * a standby that goes on searching takes a core. A group that has put it off invites as soon as a child waits. Where a
  * child blocks or computes, a thread of its own invites, within two of its looks.
  *
  *   - **Places**: whoever takes a group out of its place, by CAS, has to see to its invitation: its runner or the thread. Who finds
  *     the place taken invites at once.
  *   - **The thread** is one of the operating system, and runs no code of users'. It ends when it has not seen any group for a while:
  *     it clears `looking`, then looks once more; who puts a group into a place reads `looking` afterwards. So one of the two
  *     sees the other. `looking` is set once the thread has been started, under the same lock. Where it cannot be started, nothing
  *     is put off.
  *   - **Kinds** share a table without any lock: what is lost or mixed up there makes a group invite too early, or one look too late.
  *     It is cleared as the thread ends: for groups so seldom that it does not see them, it costs more than it spares.
  *
  * Open for tests alone.
  */
private[weir] class Invitations(
    begin: Thread => Unit = _.start(),
    nanos: Long = Tuning.invitationNanos,
    looks: Int = Tuning.invitationLooks
):
  import Invitations.*

  // shared
  private val places = AtomicReferenceArray[Group](Tuning.invitationPlaces * stride)
  private val needless = new Array[Byte](kinds)
  @volatile private var looking = false

  private val refusals = Refusals()

  /** Whether groups of this kind have needed nobody for so long that an invitation can wait. */
  def canWait(kind: Int): Boolean = needless(kind & (kinds - 1)) >= Tuning.needlessInvitations

  /** Notes how long a group of this kind took; `Long.MaxValue` for one in which a child has waited. A short one has needed nobody.
    * Another weighs as much as the short ones that have saved the time that it took.
    */
  def learn(kind: Int, nanos: Long): Unit =
    val at = kind & (kinds - 1)
    val before = needless(at)
    if nanos >= Tuning.shortGroupNanos then
      val weight = math.min(nanos / Tuning.savedNanos, Tuning.needlessInvitations)
      needless(at) = math.max(0, before - weight).toByte
    else if before < Byte.MaxValue then needless(at) = (before + 1).toByte

  /** Puts off the invitation of `group`, on the shard `home`. Returns the place for `take`; -1 if the group has to invite now. */
  def putOff(home: Int, group: Group): Int =
    val place = (home & (Tuning.invitationPlaces - 1)) * stride
    if !looking && !start() || !places.compareAndSet(place, null, group) then -1
    else if looking || start() || !take(place, group) then place // it may have ended meanwhile
    else -1

  /** True if the invitation of `group` was still put off; from now on it is the caller's. */
  def take(place: Int, group: Group): Boolean = places.compareAndSet(place, group, null)

  /** True if the thread is there. For tests. */
  def isLooking: Boolean = looking

  /** True if the thread is there, or has been started. */
  protected def start(): Boolean = refusals.mayAsk && synchronized {
    if !looking && refusals.mayAsk then
      try
        val seen = new Array[Group | Null](places.length)
        begin(
          Thread
            .ofPlatform()
            .daemon()
            .name("weir-invitations")
            .inheritInheritableThreadLocals(false)
            .unstarted(() => look(seen))
        )
        looking = true
        refusals.granted()
      catch case _: Throwable => refusals.refused() // the caller can invite
    looking
  }

  private def look(seen: Array[Group | Null]): Unit =
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

  /** False if another thread looks by now. */
  private def goOn(): Boolean = synchronized {
    val alone = !looking
    looking = true
    alone
  }

  /** True also where it cannot be told: whatever is thrown here, out of memory above all, the thread must stay. */
  private def sees(seen: Array[Group | Null]): Boolean =
    try lookAt(seen)
    catch case _: Throwable => true

  /** Invites for those that were there at the last look, and for those whose thread is blocked. True if there was any. */
  private def lookAt(seen: Array[Group | Null]): Boolean =
    var any = false
    var place = 0
    while place < places.length do
      val group = places.get(place)
      if group ne null then
        any = true
        if ((group eq seen(place)) || group.isBlocked) && take(place, group) then
          invite(place, group)
      seen(place) = group
      place += stride
    any

  /** Where there is no memory, again at the next look. */
  private def invite(place: Int, group: Group): Unit =
    var done = false
    while !done do
      try
        group.inviteLate()
        done = true
      catch
        case _: Throwable =>
          done = places.compareAndSet(place, null, group)
          if !done then pause() // another one stands there

  private def pause(): Unit =
    LockSupport.parkNanos(this, nanos)
    Thread.interrupted(): Unit // or it would not wait any more

private[weir] object Invitations:
  /** Children whose invitation has been put off. */
  private[weir] trait Group:
    /** True if the thread does not run, as far as can be seen. */
    def isBlocked: Boolean

    /** Makes the invitation that was put off. Called again where it has thrown. */
    def inviteLate(): Unit

  private inline val kinds = 256

  /** Places stand this far from each other, so that no two are on one cache line. */
  private inline val stride = 16

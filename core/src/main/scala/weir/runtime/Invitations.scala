package weir.runtime

import java.util.concurrent.atomic.AtomicReferenceArray
import java.util.concurrent.locks.LockSupport

/** Invitations that groups of children put off, as groups of their kind have lately needed nobody.
  *
  * To invite, the runner of a group raises the standby, which takes him up to ten times as long as 1,000 ready children do, and
  * a standby that goes on searching takes a core. A group that has put it off invites as soon as a child is not ready. Where a
  * child blocks or computes, a thread of its own invites, within two of its looks.
  *
  *   - **Places**: whoever takes a group out of its place, by CAS, has to invite for it: its runner, unless it has ended, or the
  *     thread. Who finds the place taken invites at once.
  *   - **The thread** is one of the operating system, and runs no code of users'. It ends when it has not seen any group for a while:
  *     it writes `looking`, then looks once more; who puts a group into a place reads `looking` afterwards. So one of the two
  *     sees the other. Where it cannot be started, nothing is put off.
  *   - **Kinds** share a table without any lock: what is lost or mixed up there makes a group invite too early, or one look too late.
  */
private[weir] final class Invitations(
    begin: Thread => Unit = _.start(),
    nanos: Long = Tuning.invitationNanos,
    looks: Int = Tuning.invitationLooks
):
  import Invitations.*

  // shared
  private val places = AtomicReferenceArray[Group](Tuning.invitationPlaces * stride)
  private val needless = new Array[Byte](kinds)
  @volatile private var looking = false

  /** Whether groups of this kind have needed nobody for so long that an invitation can wait. */
  def canWait(kind: Int): Boolean = needless(kind & (kinds - 1)) >= Tuning.needlessInvitations

  /** Notes whether a group of this kind has needed nobody. */
  def learn(kind: Int, wasNeedless: Boolean): Unit =
    val at = kind & (kinds - 1)
    val before = needless(at)
    if !wasNeedless then { if before != 0 then needless(at) = 0 }
    else if before < Tuning.needlessInvitations then needless(at) = (before + 1).toByte

  /** Puts off the invitation of `group`, on the shard `home`. Returns the place for `take`; -1 if the group has to invite now. */
  def putOff(home: Int, group: Group): Int =
    val place = (home & (Tuning.invitationPlaces - 1)) * stride
    if !places.compareAndSet(place, null, group) then -1
    else if looking || start() || !take(place, group) then place
    else -1

  /** True if the invitation of `group` is still put off: then it has to be made by the caller, if at all. */
  def take(place: Int, group: Group): Boolean = places.compareAndSet(place, group, null)

  /** True if the thread is there. */
  def isLooking: Boolean = looking

  private def start(): Boolean = synchronized {
    if !looking then
      try
        looking = true
        begin(Thread.ofPlatform().daemon().name("weir-invitations").unstarted(() => look()))
      catch case _: Throwable => looking = false // the caller can invite
    looking
  }

  private def look(): Unit =
    val seen = new Array[Group | Null](places.length)
    var quiet = 0
    var here = true
    while here do
      LockSupport.parkNanos(this, nanos)
      quiet = if lookAt(seen) then 0 else quiet + 1
      if quiet >= looks then
        looking = false
        here = lookAt(seen) && goOn()
        quiet = 0

  /** False if another thread looks by now. */
  private def goOn(): Boolean = synchronized {
    val alone = !looking
    looking = true
    alone
  }

  /** Invites for those that were there at the last look, and for those whose thread is blocked. True if there was any. */
  private def lookAt(seen: Array[Group | Null]): Boolean =
    var any = false
    var place = 0
    while place < places.length do
      val group = places.get(place)
      if group ne null then
        any = true
        if ((group eq seen(place)) || group.isBlocked) && take(place, group) then invite(group)
      seen(place) = group
      place += stride
    any

  private def invite(group: Group): Unit =
    var invited = false
    while !invited do
      try
        group.inviteLate()
        invited = true
      catch case _: Throwable => LockSupport.parkNanos(this, nanos) // no memory

private[weir] object Invitations:
  /** Children that are run by one thread so far. */
  private[weir] trait Group:
    /** True if the thread does not run, as far as can be seen. */
    def isBlocked: Boolean

    /** Makes the invitation that was put off. Called once. */
    def inviteLate(): Unit

  private inline val kinds = 256

  /** Places stand this far from each other, so that no two are on one cache line. */
  private inline val stride = 16

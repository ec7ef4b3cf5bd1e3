package weir.runtime

import java.lang.invoke.{MethodHandles, VarHandle}
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicReferenceArray
import scala.annotation.static
import scala.jdk.CollectionConverters.*
import weir.Spin
import weir.trace.{Roster, Spins, Watch}

/** Runs jobs on virtual threads that may block freely. README.md in this folder has the protocol.
  *
  *   - **Slots**: one for each carrier; a worker runs jobs while it holds one.
  *   - **Standby**: while any job is queued, one worker without a slot is runnable in the JDK's own
  *     scheduler; it is mounted in the moment a carrier gets free.
  *   - **Shards**: bounded queues that every worker takes from; none belongs to a worker.
  *
  * Open for the test kit alone: while nothing extends it, its methods are as good as final to the JIT.
  */
private[weir] class Scheduler(val carriers: Int, ringCapacity: Int):

  // immutable
  private val shardMask = Integer.highestOneBit(carriers * 2 - 1) - 1
  private val shards = Array.fill(shardMask + 1)(Ring(ringCapacity))
  private val inbox = ConcurrentLinkedQueue[Job]()
  private val threads = Worker.threads(Thread.ofVirtual())

  /** A power of two. */
  def shardCount: Int = shardMask + 1

  // shared
  private val slots = AtomicReferenceArray[Worker](carriers * Scheduler.stride)
  private val idle = AtomicReferenceArray[Worker](carriers * Tuning.idleWorkersPerCarrier)

  private val workers = WorkerList(carriers)

  /** Callers of `runSync` that run a slice now, each in a place that its thread's number gives: the last one to come is seen. */
  private val callers = AtomicReferenceArray[Caller](Tuning.callers)

  /** What is done about a spin. */
  @volatile var onSpin: Spin => Unit = spin => System.err.println(s"weir: $spin")

  val watch: Watch = Watch(() => activeHosts, Spins(spin => onSpin(spin)))

  val invitations: Invitations = Invitations()

  /** Fibers that wait. */
  val roster: Roster = Roster()

  /** True from the moment somebody begins to make a standby until that worker gives the role up. */
  @volatile private var standby: Boolean = false

  /** Queues a job from any thread. */
  def submit(job: Job): Unit = submit(job, Thread.currentThread().threadId().toInt)

  /** Queues a job, on the shard `home` if there is room. */
  def submit(job: Job, home: Int): Unit =
    if !shards(home & shardMask).push(job) then inbox.add(job): Unit
    if !standby then raiseStandby() // the read comes after the CAS of the push: see README, race 1

  /** True if a job is queued, also one whose push is not finished. */
  def hasWork: Boolean = hasWork(0)

  /** As `hasWork`, looking at the shard `home` first: the others' counters are in the other carriers' caches. */
  def hasWork(home: Int): Boolean =
    var i = 0
    while i <= shardMask do
      if !shards((home + i) & shardMask).isEmpty then return true
      i += 1
    !inbox.isEmpty

  /** The shard of the only job that is queued, as far as one look can tell; -1 if there is none, or more than one. */
  def onlyJobAt: Int =
    var at = -1
    var sum = 0
    var i = 0
    while i <= shardMask do
      val size = shards(i).size
      if size > 0 then at = i
      sum += size
      i += 1
    if sum == 1 && inbox.isEmpty then at else -1

  /** How many jobs have been taken from `shard`. */
  def takenFrom(shard: Int): Long = shards(shard).taken

  /** True if some worker runs jobs, and none that should is blocked. */
  def allRun: Boolean =
    var running = false
    var i = 0
    while i < carriers do
      val holder = slots.get(i * Scheduler.stride)
      if holder ne null then
        if !holder.isRunnable then return false
        running = true
      i += 1
    running

  /** As `hasWork`, by one read where all is quiet; false also for a moment while work is queued and nobody has become the standby
    * for it yet. For fibers that would give way, which can as well do it the next time.
    */
  def mayHaveWork(home: Int): Boolean = standby && hasWork(home)

  /** A queued job, taken from the shard `home` first. */
  def poll(home: Int): Job | Null =
    var job = shards(home & shardMask).poll()
    var i = 1
    while (job eq null) && i <= shardMask do
      job = steal(shards((home + i) & shardMask), shards(home & shardMask))
      i += 1
    if job eq null then inbox.poll() else job

  /** As `poll`, looking first where the shard `home` would hide something for ever while it is not empty: in the inbox and, in
    * turn, in every shard. `turn` counts the calls.
    */
  def pollStray(home: Int, turn: Int): Job | Null =
    val job = if (turn & 1) == 0 then inbox.poll() else shards((turn >> 1) & shardMask).poll()
    if job eq null then poll(home) else job

  /** The oldest job of the ring `from`. Moves half of the others to the ring `to`: a carrier that came for each job by itself
    * would look at the counters of the other one's ring all the time, and slow both of them down.
    */
  private def steal(from: Ring, to: Ring): Job | Null =
    val job = from.poll()
    if job ne null then
      var left = math.min(from.size / 2, Tuning.stealJobs)
      val moves = left > 0
      while left > 0 do
        val next = from.poll()
        if next eq null then left = 0
        else
          if !to.push(next) then inbox.add(next): Unit
          left -= 1
      if moves && !standby then raiseStandby() // as in submit
    job

  /** Whether a `runSync` on the thread `caller` may run the first slice of its task itself. */
  def runsOn(caller: Thread): Boolean = true

  /** False where all jobs have to come from the queue. */
  def spawns: Boolean = true

  /** Runs `job` on a worker that is started for it, without the standby, if there is a slot by then, and drops it if not. For
    * jobs that all others can do without, in bursts of jobs that block. `slot` is the caller's, which is likely to block, too.
    */
  def spawn(job: Job, slot: Int): Unit =
    try newWorker().start(job, slot)
    catch case _: Throwable => () // it may have been started all the same, so it must not be queued

  // ---- the standby: what Worker calls, in the order of its life ----

  protected def newWorker(): Worker = Worker(this, threads)

  /** Makes an idle or a new worker the standby, unless there is one. */
  def raiseStandby(): Unit =
    if tryStandby() then
      try
        val worker = takeIdle()
        if worker eq null then newWorker().start() else worker.invite()
      catch
        case error: Throwable =>
          standby =
            false // the next submit tries again; the job is queued, so the caller must not see this
          try error.printStackTrace(System.err)
          catch case _: Throwable => ()

  /** True if the calling worker has become the standby. */
  def tryStandby(): Boolean = !standby && Scheduler.Standby.compareAndSet(this, false, true)

  /** As `tryStandby`, if work is queued that no standby is there for. Reads the flag first: the queues' counters are in other carriers'
    * caches, and whoever is the standby looks at them after it has given the role up.
    */
  def tryStandbyForWork(): Boolean = !standby && hasWork && tryStandby()

  /** Gives the role up. The caller must look at the queue afterwards: see README, race 1. */
  def leaveStandby(): Unit = standby = false

  /** A slot for this worker, or -1: first a free one, then one whose holder does not run. */
  def claimSlot(worker: Worker): Int =
    var i = 0
    while i < carriers do
      if claimIfFree(worker, i) then return i
      i += 1
    i = 0
    while i < carriers do
      if claimIfBlocked(worker, i) then return i
      i += 1
    -1

  /** As above, looking first whether the holder of `slot` does not run. */
  def claimSlot(worker: Worker, slot: Int): Int =
    if claimIfBlocked(worker, slot) then slot else claimSlot(worker)

  private def claimIfFree(worker: Worker, slot: Int): Boolean =
    val at = slot * Scheduler.stride
    (slots.get(at) eq null) && slots.compareAndSet(at, null, worker) && {
      worker.claims(fromBlocked = false)
      true
    }

  private def claimIfBlocked(worker: Worker, slot: Int): Boolean =
    val at = slot * Scheduler.stride
    val holder = slots.get(at)
    (holder ne null) && !holder.isRunnable && slots.compareAndSet(at, holder, worker) && {
      worker.claims(fromBlocked = true)
      true
    }

  def holdsSlot(worker: Worker, slot: Int): Boolean = slots.get(slot * Scheduler.stride) eq worker

  /** False if somebody else has it. */
  def freeSlot(worker: Worker, slot: Int): Boolean =
    slots.compareAndSet(slot * Scheduler.stride, worker, null)

  /** False if enough workers are idle, and this one should end. */
  def putIdle(worker: Worker): Boolean =
    var i = 0
    while i < idle.length do
      if (idle.get(i) eq null) && idle.compareAndSet(i, null, worker) then return true
      i += 1
    false

  protected def takeIdle(): Worker | Null =
    var i = 0
    while i < idle.length do
      val worker = idle.get(i)
      if (worker ne null) && idle.compareAndSet(i, worker, null) then return worker
      i += 1
    null

  // ---- who is there ----

  def enter(worker: Worker, slot: Int): Unit = workers.enter(worker, slot)
  def leave(worker: Worker): Unit = workers.leave(worker)

  /** Shows a caller until `leave`. Returns the one that was seen in its place. */
  def enter(caller: Caller): Caller | Null =
    val place = caller.home & (Tuning.callers - 1)
    val before = callers.getOpaque(place)
    callers.setOpaque(place, caller)
    watch.wake()
    before

  /** `before` comes back if it is further down on the same stack; another thread's might have left. */
  def leave(caller: Caller, before: Caller | Null): Unit =
    val place = caller.home & (Tuning.callers - 1)
    if callers.getOpaque(place) eq caller then
      val outer = if (before ne null) && (before.thread eq caller.thread) then before else null
      callers.setOpaque(place, outer)

  /** Those who hold slots, and callers. */
  private def activeHosts: Iterator[Host] =
    (0 until carriers).iterator
      .map(i => slots.get(i * Scheduler.stride))
      .filter(_ ne null) ++ callerHosts

  private def callerHosts: Iterator[Host] =
    (0 until Tuning.callers).iterator.map(callers.getOpaque).filter(_ ne null)

  /** All threads that are in the middle of a slice, blocked ones too, as far as they can be seen. */
  def hosts: Iterator[Host] = workers.iterator ++ callerHosts

  /** The jobs that are queued; some may be missing that are on their way. */
  def queued: Iterator[Job] = shards.iterator.flatMap(_.jobs) ++ inbox.iterator.asScala

  // ---- for tests and reports ----

  /** Slots that are held now: 0 when all is quiet, and never more than there are carriers. */
  def activeWorkers: Int = (0 until carriers).count(i => slots.get(i * Scheduler.stride) ne null)

  def idleWorkers: Int = (0 until idle.length).count(i => idle.get(i) ne null)

  /** True if nothing is queued, no worker is active and none is looking for work. */
  def isQuiet: Boolean = !standby && !hasWork && activeWorkers == 0 && !standby

private[weir] object Scheduler:
  @static private val Standby: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[Scheduler], "standby", classOf[Boolean])

  /** Slots stand this far from each other, so that no two are on one cache line: a worker looks at its own after each slice, and it is
    * written whenever another one comes for a worker that is blocked.
    */
  private inline val stride = 16

  /** As many carriers as the JDK gives to virtual threads. */
  def carriersOfThisJvm: Int =
    val parallelism = Integer.getInteger("jdk.virtualThreadScheduler.parallelism", 0).intValue
    if parallelism > 0 then parallelism else java.lang.Runtime.getRuntime.availableProcessors

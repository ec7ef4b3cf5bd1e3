package weir.runtime

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicReferenceArray
import scala.jdk.CollectionConverters.*

/** Runs jobs on virtual threads that may block freely. README.md in this folder has the protocol.
  *
  *   - **Slots**: one for each carrier. A worker runs jobs while it holds a slot.
  *   - **Standby**: while any job is queued, one worker without a slot is runnable in the JDK's own
  *     scheduler, which mounts it as soon as a carrier is free.
  *   - **Shards**: bounded queues that every worker takes from. None belongs to a worker.
  *
  * This class is not final, for the test kit and tests. While no subclass is loaded, the JIT treats
  * its methods as final.
  */
private[weir] class Scheduler(
    val carriers: Int,
    ringCapacity: Int,
    processorTime: ProcessorTime = ProcessorTime()
):

  // immutable
  private val shardMask = Scheduler.shardsFor(carriers) - 1
  private val shards = Array.fill(shardMask + 1)(Ring(ringCapacity))
  private val queueAges = shards.map(QueueAge(_))
  private val overflow = ConcurrentLinkedQueue[Job]()
  private val threads = Worker.threads(Thread.ofVirtual())

  /** Returns the number of shards, a power of two. */
  def shardCount: Int = shardMask + 1

  // shared
  private val slots = AtomicReferenceArray[Worker]((carriers + 1) * Scheduler.stride)
  private val idle = AtomicReferenceArray[Worker](carriers * Tuning.idleWorkersPerCarrier)

  private val workers = WorkerList(carriers)

  /** The calling threads of `runSync` that run a slice now, at the index that the thread's number
    * gives. Of two with the same index, only the later one is seen.
    */
  private val callers =
    AtomicReferenceArray[CallingThread]((Tuning.callers + 1) * Scheduler.stride)

  /** The listener for fibers that compute for long. */
  @volatile var spinListener: SpinListener = SpinListener.Silent

  val watch: Watch = newWatch()

  protected def newWatch(): Watch =
    Watch(() => activeThreads, Spins(spinListener, processorTime), queues = queueAges.toSeq)

  /** Returns the coarse time: see `Watch.nanosSince`. */
  def ticks: Int = watch.ticks

  /** The counts of fibers that were not counted on a listed worker. */
  private[runtime] val fiberCounts: FiberCounts = FiberCounts()

  /** Returns how many fibers have begun and how they have ended. */
  def fiberSums: FiberSums = fiberCounts.sums + workers.fiberSums

  /** The fibers that wait, for dumps. */
  val fiberRegistry: FiberRegistry = FiberRegistry(shardCount)

  /** Set from the moment at which a thread begins to make a standby until that worker gives up the
    * role. Each submit reads the flag and this object's fields, so the flag is not on their cache
    * lines.
    */
  private val standby = Flag()

  /** Queues a job from any thread. If this throws, the job is not queued. */
  def submit(job: Job): Unit = submit(job, Thread.currentThread().threadId().toInt)

  /** Queues a job on the preferred shard if there is room, or else in the overflow queue. */
  def submit(job: Job, preferredShard: Int): Unit =
    if !shards(preferredShard & shardMask).push(job) then overflowing(job)
    ensureStandby()

  /** Raises the standby, if there is none, for jobs that the caller has queued. Throws nothing,
    * even at the end of the user's stack: the caller would take its jobs for not queued. See
    * README, race 15.
    */
  private inline def ensureStandby(): Unit =
    try if !standby.isSet then raiseStandby() // read after the CAS of the push: race 1
    catch case _: Throwable => ()

  private def overflowing(job: Job): Unit =
    Counters.count(Counters.OverflowPush)
    overflow.add(job): Unit

  /** Returns true if a job is queued, also if its push has begun but is not finished. */
  def hasWork: Boolean = hasWork(0)

  /** As `hasWork`, but looks at the preferred shard first: the counters of the others are in the
    * caches of other carriers.
    */
  def hasWork(preferredShard: Int): Boolean =
    var i = 0
    while i <= shardMask do
      if !shards((preferredShard + i) & shardMask).isEmpty then return true
      i += 1
    !overflow.isEmpty || {
      Counters.count(Counters.EmptyScan)
      false
    }

  /** Returns the shard of the only job that is queued, as far as one look can tell. Returns -1 if
    * there is no job, or more than one, or if the job is in the overflow queue.
    */
  def onlyJobAt: Int =
    var at = -1
    var sum = 0
    var i = 0
    while i <= shardMask do
      val size = shards(i).size
      if size > 0 then at = i
      sum += size
      i += 1
    if sum == 1 && overflow.isEmpty then at else -1

  /** Returns the number of jobs that have been taken from `shard`. */
  def takenFrom(shard: Int): Long = shards(shard).taken

  /** Returns true if some worker holds a slot, and all workers that hold one are runnable. */
  def allRun: Boolean =
    var running = false
    var i = 0
    while i < carriers do
      val holder = slots.get(Scheduler.at(i))
      if holder ne null then
        if !holder.isRunnable then return false
        running = true
      i += 1
    running

  /** As `hasWork`, but needs only one read if nothing is queued. Returns false also for the moment
    * between a push and the `raiseStandby` that follows it. It is for fibers that would yield: they
    * can yield the next time instead.
    */
  def mayHaveWork(preferredShard: Int): Boolean = standby.isSet && hasWork(preferredShard)

  /** Takes a queued job, or returns null: from the preferred shard, or else from another shard, or
    * else from the overflow queue.
    */
  def poll(preferredShard: Int): Job | Null =
    var job = shards(preferredShard & shardMask).poll()
    var i = 1
    while (job eq null) && i <= shardMask do
      job = steal(shards((preferredShard + i) & shardMask), shards(preferredShard & shardMask))
      i += 1
    if job eq null then takeOverflow(shards(preferredShard & shardMask)) else job

  /** The fairness poll: as `poll`, but looks first into the overflow queue and, in turn, every
    * shard. A preferred shard that is never empty would hide their jobs from `poll` for ever.
    * `turn` counts the calls.
    */
  def pollForFairness(preferredShard: Int, turn: Int): Job | Null =
    val job = if (turn & 1) == 0 then overflow.poll() else shards((turn >> 1) & shardMask).poll()
    if job eq null then poll(preferredShard) else job

  /** Takes the oldest job of the overflow queue, or returns null. Moves some of the others to the
    * ring `to`: all carriers write the cache line of the queue's head, and they look at all rings
    * before each look at it.
    */
  private def takeOverflow(to: Ring): Job | Null =
    val job = overflow.poll()
    if job ne null then
      var left = Tuning.overflowJobs
      while left > 0 do
        val next = overflow.poll()
        if next eq null then left = 0
        else
          if !to.push(next) then overflowing(next)
          left -= 1
      if left < Tuning.overflowJobs then ensureStandby()
    job

  /** Takes the oldest job of the ring `from`, or returns null. Moves half of the others to the ring
    * `to`: a carrier that came back for each of these jobs would read the counters of the other
    * carrier's ring all the time, and slow both of them down.
    */
  private def steal(from: Ring, to: Ring): Job | Null =
    val job = from.poll()
    if job ne null then
      Counters.count(Counters.Steal)
      var left = math.min(from.size / 2, Tuning.stealJobs)
      val moves = left > 0
      while left > 0 do
        val next = from.poll()
        if next eq null then left = 0
        else
          Counters.count(Counters.StolenJob)
          if !to.push(next) then overflowing(next)
          left -= 1
      if moves then ensureStandby()
    job

  /** Returns true if a `runSync` on the thread `caller` may run the first slice of its task itself.
    * Returns false in the test kit.
    */
  def runsOn(caller: Thread): Boolean = true

  /** Returns true if `spawn` may be used. Returns false in the test kit, where all jobs have to
    * come from the queue.
    */
  def spawns: Boolean = true

  /** Starts a new worker for `job`, past the queue and the standby. The worker drops the job if it
    * finds no slot. So this is for bursts of jobs that block and whose work others do if need be.
    * `slot` is the caller's slot, which the worker tries first, since the caller is likely to block
    * too.
    */
  def spawn(job: Job, slot: Int): Unit =
    Counters.count(Counters.WorkerStarted)
    try newWorker().start(job, slot)
    catch case _: Throwable => () // it may have started nevertheless, so the job must not be queued

  // ---- the standby: methods that Worker calls, in the order of its life ----

  protected def newWorker(): Worker = Worker(this, threads)

  /** Makes an idle or a new worker the standby, unless there is one. */
  def raiseStandby(): Unit =
    try
      if tryStandby() then
        val worker = takeIdle()
        Counters.count(
          if worker eq null then Counters.WorkerStarted else Counters.WorkerUnparked
        )
        if worker eq null then newWorker().start() else worker.wakeAsStandby()
    catch
      case error: Throwable =>
        // The job is queued, so the caller must not see the error, and the next submit tries again.
        // If another worker has the role, the worst is that a further one gets it too.
        standby.clear()
        try error.printStackTrace(System.err)
        catch case _: Throwable => ()

  /** Raises the standby if work is queued and there is none. Called by the thread of a `runSync`
    * that is about to block, and whose submits may have met the end of the stack: see README, race
    * 15.
    */
  def raiseStandbyForWork(caller: Thread): Unit =
    if !standby.isSet && runsOn(caller) && hasWork then raiseStandby()

  /** Makes the calling worker the standby. Returns false if there is a standby already. */
  def tryStandby(): Boolean = !standby.isSet && {
    val won = standby.trySet()
    Counters.count(if won then Counters.StandbyRaised else Counters.StandbyLost)
    won
  }

  /** As `tryStandby`, but only if work is queued. Reads the flag first: the counters of the queues
    * are in the caches of other carriers, and a standby looks at them after it has given up the
    * role.
    */
  def tryStandbyForWork(): Boolean = !standby.isSet && hasWork && tryStandby()

  /** Gives up the role of the standby. The caller must look at the queues afterwards: see README,
    * race 1.
    */
  def leaveStandby(): Unit = standby.clear()

  /** Takes a slot for `worker`: a free one, or else one whose holder is not runnable. Returns -1 if
    * there is none.
    */
  def takeSlot(worker: Worker): Int =
    var i = 0
    while i < carriers do
      if takeIfFree(worker, i) then return i
      i += 1
    i = 0
    while i < carriers do
      if takeIfBlocked(worker, i) then return i
      i += 1
    -1

  /** As above, but takes `slot` if its holder is not runnable. */
  def takeSlot(worker: Worker, slot: Int): Int =
    if takeIfBlocked(worker, slot) then slot else takeSlot(worker)

  private def takeIfFree(worker: Worker, slot: Int): Boolean =
    val at = Scheduler.at(slot)
    (slots.get(at) eq null) && counted(slots.compareAndSet(at, null, worker)) && {
      Counters.count(Counters.SlotTaken)
      worker.noteSlotTaken(fromBlocked = false)
      true
    }

  private def takeIfBlocked(worker: Worker, slot: Int): Boolean =
    val at = Scheduler.at(slot)
    val holder = slots.get(at)
    (holder ne null) && !holder.isRunnable && counted(slots.compareAndSet(at, holder, worker)) && {
      Counters.count(Counters.BlockedSlotTaken)
      worker.noteSlotTaken(fromBlocked = true)
      true
    }

  private def counted(won: Boolean): Boolean =
    if !won then Counters.count(Counters.SlotLost)
    won

  def holdsSlot(worker: Worker, slot: Int): Boolean = slots.get(Scheduler.at(slot)) eq worker

  /** Frees the slot. Returns false if another worker has taken it meanwhile. */
  def freeSlot(worker: Worker, slot: Int): Boolean =
    slots.compareAndSet(Scheduler.at(slot), worker, null)

  /** Adds the worker to the idle ones. Returns false if enough workers are idle, so that this one
    * should end.
    */
  def putIdle(worker: Worker): Boolean =
    var i = 0
    while i < idle.length do
      if idle.get(i) eq null then
        if idle.compareAndSet(i, null, worker) then return true
        Counters.count(Counters.IdleLost)
      i += 1
    false

  protected def takeIdle(): Worker | Null =
    var i = 0
    while i < idle.length do
      val worker = idle.get(i)
      if worker ne null then
        if idle.compareAndSet(i, worker, null) then return worker
        Counters.count(Counters.IdleLost)
      i += 1
    null

  // ---- the lists of execution threads ----

  def add(worker: Worker, slot: Int): Unit = workers.add(worker, slot)
  def remove(worker: Worker): Unit = workers.remove(worker)

  /** Lists a calling thread until `remove`. Returns the one that was listed at its index before. */
  def add(caller: CallingThread): CallingThread | Null =
    val index = indexOf(caller)
    val before = callers.getOpaque(index)
    callers.setOpaque(index, caller)
    Counters.count(Counters.CallerListed)
    watch.wake()
    before

  /** Removes a calling thread, and lists `before` again if that is further down on the same stack.
    * If `before` belongs to another thread, it may have ended meanwhile, and is not listed again.
    */
  def remove(caller: CallingThread, before: CallingThread | Null): Unit =
    val index = indexOf(caller)
    if callers.getOpaque(index) eq caller then
      val outer = if (before ne null) && (before.thread eq caller.thread) then before else null
      callers.setOpaque(index, outer)

  private def indexOf(caller: CallingThread): Int =
    Scheduler.at(caller.preferredShard & (Tuning.callers - 1))

  /** Returns the holders of slots, and the calling threads. */
  private def activeThreads: Iterator[ExecutionThread] =
    (0 until carriers).iterator
      .map(i => slots.get(Scheduler.at(i)))
      .filter(_ ne null) ++ callingThreads

  private def callingThreads: Iterator[ExecutionThread] =
    (0 until Tuning.callers).iterator
      .map(i => callers.getOpaque(Scheduler.at(i)))
      .filter(_ ne null)

  /** Returns all threads that may be in the middle of a slice, including blocked ones, as far as
    * they are listed.
    */
  def executionThreads: Iterator[ExecutionThread] = workers.iterator ++ callingThreads

  /** Returns the time for which the oldest queued job has waited at least, in nanoseconds; 0 if
    * none has waited for longer than a look of the watch.
    */
  def queueAgeNanos: Long =
    val now = System.nanoTime()
    queueAges.iterator.map(_.nanos(now)).max

  /** Returns the jobs that are queued. A job that is being pushed or moved may be missing. */
  def queued: Iterator[Job] = shards.iterator.flatMap(_.jobs) ++ overflow.iterator.asScala

  // ---- for tests and reports ----

  /** Returns the number of slots that are held: 0 when all is quiet, and never more than there are
    * carriers.
    */
  def activeWorkers: Int = (0 until carriers).count(i => slots.get(Scheduler.at(i)) ne null)

  /** Returns the number of slots whose holder is runnable. */
  def runnableWorkers: Int = (0 until carriers).count { i =>
    val holder = slots.get(Scheduler.at(i))
    (holder ne null) && holder.isRunnable
  }

  def idleWorkers: Int = (0 until idle.length).count(i => idle.get(i) ne null)

  /** Returns true if nothing is queued, no worker is active and none is the standby. */
  def isQuiet: Boolean =
    !standby.isSet && !hasWork && activeWorkers == 0 && !standby.isSet

private[weir] object Scheduler:
  /** The distance of two slots, or of two calling threads, in their array, so that no two are on
    * one cache line. A worker reads its own slot after each slice, and the others are written
    * whenever a blocked holder is replaced. A calling thread is written twice for each `runSync`.
    */
  private inline val stride = 16

  /** Returns the index of the slot or calling thread `i`. The first is not next to the array's
    * length, which is read with each of them.
    */
  private def at(i: Int): Int = (i + 1) * stride

  /** Returns the number of shards for so many carriers: a power of two, at least as large. */
  def shardsFor(carriers: Int): Int = Integer.highestOneBit(carriers * 2 - 1)

  /** Returns the number of carriers that the JDK gives to virtual threads. */
  def carriersOfThisJvm: Int =
    val parallelism = Integer.getInteger("jdk.virtualThreadScheduler.parallelism", 0).intValue
    if parallelism > 0 then parallelism else java.lang.Runtime.getRuntime.availableProcessors

package weir.runtime

import java.util.concurrent.ThreadFactory
import java.util.concurrent.locks.LockSupport

/** A virtual thread that is, in turn, the standby, the holder of a slot, and idle.
  *
  * It starts as the standby, or with a job of its own. README.md in this folder has its states and
  * the causes of their changes.
  */
private[weir] class Worker(scheduler: Scheduler, threads: ThreadFactory)
    extends ExecutionThread(scheduler),
      Runnable,
      Thread.UncaughtExceptionHandler:

  // immutable
  /** The thread. Its handler of uncaught exceptions is this worker: `ExecutionThread.here` finds
    * the worker by it.
    */
  val thread: Thread = threads.newThread(this)
  setHandler()
  def pooled: Boolean = true

  // owner only
  private var slot = 0

  /** The innermost `runSync` on this thread's stack that runs slices. */
  private[runtime] var caller: ExecutionThread | Null = null

  /** The job that this worker runs first once it has a slot, not taken from a queue. */
  private var first: Job | Null = null

  /** True if this worker has freed its slot itself, having found nothing to run. */
  private var isDry = false

  /** The number of slices run since the thread started. It is kept from one activation to the next:
    * each may be shorter than `Tuning.fairnessEvery`, and then no fairness poll would come due.
    */
  private var takes = 0
  private var rests = 0
  private var lastRest = 0L

  // shared
  @volatile private var woken = false

  // under the lock of a stripe of WorkerList
  private[runtime] var stripe = -1
  private[runtime] var previous: Worker | Null = null
  private[runtime] var following: Worker | Null = null

  def preferredShard: Int = slot

  /** Starts this worker as the standby. */
  def start(): Unit = thread.start()

  /** Starts this worker with `job`, which it runs if it gets a slot, preferably `slot`: see
    * `Scheduler.spawn`.
    */
  def start(job: Job, slot: Int): Unit =
    first = job
    this.slot = slot
    thread.start()

  /** Wakes this idle worker as the standby. */
  def wakeAsStandby(): Unit =
    woken = true
    LockSupport.unpark(thread)

  /** Returns false if the worker is blocked, parked or has ended, so that its carrier is free for
    * other threads.
    */
  def isRunnable: Boolean = thread.getState == Thread.State.RUNNABLE

  /** Makes this worker the thread's handler again, in case user code has set another one. */
  private[runtime] def setHandler(): Unit =
    if thread.getUncaughtExceptionHandler ne this then thread.setUncaughtExceptionHandler(this)

  /** Handles the exception as for a thread without a handler. */
  def uncaughtException(thread: Thread, error: Throwable): Unit =
    val group = thread.getThreadGroup // null once the thread has ended
    if group ne null then group.uncaughtException(thread, error)
    else error.printStackTrace(System.err)

  def run(): Unit =
    try if (first eq null) || staysAfterFirst() then live()
    finally scheduler.remove(this)

  private def live(): Unit =
    var alive = true
    while alive do
      if becomeActive() then
        runJobs(takeFirst())
        // A dry worker becomes the standby, if there is none, and searches for a while. A worker
        // that has lost its slot while it was blocked, or has given it up, does so only if work is
        // queued: the worker that has taken the slot is there to search, and other threads that
        // wake up have use for this carrier (decision 0011).
        val stays = if isDry then scheduler.tryStandby() else scheduler.tryStandbyForWork()
        alive = stays || idleWithoutRole()
      else alive = idleFromStandby()

  /** Runs the first job if there is a slot, and then queued jobs. Returns false if this worker
    * should end: it was started for one job, which was likely to block, and does not search for
    * others. During that job this worker is not in the list of workers: a dump finds it by the
    * group that has spawned it.
    *
    * This is not a part of `live`, so that few frames are under the slice: in a burst of jobs that
    * block, the stacks are copied, and take most of the memory (decision 0011).
    */
  private def staysAfterFirst(): Boolean =
    val taken = scheduler.takeSlot(this, slot)
    if taken >= 0 then
      slot = taken
      scheduler.watch.wake()
      runJob(takeFirst().nn)
      runQueued()
    else first = null
    scheduler.tryStandbyForWork() || idleWithoutRole()

  /** Takes the first job out of its field. It must be passed on as an argument and not kept in a
    * local variable: a frame that stays on the stack while this worker is idle would keep the job
    * alive.
    */
  private def takeFirst(): Job | Null =
    val job = first
    first = null
    job

  /** Called as this worker takes a slot. `fromBlocked` is true if the slot was that of a blocked
    * worker.
    */
  private[runtime] def noteSlotTaken(fromBlocked: Boolean): Unit = isReplacing = fromBlocked

  /** Called as the standby, to search for work. Returns true if this worker has a slot, and has
    * given up the role. Returns false if there is no work, and it is still the standby.
    */
  private def becomeActive(): Boolean =
    var rounds = 0
    while rounds < Tuning.searchRounds do
      if scheduler.hasWork && !isTakenByAnother() then
        val taken = scheduler.takeSlot(this)
        if taken >= 0 then
          slot = taken
          if takeDemanded() then
            scheduler.leaveStandby()
            addToList()
            scheduler.watch.wake() // after it has taken the slot: see Watch
            return true
          scheduler.freeSlot(this, slot): Unit
          yieldIfDue(inSlice = false) // there may be needless jobs without an end
          rounds = 0 // spares a wake-up: the next submit finds this worker searching
        else
          // Every holder is runnable: one of them has just yielded to the JDK, and runs next.
          rest()
      else
        rounds += 1
        Counters.count(Counters.SearchRound)
        Pause.nanos(Tuning.searchNanos)
        if (rounds & 3) == 0 then Thread.`yield`()
    false

  /** Takes a job, to be run first. If the job does not need this worker yet, keeps it and waits, as
    * the standby and the holder of a slot, for as long as nothing else is queued. Returns false if
    * the job has turned out to be needless.
    */
  private def takeDemanded(): Boolean =
    val job = scheduler.poll(slot)
    var demand = if job eq null then Job.Now else job.demand
    while demand == Job.Later do
      var looks = 0
      while looks < Tuning.watchLooks && !scheduler.hasWork(slot) do
        Pause.nanos(Tuning.watchNanos)
        looks += 1
      demand = if looks < Tuning.watchLooks then Job.Now else job.nn.demand
    first = if demand == Job.Now then job else null
    demand == Job.Now

  /** Leaves the only queued job to the active workers for a moment: without that, two fibers that
    * wake each other by turns would go back and forth between two carriers. Returns true if an
    * active worker has taken it.
    */
  private def isTakenByAnother(): Boolean =
    val shard = scheduler.onlyJobAt
    shard >= 0 && scheduler.allRun && {
      val before = scheduler.takenFrom(shard)
      Pause.nanos(Tuning.leaveNanos) // without a look, which would slow the active worker down
      scheduler.takenFrom(shard) != before || !scheduler.hasWork
    }

  /** Lets the holders of slots run, and comes back by the JDK's common queue:
    * `ExecutionThread.yieldIfDue` explains why this is not a yield. If one rest follows the other
    * at once, there is a carrier too many (the JDK adds some during file I/O), and rests get
    * longer.
    */
  protected def rest(): Unit =
    Counters.count(Counters.StandbyRest)
    val now = System.nanoTime()
    rests = if now - lastRest < Tuning.yieldAfterNanos / 2 then rests + 1 else 0
    Thread.interrupted(): Unit // or the park would return at once
    parkFor(if rests < Tuning.shortRests then 1L else Tuning.longRestNanos)
    lastRest = System.nanoTime()

  /** Runs `begin`, if it is not null, and then queued jobs until this worker is dry or has lost its
    * slot.
    */
  private def runJobs(begin: Job | Null): Unit =
    if scheduler.hasWork then scheduler.raiseStandby() // the other half of the standby rule
    if begin ne null then runJob(begin)
    runQueued()

  private def runQueued(): Unit =
    var job = nextJob()
    while job ne null do
      runJob(job)
      job = nextJob()

  final protected def runJob(job: Job): Unit =
    if thread.isInterrupted then Thread.interrupted(): Unit // not meant for this fiber
    job.runSlice(this)
    setHandler()
    caller = null // a stack overflow may have left it
    isReplacing = false
    takes += 1
    Counters.count(Counters.Slice)
    if takes % Tuning.slicesPerClock == 0 then yieldIfDue(inSlice = false)

  /** Returns the job to run now. Returns null if this worker is dry, and has freed its slot, or if
    * its slot is gone.
    */
  private def nextJob(): Job | Null =
    var job = takeHandedOver()
    isDry = false
    while (job eq null) && scheduler.holdsSlot(this, slot) do
      job =
        if takes % Tuning.fairnessEvery == 0 then
          scheduler.pollForFairness(slot, takes / Tuning.fairnessEvery)
        else scheduler.poll(slot)
      if job eq null then
        // There may be a push that is not finished. Without this look the standby would take the
        // job, which is only slower.
        if scheduler.hasWork then Thread.onSpinWait()
        else isDry = scheduler.freeSlot(this, slot)
    if job ne null then addToList()
    job

  private def addToList(): Unit =
    if !isListed then
      scheduler.add(this, slot)
      isListed = true

  override protected def giveUpSlot(): Unit = scheduler.freeSlot(this, slot): Unit

  /** Goes idle while another worker is the standby. Returns false if this worker should end. */
  private def idleWithoutRole(): Boolean =
    if scheduler.putIdle(this) then
      parkUntilWoken()
      true
    else false

  /** Gives up the role of the standby and goes idle. Returns false if this worker should end. */
  private def idleFromStandby(): Boolean =
    val kept = scheduler.putIdle(this)
    scheduler.leaveStandby()
    if scheduler.hasWork then scheduler.raiseStandby() // maybe this very worker
    if kept then parkUntilWoken()
    kept

  private def parkUntilWoken(): Unit =
    running = null // an idle worker must not keep a fiber alive that has ended
    while !woken do
      LockSupport.park(this)
      Thread.interrupted(): Unit // or park would return at once, for ever
    woken = false

private[weir] object Worker:
  /** Returns a factory of the threads of workers. */
  def threads(builder: Thread.Builder): ThreadFactory =
    builder.name("weir-worker").inheritInheritableThreadLocals(false).factory()

/** Lists, for dumps, the workers that have run a job and not ended, including blocked ones. A
  * worker that was spawned is listed only once it runs a second job.
  *
  * In a burst of tasks that block, each task has a worker of its own, so adding and removing must
  * cost very little. The workers themselves are the links of a list, under a lock that is held for
  * a few instructions. Each slot has a list, so that carriers seldom wait for each other's lock.
  */
private[runtime] final class WorkerList(slots: Int):
  private val stripes = Array.fill(slots)(WorkerList.Stripe())

  /** Returns the counts of the workers that are listed and of those that have ended. */
  def fiberSums: FiberSums = stripes.iterator.map(_.fiberSums).foldLeft(FiberSums.none)(_ + _)

  /** Adds a worker. Must be called once by `worker`, which holds `slot`. */
  def add(worker: Worker, slot: Int): Unit =
    Counters.count(Counters.WorkerListed)
    stripes(slot).add(worker)
    worker.stripe = slot

  /** Removes a worker. Must be called by `worker` as it ends. */
  def remove(worker: Worker): Unit =
    if worker.stripe >= 0 then stripes(worker.stripe).remove(worker)

  def iterator: Iterator[Worker] = stripes.iterator.flatMap(_.workers)

private[runtime] object WorkerList:
  private object Stripe:
    def apply(): Stripe = new Padded

    /** A stripe that shares no cache line with another one. */
    private final class Padded extends Stripe, Padding

  private abstract class Stripe:
    // shared, under this object's lock, as are the links of the workers in it
    private var first: Worker | Null = null

    /** The counts of the workers that have been in this list and have ended. */
    private var ended = FiberSums.none

    def add(worker: Worker): Unit = synchronized {
      val next = first
      worker.following = next
      if next ne null then next.previous = worker
      first = worker
    }

    def remove(worker: Worker): Unit = synchronized {
      val previous = worker.previous
      val next = worker.following
      if previous eq null then first = next else previous.following = next
      if next ne null then next.previous = previous
      worker.previous = null
      worker.following = null
      ended += FiberSums.of(worker)
    }

    def workers: List[Worker] = synchronized(iterator.toList)

    /** Under the lock, so that a worker that ends is counted once, and no sum gets smaller. */
    def fiberSums: FiberSums =
      synchronized(iterator.foldLeft(ended)((sums, worker) => sums + FiberSums.of(worker)))

    private def iterator: Iterator[Worker] =
      Iterator.iterate(first)(_.nn.following).takeWhile(_ ne null).map(_.nn)

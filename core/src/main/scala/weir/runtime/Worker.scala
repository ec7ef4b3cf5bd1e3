package weir.runtime

import java.util.concurrent.ThreadFactory
import java.util.concurrent.locks.LockSupport

/** A virtual thread that is, in turn, the standby, the holder of a slot, and idle.
  *
  * It begins as the standby, or with a job in hand. README.md in this folder has the states and who moves which.
  */
private[weir] class Worker(scheduler: Scheduler, threads: ThreadFactory)
    extends Host(scheduler),
      Runnable,
      Thread.UncaughtExceptionHandler:

  // immutable
  /** Its handler is this worker, by which `Host.here` finds it. */
  val thread: Thread = threads.newThread(this)
  beFound()
  def pooled: Boolean = true

  // owner only
  private var slot = 0

  /** The innermost `runSync` that stands on this thread's stack and runs slices. */
  private[runtime] var caller: Caller | Null = null

  /** The job with which this worker begins. */
  private var first: Job | Null = null

  /** Whether it has freed its slot by itself, having found nothing to run. */
  private var isDry = false
  private var takes = 0 // over all activations: they may be shorter than Tuning.strayEvery
  private var rests = 0
  private var lastRest = 0L

  // shared
  @volatile private var invited = false

  // the list's
  private[runtime] var stripe = -1
  private[runtime] var previous: Worker | Null = null
  private[runtime] var following: Worker | Null = null

  def home: Int = slot

  /** Starts this worker as the standby. */
  def start(): Unit = thread.start()

  /** Starts this worker with a job in hand, to look first at `slot`: see `Scheduler.spawn`. */
  def start(job: Job, slot: Int): Unit =
    first = job
    this.slot = slot
    thread.start()

  /** Wakes this idle worker as the standby. */
  def invite(): Unit =
    invited = true
    LockSupport.unpark(thread)

  /** False if the worker is blocked, parked or gone, so that its carrier does something else. */
  def isRunnable: Boolean = thread.getState == Thread.State.RUNNABLE

  /** Undoes it where code that has run on this thread has set another handler. */
  private[runtime] def beFound(): Unit =
    if thread.getUncaughtExceptionHandler ne this then thread.setUncaughtExceptionHandler(this)

  /** As for a thread without a handler. */
  def uncaughtException(thread: Thread, error: Throwable): Unit =
    val group = thread.getThreadGroup // null once the thread has ended
    if group ne null then group.uncaughtException(thread, error)
    else error.printStackTrace(System.err)

  def run(): Unit =
    try if (first eq null) || staysAfterFirst() then live()
    finally scheduler.leave(this)

  private def live(): Unit =
    var alive = true
    while alive do
      if becomeActive() then
        runJobs(takeFirst())
        // Dry: if nobody is the standby, stay and search as the standby. Without its slot, which it has lost as it blocked or has given
        // up: whoever has taken that is there to search, and others that wake up have use for this carrier (decision 0011).
        val stays = if isDry then scheduler.tryStandby() else scheduler.tryStandbyForWork()
        alive = stays || idleWithoutRole()
      else alive = idleFromStandby()

  /** Runs the job in hand, if there is a slot, and what comes after it. False if this worker should end: it has come for one job, which
    * was likely to block, and searches for no other. Not listed for that job: a dump finds it by the group that has spawned it.
    *
    * Apart from `live`, and with few frames under the slice: in a burst of jobs that block, the stacks are what is copied, and what
    * lies in memory (decision 0011).
    */
  private def staysAfterFirst(): Boolean =
    val claimed = scheduler.claimSlot(this, slot)
    if claimed >= 0 then
      slot = claimed
      scheduler.watch.wake()
      if scheduler.hasWork then scheduler.raiseStandby() // the other half of the standby rule
      runJob(takeFirst().nn)
      runOn()
    else first = null
    scheduler.tryStandbyForWork() || idleWithoutRole()

  /** The job in hand, for an argument and no variable: a frame that stays while this worker is idle would keep the job alive. */
  private def takeFirst(): Job | Null =
    val job = first
    first = null
    job

  /** Notes, as it claims a slot, whether that was the slot of a worker that is blocked. */
  private[runtime] def claims(fromBlocked: Boolean): Unit = isReplacing = fromBlocked

  /** As the standby: true with a slot, and the role given up; false, still the standby, if there is
    * nothing to do.
    */
  private def becomeActive(): Boolean =
    var rounds = 0
    while rounds < Tuning.searchRounds do
      if scheduler.hasWork && !isTakenByAnother() then
        val claimed = scheduler.claimSlot(this)
        if claimed >= 0 then
          slot = claimed
          if takeNeeded() then
            scheduler.leaveStandby()
            beListed()
            scheduler.watch.wake() // after the claim of the slot: see Watch
            return true
          scheduler.freeSlot(this, slot): Unit
          yieldIfDue(inSlice = false) // one needless job may follow the other without an end
          rounds = 0
        else
          // Every holder is runnable: one of them has just yielded to the JDK, and is next.
          rest()
      else
        rounds += 1
        Pause.nanos(Tuning.searchNanos)
        if (rounds & 3) == 0 then Thread.`yield`()
    false

  /** Takes a job, which may not need this worker yet: then waits with it in hand, as the standby and holder of a slot, for as
    * long as nothing else is queued. False if the job has turned out to be needless.
    */
  private def takeNeeded(): Boolean =
    val job = scheduler.poll(slot)
    var need = if job eq null then Job.Now else job.need
    while need == Job.Later do
      var looks = 0
      while looks < Tuning.watchLooks && !scheduler.hasWork(slot) do
        Pause.nanos(Tuning.watchNanos)
        looks += 1
      need = if looks < Tuning.watchLooks then Job.Now else job.nn.need
    first = if need == Job.Now then job else null
    need == Job.Now

  /** Leaves the only job that is queued to those who run jobs, for a moment: a fiber that wakes another one and then waits would
    * go back and forth between two carriers with it. True if one of them has taken it.
    */
  private def isTakenByAnother(): Boolean =
    val shard = scheduler.onlyJobAt
    shard >= 0 && scheduler.allRun && {
      val before = scheduler.takenFrom(shard)
      Pause.nanos(Tuning.leaveNanos) // without a look: each would slow down the one who runs
      scheduler.takenFrom(shard) != before || !scheduler.hasWork
    }

  /** Lets the holders run, and comes back by the JDK's common queue: see `Host.yieldIfDue` for why this is not a
    * yield. Where one rest follows the other at once there is a carrier to spare (the JDK adds some during file
    * I/O), and rests get longer.
    */
  protected def rest(): Unit =
    val now = System.nanoTime()
    rests = if now - lastRest < Tuning.yieldAfterNanos / 2 then rests + 1 else 0
    Thread.interrupted(): Unit // or the park would return at once
    LockSupport.parkNanos(if rests < Tuning.shortRests then 1L else Tuning.longRestNanos)
    lastRest = System.nanoTime()

  /** Runs `begin`, if there is any, and what comes after it. */
  private def runJobs(begin: Job | Null): Unit =
    if scheduler.hasWork then scheduler.raiseStandby() // the other half of the standby rule
    if begin ne null then runJob(begin)
    runOn()

  private def runOn(): Unit =
    var job = nextJob()
    while job ne null do
      runJob(job)
      job = nextJob()

  private def runJob(job: Job): Unit =
    if thread.isInterrupted then Thread.interrupted(): Unit // not meant for this fiber
    job.runSlice(this)
    beFound()
    caller = null // a stack overflow may have left it
    isReplacing = false
    takes += 1
    if takes % Tuning.slicesPerClock == 0 then yieldIfDue(inSlice = false)

  /** What to run now; null if this worker is dry, and has freed its slot, or has found it gone. */
  private def nextJob(): Job | Null =
    var job = takeHandedOver()
    isDry = false
    while (job eq null) && scheduler.holdsSlot(this, slot) do
      job =
        if takes % Tuning.strayEvery == 0 then scheduler.pollStray(slot, takes / Tuning.strayEvery)
        else scheduler.poll(slot)
      if job eq null then
        if scheduler.hasWork then Thread.onSpinWait() // a push that is not finished
        else isDry = scheduler.freeSlot(this, slot)
    if job ne null then beListed()
    job

  private def beListed(): Unit = if stripe < 0 then scheduler.enter(this, slot)

  override protected def giveUpSlot(): Unit = scheduler.freeSlot(this, slot): Unit

  /** Idle while somebody else is the standby. False if this worker should end. */
  private def idleWithoutRole(): Boolean =
    if scheduler.putIdle(this) then
      awaitInvitation()
      true
    else false

  /** Gives up the role of the standby and goes idle. False if this worker should end. */
  private def idleFromStandby(): Boolean =
    val kept = scheduler.putIdle(this)
    scheduler.leaveStandby()
    if scheduler.hasWork then scheduler.raiseStandby() // maybe this very worker
    if kept then awaitInvitation()
    kept

  private def awaitInvitation(): Unit =
    running = null // nobody may keep a fiber alive that has ended
    while !invited do
      LockSupport.park(this)
      Thread.interrupted(): Unit // or park would return at once, for ever
    invited = false

private[weir] object Worker:
  /** Makes the threads of workers. */
  def threads(builder: Thread.Builder): ThreadFactory =
    builder.name("weir-worker").inheritInheritableThreadLocals(false).factory()

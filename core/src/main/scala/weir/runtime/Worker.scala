package weir.runtime

import java.util.concurrent.locks.LockSupport

/** A virtual thread that is, in turn, the standby, the holder of a slot, and idle.
  *
  * It begins as the standby, or with a job in hand. README.md in this folder has the states and who moves which.
  */
private[weir] class Worker(scheduler: Scheduler, threads: Thread.Builder)
    extends Host(scheduler),
      Runnable:

  // immutable
  val thread: Thread =
    threads.name("weir-worker").inheritInheritableThreadLocals(false).unstarted(this)
  def pooled: Boolean = true

  // owner only
  private var slot = 0

  /** The job with which this worker begins. */
  private var first: Job | Null = null
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

  /** Starts this worker with a job in hand: see `Scheduler.spawn`. */
  def start(job: Job): Unit =
    first = job
    thread.start()

  /** Wakes this idle worker as the standby. */
  def invite(): Unit =
    invited = true
    LockSupport.unpark(thread)

  /** False if the worker is blocked, parked or gone, so that its carrier does something else. */
  def isRunnable: Boolean = thread.getState == Thread.State.RUNNABLE

  def run(): Unit = ScopedValue.where(Host.current, this).run(() => live())

  private def live(): Unit =
    try liveOn()
    finally scheduler.leave(this)

  private def liveOn(): Unit =
    var alive = true
    if first ne null then
      beginWithFirst()
      alive = scheduler.tryStandby() || idleWithoutRole()
    while alive do
      if becomeActive() then
        runJobs()
        // Dry, or replaced while blocked. If nobody is the standby, stay and search as the standby.
        alive = scheduler.tryStandby() || idleWithoutRole()
      else alive = idleFromStandby()

  /** Not listed for its first job: a dump finds that by the group that has spawned it. */
  private def beginWithFirst(): Unit =
    val claimed = scheduler.claimSlot(this)
    if claimed >= 0 then
      slot = claimed
      scheduler.watch.wake()
      runJobs()
    else first = null

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
          scheduler.freeSlot(this, slot)
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

  /** Runs jobs while this worker holds its slot and there are any. */
  private def runJobs(): Unit =
    var job = if first ne null then first else scheduler.poll(slot)
    first = null
    if scheduler.hasWork then scheduler.raiseStandby() // the other half of the standby rule
    var holding = true
    while holding do
      if job ne null then
        if thread.isInterrupted then Thread.interrupted(): Unit // not meant for this fiber
        job.runSlice(this)
        isReplacing = false
        takes += 1
        if takes % Tuning.slicesPerClock == 0 then yieldIfDue(inSlice = false)
      else if !scheduler.hasWork then
        scheduler.freeSlot(this, slot)
        holding = false
      else Thread.onSpinWait() // a push that is not finished
      val next = takeHandedOver()
      if next ne null then job = next
      else if holding then
        holding = scheduler.holdsSlot(this, slot)
        job =
          if !holding then null
          else if takes % Tuning.strayEvery == 0 then
            scheduler.pollStray(slot, takes / Tuning.strayEvery)
          else scheduler.poll(slot)
      if job ne null then beListed()

  private def beListed(): Unit = if stripe < 0 then scheduler.enter(this, slot)

  override protected def giveUpSlot(): Unit = scheduler.freeSlot(this, slot)

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

package weir.testkit.explore

import weir.fiber.{FiberCore, Waiter}
import weir.runtime.{ExecutionThread, Job}
import weir.testkit.VirtualThreads
import weir.testkit.agent.Site
import weir.{ContextHook, WeirRuntime}

/** Runs the strands of a program one at a time, on the thread that drives it, as the strategy
  * decides.
  *
  * That thread carries the virtual threads of the program. One of them runs until it waits, ends,
  * or touches a shared object. Then the strategy is asked, and if it names another strand, the
  * thread yields. So an order is a list of choices, and the same choices give the same run.
  */
private[testkit] abstract class StrandRunner(limits: StepLimits) extends StrandChoices(limits):
  protected val carrier = Carrier()
  carrier.execution = this
  protected val threads = weir.runtime.Worker.threads(VirtualThreads.on(carrier))
  protected var runtime = newRuntime()
  protected def scheduler = runtime.scheduler.asInstanceOf[ExploreScheduler]

  /** Returns the stack of the thread that runs. May be called from any thread. */
  def stackOfCarried: List[StackTraceElement] =
    val thread = carried
    if thread eq null then Nil else thread.getStackTrace.toList.take(20)

  protected def newRuntime(): WeirRuntime =
    new WeirRuntime(ExploreScheduler(this, threads), clock, ContextHook.installed):
      override private[weir] def begun(fiber: FiberCore): Unit = add(fiber)
      override private[weir] def waitsOutside(waiter: Waiter): Unit = outsiders.awaits(waiter)
      override private[weir] def report(where: String, error: Throwable): Unit = ()

  protected def callsElsewhere: Boolean = runtime.platformThreads.running > 0

  /** Runs until nothing can run any more. Returns false after too many steps. */
  protected def goThrough(): Boolean =
    var next = decideOutside(null, continues = false)
    while (next ne null) && point.step < mostSteps && !isAbandoned do
      chosen = null
      resume(next)
      next = nextAfter(next)
    next eq null

  /** Returns the strand that runs once `ran` has left the carrier. A strand that disturbs does not
    * count as having run.
    */
  private def nextAfter(ran: Strand): Strand | Null =
    if chosen ne null then chosen
    else if ran ne disturbing then decideOutside(ran, continues = false)
    else
      val previous = disturbed
      decideOutside(previous, (previous ne null) && goesOn && isEnabled(previous.nn))

  /** Lets `strand` run until it leaves the carrier. */
  protected def resume(strand: Strand): Unit =
    strand.state = Strand.Running
    current = strand
    if strand eq clockMover then moveClock(strand) else carry(strand)
    if thrown ne null then throw thrown.nn

  /** Moves the clock, on the driver. Touches nothing of the program's. */
  private def moveClock(mover: Strand): Unit =
    carried = driver
    mover.state = Strand.Blocked
    jump(): Unit
    current = null

  /** The error of an alarm, or of the action that disturbs; null for none. */
  private var thrown: Throwable | Null = null

  protected def jobOf(action: () => Unit): Job = new Job:
    def runSlice(on: ExecutionThread): Unit =
      try action()
      catch
        case _: Abandoned => ()
        case error: Throwable => thrown = error

  protected def ring(strand: Strand): Unit =
    val alarm = strand.alarm.nn
    objects.touch(objects.of(alarm), "", Site.WRITE, strand)
    if !strand.isRemoved then
      if recorder ne null then recorder.nn.rings(strand, clock.elapsedNanos)
      alarm.ring()

  private def carry(strand: Strand): Unit =
    val mount = strand.mount match
      case mount: Mount => mount
      case null => mounted(strand)
    carried = mount.thread
    if strand.isInJdk then
      strand.isInJdk = false
      if strand.latest ne null then
        objects.touch(strand.latest.nn, strand.latestField, Site.WRITE, strand)
    mount.continuation.run()
    current = null
    if mount.thread.getState == Thread.State.TERMINATED then
      mounts.remove(mount.continuation): Unit
      if mount.worker eq null then
        objects.touch(objects.of(mount.thread), "", Site.WRITE, strand)
        strand.state = Strand.Ended
    // The strand is where it was, or on another thread by now. If its state is still `Running`, it
    // waits.
    mount.strand match
      case last: Strand if last.state == Strand.Running =>
        last.state = Strand.Blocked
        last.isInJdk = last.mount eq mount
        if recorder ne null then recorder.nn.waits(last)
      case _ => ()

  /** Returns an idle worker's thread, which continues with the slice of `strand`. */
  private def mounted(strand: Strand): Mount =
    val worker = if idle.isEmpty then scheduler.worker() else idle.remove(idle.length - 1)
    if worker.mount eq null then
      starting = worker
      worker.next = strand.job
      worker.thread.start()
    mount(worker, strand)
    worker.mount.nn

  private def mount(worker: ExploreWorker, strand: Strand): Unit =
    val mount = worker.mount.nn
    worker.next = strand.job
    strand.job = null
    strand.mount = mount
    mount.strand = strand
    if strand eq disturbing then
      disturbed = if point.previous < 0 then null else strands(point.previous)
      goesOn = point.continues

  /** The strand that had taken the step before the program was disturbed, and whether it could go
    * on.
    */
  private var disturbed: Strand | Null = null
  private var goesOn = false

  // ---- reports of the scheduler and the JDK ----

  protected def add(fiber: FiberCore): Unit =
    val strand = add()
    strand.fiber = fiber
    byFiber.put(fiber, strand): Unit
    if recorder ne null then recorder.nn.begins(strand)

  /** Reports that `job` can run. */
  def submit(job: Job): Unit = job match
    case fiber: FiberCore =>
      val strand = byFiber.get(fiber)
      if strand ne null then
        strand.job = job
        strand.mount = null
        wake(strand)
    case _ => ()

  private def wake(strand: Strand): Unit =
    strand.state = Strand.Ready
    val by = current
    if (by ne null) && (by ne strand) then strand.after(by.clock)

  /** Reports that a virtual thread was started, or can go on. */
  def canGoOn(continuation: Runnable): Unit =
    if isOnDriver then ready(continuation) else outsiders.arrive(continuation)

  private def isOnDriver: Boolean =
    val here = Thread.currentThread()
    (here eq driver) || (here eq carried)

  protected def ready(continuation: Runnable): Unit =
    mounts.get(continuation) match
      case null => if driver ne null then started(continuation)
      case mount if mount.run == runs || (mount.worker ne null) =>
        val strand = mount.strand
        if (strand ne null) && (strand.mount eq mount) && strand.state != Strand.Ended then
          if strand.awaits ne null then
            strand.wants = strand.awaits
            if strand.state != Strand.Ready then monitors.canGoOn(strand.awaits.nn)
          wake(strand)
      case _ => ()

  private def started(continuation: Runnable): Unit =
    VirtualThreads.threadOf(continuation) match
      case null => ()
      case thread =>
        val mount = Mount(continuation, thread, runs)
        mounts.put(continuation, mount): Unit
        val worker = starting
        if worker ne null then
          starting = null
          mount.worker = worker
          worker.mount = mount
        else
          val strand = add()
          strand.ownThread = mount
          strand.mount = mount
          mount.strand = strand
          strand.state = Strand.Ready

  /** Called by a worker after each slice. Returns with the next slice in `worker.next`. */
  def sliceEnded(worker: ExploreWorker): Unit =
    val mount = worker.mount.nn
    val ended = mount.strand
    mount.strand = null
    current = null
    if ended.nn.mount eq mount then ended.nn.mount = null
    if ended.nn.state == Strand.Running then
      val fiber = ended.nn.fiber
      if (fiber eq null) || (fiber.nn.outcome ne null) then ended.nn.state = Strand.Ended
      else
        ended.nn.state = Strand.Blocked
        if recorder ne null then recorder.nn.waits(ended.nn)
    // After the action that disturbs, the driver finds the strand that was disturbed.
    val next = if ended eq disturbing then null else decide(ended, continues = false)
    if (next ne null) && (next.nn.job ne null) && point.step < mostSteps then
      next.nn.state = Strand.Running
      this.mount(worker, next.nn)
      current = next
    else
      chosen = next
      idle += worker
      while worker.next eq null do Thread.`yield`()

  // ---- switching ----

  protected def here: Strand | Null = if Thread.currentThread() eq carried then current else null

  protected def choosing(strand: Strand, continues: Boolean): Unit =
    if isAbandoned then throw Abandoned()
    current = null
    strand.state = Strand.Ready
    val next =
      if point.step < mostSteps then decide(strand, continues && isEnabled(strand)) else null
    if next eq strand then
      strand.state = Strand.Running
      current = strand
    else
      chosen = next
      if recorder ne null then { if continues then recorder.nn.preempted(strand) }
      leave(strand)

  /** Gives up the carrier until the strand is chosen. */
  private def leave(strand: Strand): Unit =
    Thread.`yield`()
    if current ne strand then
      // It has not left: its thread runs a native method. The chosen strand has to wait.
      strand.state = Strand.Running
      val refused = chosen
      if refused ne null then refuse(strand, refused)
      begin(strand): Unit
      current = strand

  private def refuse(strand: Strand, refused: Strand): Unit =
    chosen = null
    point.step -= 1
    progress -= 2 // this step and the one that begins again: a thread that never leaves hangs
    refused.clock = refused.before
    if point.isPreemption(refused.id) then preemptions -= 1
    if choices.nonEmpty && choices.last._1 == point.step then
      choices.dropRightInPlace(1)
      if strand.id != point.default then choices += ((point.step, strand.id))
    strategy.refused(point, strand.id)

  /** Lets the calling thread's strand give up its turn. */
  def yieldHere(): Unit =
    val strand = here
    if strand ne null then choosing(strand, continues = false) else Thread.`yield`()

/** Ends the code of an exploration that nobody waits for any more. */
private[explore] final class Abandoned
    extends Error("The exploration has hung, and was abandoned.", null, false, false)

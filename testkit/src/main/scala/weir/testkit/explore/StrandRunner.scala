package weir.testkit.explore

import java.util.IdentityHashMap
import scala.collection.mutable.ArrayBuffer
import weir.fiber.{FiberCore, TaskFiber, Waiter}
import weir.runtime.{Alarm, Job}
import weir.testkit.VirtualThreads
import weir.testkit.agent.Site
import weir.{ContextHook, Runtime}

/** Runs the strands of a program one at a time, on the thread that drives it, as the strategy says.
  *
  * The virtual threads of the program are carried by that thread. One of them runs until it waits,
  * ends, or touches something shared: there the strategy is asked, and where it names another
  * strand, the thread yields. So an order is a list of choices, and the same choices give the same
  * run.
  */
private[testkit] abstract class StrandRunner(limits: StepLimits):
  protected val carrier = Carrier()
  carrier.execution = this
  protected val threads = weir.runtime.Worker.threads(VirtualThreads.on(carrier))
  val clock: ExploreClock = ExploreClock(removed)
  protected var runtime = newRuntime()
  protected def scheduler = runtime.scheduler.asInstanceOf[ExploreScheduler]
  protected val monitors = Monitors()

  // of the present run
  protected var runs = 0L
  protected var strategy: Strategy = Replay(Nil)
  protected var recorder: Recorder | Null = null
  protected val strands = ArrayBuffer[Strand]()
  protected val byFiber = IdentityHashMap[FiberCore, Strand]()
  protected var objects = newObjects()
  protected val point = Point()
  protected val choices = ArrayBuffer[(Int, Int)]()
  protected var preemptions = 0

  protected val yieldsInRow = YieldsInRow()
  protected val mounts = IdentityHashMap[Runnable, Mount]()
  protected val idle = ArrayBuffer[ExploreWorker]()
  protected var starting: ExploreWorker | Null = null

  /** The strand that runs; null while the execution itself does. */
  protected var current: Strand | Null = null

  /** The strand that has been chosen, and is to run once the present one has left the carrier. */
  protected var chosen: Strand | Null = null
  protected var driver: Thread | Null = null

  /** The thread that runs, on the driver or carried by it. */
  protected var carried: Thread | Null = null

  /** What disturbs the program, and what moves the clock then; null for none. */
  protected var disturbing: Strand | Null = null
  protected var clockMover: Strand | Null = null

  /** The fiber of the program as a whole. */
  protected var test: TaskFiber | Null = null

  val outsiders: Outsiders = Outsiders()

  /** Counts all steps of all runs: whoever waits for the driver sees that it gets on. */
  @volatile var progress = 0L

  /** Where the thread is that runs. From any thread. */
  def stackOfCarried: List[StackTraceElement] =
    val thread = carried
    if thread eq null then Nil else thread.getStackTrace.toList.take(20)

  protected def newRuntime(): Runtime =
    new Runtime(ExploreScheduler(this, threads), clock, ContextHook.installed):
      override private[weir] def begun(fiber: FiberCore): Unit = add(fiber)
      override private[weir] def waitsOutside(waiter: Waiter): Unit = outsiders.awaits(waiter)
      override private[weir] def report(where: String, error: Throwable): Unit = ()

  protected def newObjects() =
    SharedObjects((earlier, by) => strategy.race(earlier.index, by.id))

  /** Runs until nothing can run any more. False after too many steps. */
  protected def goThrough(): Boolean =
    var next = decideOutside(null, continues = false)
    while (next ne null) && point.step < limits.steps do
      chosen = null
      resume(next)
      next = nextAfter(next)
    next eq null

  /** What runs once `ran` has left the carrier. One that disturbs does not count as having run. */
  private def nextAfter(ran: Strand): Strand | Null =
    if chosen ne null then chosen
    else if ran ne disturbing then decideOutside(ran, continues = false)
    else
      val previous = if point.previous < 0 then null else strands(point.previous)
      decideOutside(previous, (previous ne null) && point.continues && isEnabled(previous))

  /** Lets `strand` run until it leaves the carrier. */
  protected def resume(strand: Strand): Unit =
    strand.state = Strand.Running
    current = strand
    if (strand.alarm ne null) || (strand.act ne null) then onDriver(strand)
    else carry(strand)

  /** The step of an alarm, or of what disturbs. */
  private def onDriver(strand: Strand): Unit =
    carried = driver
    try
      strand.alarm match
        case alarm: Alarm =>
          strand.state = Strand.Ended
          objects.touch(objects.of(alarm), "", Site.WRITE, strand)
          if !strand.isRemoved then
            if recorder ne null then recorder.nn.rings(strand, clock.elapsedNanos)
            alarm.ring()
        case null =>
          strand.state = Strand.Blocked
          strand.act.nn()
    finally current = null

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
      if mount.worker eq null then strand.state = Strand.Ended
    // It is where it was, or on another thread by now; if it runs still, it waits.
    mount.strand match
      case last: Strand if last.state == Strand.Running =>
        last.state = Strand.Blocked
        last.isInJdk = last.mount eq mount
        if recorder ne null then recorder.nn.waits(last)
      case _ => ()

  /** An idle worker's thread, which goes on with the slice of `strand`. */
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

  // ---- what the scheduler and the JDK tell ----

  protected def add(fiber: FiberCore): Unit =
    val strand = add()
    strand.fiber = fiber
    byFiber.put(fiber, strand): Unit
    if recorder ne null then recorder.nn.begins(strand)

  protected def add(): Strand =
    val creator = current
    val clock = if creator eq null then Array.empty[Int] else creator.clock.clone()
    val strand = Strand(strands.length, creator, clock)
    if creator ne null then strand.isDisturbed = creator.isDisturbed
    strands += strand
    strand

  /** `job` can run. */
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

  /** A virtual thread was started, or can go on. */
  def canGoOn(continuation: Runnable): Unit =
    if isOnDriver then ready(continuation) else outsiders.arrive(continuation)

  private def isOnDriver: Boolean =
    val here = Thread.currentThread()
    (here eq driver) || (here eq carried)

  private def ready(continuation: Runnable): Unit =
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
      if ended.nn.fiber.nn.outcome ne null then ended.nn.state = Strand.Ended
      else
        ended.nn.state = Strand.Blocked
        if recorder ne null then recorder.nn.waits(ended.nn)
    val next = decide(ended, continues = false)
    if (next ne null) && (next.nn.job ne null) && point.step < limits.steps then
      next.nn.state = Strand.Running
      this.mount(worker, next.nn)
      current = next
    else
      chosen = next
      idle += worker
      while worker.next eq null do Thread.`yield`()

  // ---- choices ----

  /** The strand that takes the next step; null if none can before the clock moves. */
  protected def decide(previous: Strand | Null, continues: Boolean): Strand | Null =
    if monitors.isHandingOn then awaitHandedOn()
    val enabled = point.enabled
    enabled.clear()
    var i = 0
    while i < strands.length do
      if isEnabled(strands(i)) then enabled += i
      i += 1
    if (previous ne null) && !continues then leaveToOthers(previous)
    offerClock()
    if enabled.isEmpty then null
    else
      point.previous = if previous eq null then -1 else previous.id
      point.continues = continues
      begin(strands(choose()))

  /** Asks the strategy. */
  protected def choose(): Int =
    val id = strategy.choose(point)
    if id != point.default then choices += ((point.step, id))
    if point.isPreemption(id) then preemptions += 1
    point.branches = false
    id

  /** While nothing can run but what disturbs, the clock may move before that. */
  private def offerClock(): Unit =
    val mover = clockMover
    if (mover ne null) && clock.size > 0 && !hasEnded &&
      point.enabled.forall(_ == point.disturbing)
    then
      point.enabled += mover.id
      point.enabled.sortInPlace(): Unit
      point.branches = true

  /** From now on `act` may come at any time, once; null for what the code of the program does. */
  def disturb(act: (() => Unit) | Null): Unit =
    if disturbing ne null then
      throw IllegalStateException("A test disturbs one task. It was called for a second one.")
    val strand = add()
    strand.act = act
    strand.state = if act eq null then Strand.Blocked else Strand.Ready
    disturbing = strand
    point.disturbing = strand.id
    if act ne null then
      val mover = add()
      mover.act = () => jump(): Unit
      clockMover = mover

  /** The JVM hands a monitor on to a thread that was notified, by a thread of its own. */
  private def awaitHandedOn(): Unit =
    outsiders.await(100_000_000)
    outsiders.take(ready): Unit
    monitors.handedOn()

  private def leaveToOthers(previous: Strand): Unit =
    val index = point.enabled.indexOf(previous.id)
    if index >= 0 && !yieldsInRow.mayGoOn(previous.id) && point.enabled.length > 1 then
      point.enabled.remove(index): Unit

  protected def begin(strand: Strand): Strand =
    yieldsInRow.ran(strand.id)
    strand.before = strand.clock
    val clock = java.util.Arrays.copyOf(strand.clock, math.max(strand.clock.length, strands.length))
    clock(strand.id) = point.step + 1
    strand.clock = clock
    strand.step = Step(point.step, strand, clock)
    point.step += 1
    progress += 1
    strand

  /** As `decide`, on the driver's own stack: moves the clock, or waits for threads outside. */
  protected def decideOutside(previous: Strand | Null, continues: Boolean): Strand | Null =
    outsiders.take(ready): Unit
    var next = decide(previous, continues)
    while (next eq null) && !hasEnded && (jump() || awaitOutside()) do
      next = decide(previous, continues)
    next

  private def hasEnded: Boolean = (test ne null) && (test.nn.outcome ne null)

  /** Also a helper of a group of children that has ended: that it would have come too late is what
    * has to be seen.
    */
  protected def isEnabled(strand: Strand): Boolean = strand.state == Strand.Ready && {
    val wants = strand.wants
    (wants eq null) || monitors.isFreeFor(wants, strand)
  }

  /** Moves the clock to the next alarms. What was before comes before all that follows. */
  protected def jump(): Boolean =
    val due = clock.jump()
    if due.nonEmpty then
      val all = new Array[Int](strands.length)
      strands.foreach(strand => Clocks.join(all, strand.clock))
      strands.foreach(strand => strand.clock = all)
      for alarm <- due do
        val strand = add()
        strand.clock = all
        strand.alarm = alarm
        strand.state = Strand.Ready
    due.nonEmpty

  /** An alarm that is due does not ring any more. Its strand stays: that it might have rung before
    * has to be seen, so its step is an access to the alarm, as the removal is.
    */
  protected def removed(alarm: Alarm): Boolean =
    strands.find(_.alarm eq alarm) match
      case Some(strand) if strand.state == Strand.Ready && !strand.isRemoved =>
        strand.isRemoved = true
        val by = current
        if by ne null then objects.touch(objects.of(alarm), "", Site.WRITE, by)
        true
      case _ => false

  /** Waits a while for threads outside to let one go on. */
  private def awaitOutside(): Boolean =
    val mayCome = outsiders.areAwaited || runtime.platformThreads.running > 0 ||
      strands.exists(strand => strand.mount ne null)
    if mayCome then outsiders.await(limits.patienceNanos)
    outsiders.take(ready)

  /** What disturbs comes now, if it has not come before. */
  def isLast(): Unit = point.isLast = true

  // ---- switching ----

  /** The strand that runs on the calling thread; null if this is no explored code. */
  protected def here: Strand | Null = if Thread.currentThread() eq carried then current else null

  protected def choosing(strand: Strand, continues: Boolean): Unit =
    current = null
    strand.state = Strand.Ready
    val next = decide(strand, continues && isEnabled(strand))
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
      // It has not left: its thread runs a native method. Whoever was chosen has to wait.
      strand.state = Strand.Running
      val refused = chosen
      if refused ne null then refuse(strand, refused)
      begin(strand): Unit
      current = strand

  private def refuse(strand: Strand, refused: Strand): Unit =
    chosen = null
    point.step -= 1
    refused.clock = refused.before
    if point.isPreemption(refused.id) then preemptions -= 1
    if choices.nonEmpty && choices.last._1 == point.step then
      choices.dropRightInPlace(1)
      if strand.id != point.default then choices += ((point.step, strand.id))
    strategy.refused(point, strand.id)

  /** The calling thread's strand gives up its turn. */
  def yieldHere(): Unit =
    val strand = here
    if strand ne null then choosing(strand, continues = false) else Thread.`yield`()

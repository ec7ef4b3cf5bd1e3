package weir.testkit.explore

import java.lang.invoke.VarHandle
import java.util.IdentityHashMap
import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}
import scala.collection.mutable.ArrayBuffer
import weir.fiber.{FiberCore, TaskFiber, Waiter}
import weir.runtime.{Alarm, Job}
import weir.testkit.VirtualThreads
import weir.testkit.agent.{Site, Touch}
import weir.{ContextHook, Outcome, Runtime, Task}

/** Runs a program in one order after the other, one strand at a time, on the thread that calls
  * `run`.
  *
  * The virtual threads of the program are carried by that thread. One of them runs until it waits,
  * ends, or touches something shared: there the strategy is asked, and where it names another
  * strand, the thread yields. So an order is a list of choices, and the same choices give the same
  * run.
  */
private[explore] final class Execution(limits: StepLimits) extends Touch.Sink:
  private val carrier = Carrier()
  carrier.execution = this
  private val threads = weir.runtime.Worker.threads(VirtualThreads.on(carrier))
  val clock: ExploreClock = ExploreClock(removed)
  private var runtime = newRuntime()
  private def scheduler = runtime.scheduler.asInstanceOf[ExploreScheduler]
  private val monitors = Monitors()

  // of the present run
  private var runs = 0L
  private var strategy: Strategy = Replay(Nil)
  private var recorder: Recorder | Null = null
  private val strands = ArrayBuffer[Strand]()
  private val byFiber = IdentityHashMap[FiberCore, Strand]()
  private var objects = newObjects()
  private val point = Point()
  private val choices = ArrayBuffer[(Int, Int)]()
  private var preemptions = 0

  /** The strand that gave up its turn last, if no other has run since, and how often it has. */
  private var latest = -1
  private var yieldsInRow = 0
  private val mounts = IdentityHashMap[Runnable, Mount]()
  private val idle = ArrayBuffer[ExploreWorker]()
  private var starting: ExploreWorker | Null = null

  /** The strand that runs; null while the execution itself does. */
  private var current: Strand | Null = null

  /** The strand that has been chosen, and is to run once the present one has left the carrier. */
  private var chosen: Strand | Null = null
  private var driver: Thread | Null = null

  /** The thread that runs, on the driver or carried by it. */
  private var carried: Thread | Null = null

  /** The fiber of the program as a whole. */
  private var test: TaskFiber | Null = null

  // written by threads of the user's
  private val fromOutside = ConcurrentLinkedQueue[Runnable]()
  private val outside = ConcurrentHashMap[String, Unit]()
  private val outsideWaits = ArrayBuffer[Waiter]()

  /** Counts all steps of all runs: whoever waits for the driver sees that it gets on. */
  @volatile var progress = 0L

  /** Where the thread is that runs. From any thread. */
  def stackOfCarried: List[StackTraceElement] =
    val thread = carried
    if thread eq null then Nil else thread.getStackTrace.toList.take(20)

  /** The names of threads that are not explored, and have let an explored one go on. */
  def outsiders: List[String] =
    import scala.jdk.CollectionConverters.*
    outside.keySet.asScala.toList.sorted

  private def newRuntime(): Runtime =
    new Runtime(ExploreScheduler(this, threads), clock, ContextHook.installed):
      override private[weir] def begun(fiber: FiberCore): Unit = add(fiber)
      override private[weir] def waitsOutside(waiter: Waiter): Unit = outsideWaits += waiter
      override private[weir] def report(where: String, error: Throwable): Unit = ()

  private def newObjects() =
    SharedObjects((earlier, by) => strategy.race(earlier.index, by.id))

  // ---- one run ----

  /** Runs `program` once, with the choices of `strategy`. */
  def run(program: () => Task[Any], strategy: Strategy, recorder: Recorder | Null): Run =
    reset(strategy, recorder)
    val before = Touch.sink
    Touch.sink = this
    driver = Thread.currentThread()
    try
      val test = TaskFiber(runtime, program())
      this.test = test
      submit(test)
      val overrun = !goThrough()
      if recorder ne null then recorder.close()
      val failure = Ends.failure(test, strands, overrun, clock, monitors)
      val result = Run(
        failure,
        choices.toVector,
        point.step,
        preemptions,
        strands.length,
        test.outcome
      )
      if failure ne null then cleanUp()
      result
    finally
      Touch.sink = before
      current = null

  private def reset(strategy: Strategy, recorder: Recorder | Null): Unit =
    runs += 1
    this.strategy = strategy
    this.recorder = recorder
    strands.clear()
    byFiber.clear()
    objects = newObjects()
    choices.clear()
    preemptions = 0
    latest = -1
    point.step = 0
    point.previous = -1
    monitors.clear()
    outsideWaits.clear()
    fromOutside.clear()
    clock.reset()
    chosen = null
    current = null

  /** Runs until nothing can run any more. False after too many steps. */
  private def goThrough(): Boolean =
    var next = decideOutside(null, continues = false)
    while (next ne null) && point.step < limits.steps do
      chosen = null
      resume(next)
      next =
        if chosen ne null then chosen else decideOutside(strand(point.previous), continues = false)
    next eq null

  /** Lets `strand` run until it leaves the carrier. */
  private def resume(strand: Strand): Unit =
    strand.state = Strand.Running
    current = strand
    strand.alarm match
      case alarm: Alarm =>
        carried = driver
        if recorder ne null then recorder.nn.rings(strand, clock.elapsedNanos)
        try alarm.ring()
        finally
          strand.state = Strand.Ended
          current = null
      case null =>
        val mount = strand.mount match
          case mount: Mount => mount
          case null => mounted(strand)
        carried = mount.thread
        mount.continuation.run()
        current = null
        if mount.thread.getState == Thread.State.TERMINATED then
          mounts.remove(mount.continuation): Unit
          if mount.worker eq null then strand.state = Strand.Ended
        // It is where it was, or on another thread by now; if it runs still, it waits.
        mount.strand match
          case last: Strand if last.state == Strand.Running =>
            last.state = Strand.Blocked
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

  private def add(fiber: FiberCore): Unit =
    val strand = add()
    strand.fiber = fiber
    byFiber.put(fiber, strand): Unit
    if recorder ne null then recorder.nn.begins(strand)

  private def add(): Strand =
    val creator = current
    val clock = if creator eq null then Array.empty[Int] else creator.clock.clone()
    val strand = Strand(strands.length, creator, clock)
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
    if isOnDriver then ready(continuation)
    else
      fromOutside.add(continuation): Unit
      outside.put(Thread.currentThread().getName, ()): Unit

  private def isOnDriver: Boolean =
    val here = Thread.currentThread()
    (here eq driver) || (here eq carried)

  private def ready(continuation: Runnable): Unit =
    mounts.get(continuation) match
      case null => if driver ne null then started(continuation)
      case mount if mount.run == runs || (mount.worker ne null) =>
        val strand = mount.strand
        if (strand ne null) && (strand.mount eq mount) && strand.state != Strand.Ended then
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
  private def decide(previous: Strand | Null, continues: Boolean): Strand | Null =
    val enabled = point.enabled
    enabled.clear()
    var i = 0
    while i < strands.length do
      if isEnabled(strands(i)) then enabled += i
      i += 1
    if (previous ne null) && !continues then leaveToOthers(previous)
    if enabled.isEmpty then null
    else
      point.previous = if previous eq null then -1 else previous.id
      point.continues = continues
      val id = strategy.choose(point)
      if id != point.default then choices += ((point.step, id))
      if point.isPreemption(id) then preemptions += 1
      begin(strands(id))

  /** A strand that gives up its turn again and again waits for others: so it is their turn. Without
    * that there would be no end of orders.
    */
  private def leaveToOthers(previous: Strand): Unit =
    val index = point.enabled.indexOf(previous.id)
    if index >= 0 then
      if previous.id == latest then yieldsInRow += 1 else yieldsInRow = 1
      latest = previous.id
      if yieldsInRow > Execution.mostYields && point.enabled.length > 1 then
        point.enabled.remove(index): Unit

  private def begin(strand: Strand): Strand =
    if strand.id != latest then latest = -1
    strand.before = strand.clock
    val clock = java.util.Arrays.copyOf(strand.clock, math.max(strand.clock.length, strands.length))
    clock(strand.id) = point.step + 1
    strand.clock = clock
    strand.step = Step(point.step, strand, clock)
    point.step += 1
    progress += 1
    strand

  /** As `decide`, on the driver's own stack: moves the clock, or waits for threads outside. */
  private def decideOutside(previous: Strand | Null, continues: Boolean): Strand | Null =
    takeFromOutside()
    var next = decide(previous, continues)
    while (next eq null) && !hasEnded && (jump() || awaitOutside()) do
      next = decide(previous, continues)
    next

  private def hasEnded: Boolean = (test ne null) && (test.nn.outcome ne null)

  /** Also a helper of a group of children that has ended: that it would have come too late is what
    * has to be seen.
    */
  private def isEnabled(strand: Strand): Boolean = strand.state == Strand.Ready && {
    val wants = strand.wants
    (wants eq null) || monitors.isFreeFor(wants, strand)
  }

  private def strand(id: Int): Strand | Null = if id < 0 then null else strands(id)

  /** Moves the clock to the next alarms. What was before comes before all that follows. */
  private def jump(): Boolean =
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

  private def removed(alarm: Alarm): Unit =
    strands.find(_.alarm eq alarm) match
      case Some(strand) if strand.state == Strand.Ready => strand.state = Strand.Ended
      case _ => ()

  private def takeFromOutside(): Unit =
    var continuation = fromOutside.poll()
    while continuation ne null do
      ready(continuation)
      continuation = fromOutside.poll()

  /** Waits a while for threads outside to let one go on. */
  private def awaitOutside(): Boolean =
    val until = System.nanoTime() + limits.patienceNanos
    val mayCome = strands.exists(strand => strand.mount ne null) || outsideWaits.exists(_.isOpen) ||
      runtime.platformThreads.running > 0
    if mayCome then
      while fromOutside.isEmpty && System.nanoTime() < until do Thread.sleep(0, 200_000)
    val came = !fromOutside.isEmpty
    takeFromOutside()
    came

  // ---- what explored code does: Touch.Sink ----

  /** The strand that runs on the calling thread; null if this is no explored code. */
  private def here: Strand | Null = if Thread.currentThread() eq carried then current else null

  def touch(on: AnyRef | Null, site: Int): Unit =
    val strand = here
    if (strand ne null) && (on ne null) then
      val at = Touch.site(site)
      if isShared(at, on) then
        touch(strand, on, if at.isChecked || at.what.indexOf('.') < 0 then "" else at.operation, at)

  def handle(handle: VarHandle, on: AnyRef | Null, site: Int): Unit =
    val strand = here
    if (strand ne null) && (on ne null) then
      touch(strand, on, HandleNames.of(handle), Touch.site(site))

  private def isShared(site: Site, on: AnyRef): Boolean =
    if site.isChecked then SharedTypes.isShared(on.getClass) || limits.plainFields
    else !site.isPlain || limits.plainFields

  private def touch(strand: Strand, on: AnyRef, field: String, site: Site): Unit =
    val isChoice =
      site.kind != Site.RELEASE && (site.isUsers || strand.isFresh || limits.isInside(site))
    if isChoice then
      strand.isFresh = false
      mayPreempt(strand)
    record(strand, on, field, site)

  private def record(strand: Strand, on: AnyRef, field: String, site: Site): Unit =
    current = null
    val shared = objects.of(on)
    val kind = if site.kind == Site.RELEASE then Site.WRITE else site.kind
    objects.touch(shared, field, kind, strand)
    val recorder = this.recorder
    if recorder ne null then recorder.touched(strand, shared, field, site)
    current = strand

  /** Asks who is next, unless the present step has done nothing yet. */
  private def mayPreempt(strand: Strand): Unit =
    if strand.step.nn.touches > 0 || (strand.wants ne null) then choosing(strand, continues = true)

  private def choosing(strand: Strand, continues: Boolean): Unit =
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

  def yields(site: Int): Boolean =
    val strand = here
    (strand ne null) && {
      choosing(strand, continues = false)
      true
    }

  def cedes(worker: AnyRef, site: Int): Unit = worker match
    case worker: ExploreWorker if here ne null =>
      worker.hasCeded = true
      yieldHere()
    case _ => ()

  def begins(instruction: AnyRef, site: Int): Unit =
    val strand = here
    if strand ne null then
      strand.isFresh = true
      strand.instruction = instruction

  def made(task: AnyRef, site: Int): Unit =
    val recorder = this.recorder
    if recorder ne null then recorder.made(task, Touch.site(site))

  // ---- monitors ----

  def enter(monitor: AnyRef | Null, site: Int): Unit =
    val strand = here
    if (strand ne null) && (monitor ne null) then
      awaitFree(strand, monitor, Touch.site(site))
      monitors.enter(monitor, strand)

  def beforeEnter(monitor: AnyRef | Null, site: Int): Unit =
    val strand = here
    if (strand ne null) && (monitor ne null) then awaitFree(strand, monitor, Touch.site(site))

  def entered(monitor: AnyRef): Unit =
    val strand = here
    if strand ne null then monitors.enter(monitor, strand)

  def exit(monitor: AnyRef | Null): Unit =
    val strand = here
    if (strand ne null) && (monitor ne null) then monitors.exit(monitor, strand)

  /** Goes on once the monitor is free. The attempt is an access, also where it has to wait. */
  private def awaitFree(strand: Strand, monitor: AnyRef, site: Site): Unit =
    if !monitors.isHeldBy(monitor, strand) then
      touch(strand, monitor, "monitor", site)
      while !monitors.isFreeFor(monitor, strand) do
        strand.wants = monitor
        choosing(strand, continues = false)
      strand.wants = null
      monitors.join(monitor, strand)

  // ---- after a run that has failed ----

  /** Cancels what is left, so that its finalizers run. */
  private def cleanUp(): Unit =
    strategy = Replay(Nil)
    recorder = null
    val left = strands.toList.filter(s => (s.fiber ne null) && (s.fiber.nn.outcome eq null))
    left.foreach(_.fiber.nn.requestCancel())
    val end = point.step + 1000
    var next = decide(null, continues = false)
    while (next ne null) && point.step < end do
      chosen = null
      resume(next)
      next =
        if chosen ne null then chosen
        else
          var some = decide(null, continues = false)
          while (some eq null) && jump() do some = decide(null, continues = false)
          some
    // What does not end is left where it is, with its runtime.
    if left.exists(_.fiber.nn.outcome eq null) then
      idle.clear()
      runtime = newRuntime()

private[explore] object Execution:
  /** How often in a row a strand may give up its turn and take the next one again, while others can
    * run.
    */
  private inline val mostYields = 2

/** How long a run may get, and what its choice points are. */
private[explore] final case class StepLimits(
    steps: Int = 20_000,
    patienceNanos: Long = 20_000_000,
    plainFields: Boolean = false,
    inside: List[String] = Nil
):
  /** Whether each access at `site`, in this library's own code, is a choice point. */
  def isInside(site: Site): Boolean = inside.nonEmpty && inside.exists(site.inClass.startsWith)

/** One run: how it has ended, and the choices that repeat it. */
private[testkit] final case class Run(
    failure: Throwable | Null,
    choices: Vector[(Int, Int)],
    steps: Int,
    preemptions: Int,
    strands: Int,
    outcome: Outcome[Any] | Null
)

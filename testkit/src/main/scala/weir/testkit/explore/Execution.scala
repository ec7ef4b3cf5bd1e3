package weir.testkit.explore

import java.lang.invoke.VarHandle
import java.util.IdentityHashMap
import weir.Task
import weir.fiber.{FiberCore, TaskFiber, Waiter}
import weir.testkit.TestRuntime
import weir.testkit.agent.{Site, Touch}

/** Runs a program in one order after the other, one strand at a time, on the thread that calls
  * `run`.
  */
private[testkit] final class Execution(limits: StepLimits) extends StrandRunner(limits), Touch.Sink:

  /** True if the program was failed in this run. */
  private var hasFailed = false

  /** The iterators of this run, and what they go through. */
  private val views = IdentityHashMap[AnyRef, AnyRef]()

  // ---- one run ----

  /** Runs `program` once, with the choices of `strategy`. */
  def run(program: () => Task[Any], strategy: Strategy, recorder: Recorder | Null): Run =
    if isAbandoned then throw Abandoned()
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
      // Another exploration may have begun, if this one has hung.
      if Touch.sink eq this then Touch.sink = before
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
    yieldsInRow.ran(-1)
    disturbing = null
    clockMover = null
    hasFailed = false
    views.clear()
    mostSteps = limits.steps
    point.heldBack = -1
    point.disturbing = -1
    point.mover = -1
    point.isLast = false
    point.branches = false
    point.step = 0
    point.previous = -1
    monitors.clear()
    outsiders.reset()
    clock.reset()
    chosen = null
    current = null

  // ---- reports of explored code: Touch.Sink ----

  def touch(on: AnyRef | Null, site: Int): Unit =
    val strand = here
    if (strand ne null) && (on ne null) then
      val at = Touch.site(site)
      val shared = if at.what == "Iterator" then views.get(on) else on
      if (shared ne null) && isShared(at, shared) then
        touch(strand, shared, if at.isChecked || !at.isField then "" else at.operation, at)

  def after(on: AnyRef, site: Int): Unit =
    val strand = here
    if strand ne null then
      val at = Touch.site(site)
      if isShared(at, on) then objects.touch(objects.of(on), "", at.kind, strand)

  def handle(handle: VarHandle, on: AnyRef | Null, site: Int): Unit =
    field(on, HandleNames.of(handle), site)

  def field(on: AnyRef | Null, name: String, site: Int): Unit =
    val strand = here
    if (strand ne null) && (on ne null) then touch(strand, on, name, Touch.site(site))

  def element(array: AnyRef | Null, index: Int, site: Int): Unit =
    val at = Touch.site(site)
    // A few names are enough to tell most elements apart.
    if limits.plainFields || !at.isPlain then field(array, Execution.elements(index & 63), site)

  def thread(site: Int): Unit = touch(Thread.currentThread(), site)

  /** Records that an interrupt of the thread conflicts with the call that follows. */
  def interruptible(): Unit =
    val strand = here
    if strand ne null then
      if strand.fiber ne null then
        objects.touch(objects.of(strand.fiber.nn), "cancelRequested", Site.READ, strand)
      else objects.touch(objects.of(Thread.currentThread()), "", Site.READ, strand)

  def viewed(of: AnyRef, view: AnyRef | Null): Unit =
    if (view ne null) && (here ne null) then views.put(view, of): Unit

  private def isShared(site: Site, on: AnyRef): Boolean =
    if site.isChecked then SharedTypes.isShared(on.getClass) || limits.plainFields
    else !site.isPlain || (if site.isUsers then limits.plainFields else limits.isInside(site))

  private def touch(strand: Strand, on: AnyRef, field: String, site: Site): Unit =
    if isChoice(strand, on, field, site) then
      strand.isFresh = false
      strand.hasEnded = site.isUsers
      mayPreempt(strand)
    else if strand.step.nn.touches > Execution.mostTouches then
      // It waits for another strand, such as for a lock, by spinning.
      choosing(strand, continues = false)
    record(strand, on, field, site)

  /** Returns true if other strands may take steps before the access: before each one of the user's
    * code, the first one of an instruction, and the first one after user's code or an instruction
    * has ended, such as the one by which a child tells its group that it has ended.
    */
  private def isChoice(strand: Strand, on: AnyRef, field: String, site: Site): Boolean =
    site.kind != Site.SIGNAL && site.kind != Site.RESPONSE &&
      (site.isUsers || strand.isFresh || limits.isInside(site) ||
        strand.hasEnded && tellsOfEnd(strand, on, field, site))

  /** Returns true unless the access is one that only a fiber and its group of children know of. */
  private def tellsOfEnd(strand: Strand, on: AnyRef, field: String, site: Site): Boolean =
    if on eq strand.fiber then field == "ending"
    else if site.inClass.startsWith("weir.group.") || site.inClass.startsWith("weir.task.") then
      field == "stopped" && site.kind != Site.READ
    else true

  private def record(strand: Strand, on: AnyRef, field: String, site: Site): Unit =
    current = null
    val shared = objects.of(on)
    val kind = site.kind match
      case Site.SIGNAL => Site.WRITE
      case Site.RESPONSE => Site.MERGE
      case other => other
    objects.touch(shared, field, kind, strand)
    strand.latest = shared
    strand.latestField = field
    val recorder = this.recorder
    if recorder ne null then recorder.touched(strand, on, site)
    current = strand

  /** Asks which strand is next, unless the present step has done nothing yet. */
  private def mayPreempt(strand: Strand): Unit =
    if strand.step.nn.touches > 0 || (strand.wants ne null) then choosing(strand, continues = true)

  def yields(site: Int): Boolean =
    val strand = here
    (strand ne null) && {
      choosing(strand, continues = false)
      true
    }

  def explores: Boolean = here ne null

  def cedes(worker: AnyRef, site: Int): Unit = worker match
    case worker: ExploreWorker if here ne null =>
      worker.hasCeded = true
      yieldHere()
    case _ => ()

  def unrepeatable(site: Int): Unit =
    if here ne null then
      val at = Touch.site(site)
      outsiders.note(s"${at.what}.${at.operation} at ${at.place}")

  def begins(instruction: AnyRef, site: Int): Unit =
    val strand = here
    if strand ne null then
      // A choice, since a cancel may come between any two instructions.
      mayPreempt(strand)
      strand.isFresh = true
      strand.hasEnded = false
      strand.instruction = instruction
      calls(instruction)

  def ended(result: AnyRef | Null): Unit =
    val strand = here
    if (strand ne null) && !result.isInstanceOf[Waiter] then strand.hasEnded = true

  def calls(code: AnyRef): Unit =
    val strand = here
    if (strand ne null) && strand.isDisturbed && !hasFailed && mayFail(strand, code) then
      fail(strand)

  // ---- errors that disturb ----

  /** Reports that the fiber `of` runs the code that an error disturbs: from now on this code may
    * fail, once.
    */
  def failIn(of: FiberCore): Unit =
    disturb(null)
    byFiber.get(of).isDisturbed = true

  private def mayFail(strand: Strand, code: AnyRef): Boolean =
    Instrumentation.isUsers(code.getClass) && (strand.fiber match
      case fiber: TaskFiber => fiber.masks == 0 && !fiber.cancelRequested
      case _ => false)

  /** Lets the strategy choose whether what is about to run fails. */
  private def fail(strand: Strand): Unit =
    current = null
    point.enabled.clear()
    point.enabled += strand.id
    point.enabled += point.disturbing
    point.enabled.sortInPlace(): Unit
    point.previous = strand.id
    point.continues = true
    point.branches = true
    hasFailed = choose() == point.disturbing
    begin(strand): Unit
    if hasFailed && (recorder ne null) then recorder.nn.fails(strand)
    current = strand
    if hasFailed then throw TestRuntime.Injected()

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

  def beginWait(monitor: AnyRef): Int =
    val strand = here
    if strand eq null then 0 else monitors.beginWait(monitor, strand)

  def endWait(monitor: AnyRef, times: Int): Unit =
    val strand = here
    if strand ne null then
      objects.touch(objects.of(monitor), "monitor", Site.WRITE, strand)
      monitors.endWait(monitor, strand, times)

  def notified(monitor: AnyRef, site: Int): Unit =
    if here ne null then monitors.notify(monitor, Touch.site(site).operation == "notifyAll")

  /** Lets other strands take steps while the monitor is still held: they may wait for it. */
  def exit(monitor: AnyRef | Null, site: Int): Unit =
    val strand = here
    if (strand ne null) && (monitor ne null) then
      if Touch.site(site).isUsers && monitors.isHeldOnceBy(monitor, strand) then
        mayPreempt(strand)
        objects.touch(objects.of(monitor), "monitor", Site.WRITE, strand)
      monitors.exit(monitor, strand)

  /** Waits until the monitor is free. The attempt is an access, even if it has to wait. */
  private def awaitFree(strand: Strand, monitor: AnyRef, site: Site): Unit =
    if !monitors.isHeldBy(monitor, strand) then
      touch(strand, monitor, "monitor", site)
      while !monitors.isFreeFor(monitor, strand) do
        strand.wants = monitor
        choosing(strand, continues = false)
        objects.touch(objects.of(monitor), "monitor", Site.WRITE, strand)
      strand.wants = null
      monitors.join(monitor, strand)

  // ---- after a run that has failed ----

  /** Cancels the fibers that are left, so that their finalizers run. */
  private def cleanUp(): Unit =
    strategy = Replay(Nil)
    recorder = null
    val left = strands.toList.filter(s => (s.fiber ne null) && (s.fiber.nn.outcome eq null))
    left.foreach(_.fiber.nn.requestCancel())
    mostSteps = point.step + 1000
    var next = decide(null, continues = false)
    while (next ne null) && point.step < mostSteps do
      chosen = null
      resume(next)
      next =
        if chosen ne null then chosen
        else
          var some = decide(null, continues = false)
          while (some eq null) && jump() do some = decide(null, continues = false)
          some
    // Fibers that do not end are left where they are, with their runtime.
    if left.exists(_.fiber.nn.outcome eq null) then
      idle.clear()
      runtime = newRuntime()

private[explore] object Execution:
  /** After so many accesses without a choice, a step waits for another strand. */
  private inline val mostTouches = 1000

  private val elements = Array.tabulate(64)(_.toString)

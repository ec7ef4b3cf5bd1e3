package weir.testkit.explore

import java.util.IdentityHashMap
import scala.collection.mutable.ArrayBuffer
import weir.fiber.{FiberCore, TaskFiber}
import weir.runtime.{Alarm, Job}
import weir.testkit.agent.Site

/** Decides who takes the next step of a program: which strands can, which of them the strategy
  * chooses, and when the clock moves.
  */
private[testkit] abstract class StrandChoices(val limits: StepLimits):
  val clock: ExploreClock = ExploreClock(() => touchClock(), () => mayRing(), removedDue)
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

  /** The run ends, at the latest, after so many steps. */
  protected var mostSteps: Int = limits.steps

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

  /** The strand that disturbs the program; null for none. */
  protected var disturbing: Strand | Null = null

  /** The strand that moves the clock; null while the clock moves by itself, as soon as nothing can
    * run.
    */
  protected var clockMover: Strand | Null = null

  /** The fiber of the program as a whole. */
  protected var test: TaskFiber | Null = null

  val outsiders: Outsiders = Outsiders()

  /** Counts all steps of all runs: a thread that waits for the driver sees its progress. */
  @volatile var progress = 0L

  /** Set where a step has hung, and nobody waits for this any more: it ends with that step. */
  @volatile var isAbandoned = false

  protected def newObjects() =
    SharedObjects((earlier, by) => strategy.race(earlier.index, by.id))

  /** Reports that a thread can go on, as the JDK has said. */
  protected def ready(continuation: Runnable): Unit

  /** Returns the job by which a worker's thread runs `action`, as a strand that is no fiber. */
  protected def jobOf(action: () => Unit): Job

  /** Runs the step of an alarm that is due. */
  protected def ring(strand: Strand): Unit

  /** Returns true if a fiber waits for a thread of the operating system that runs its call. */
  protected def callsElsewhere: Boolean

  /** Returns the strand that runs on the calling thread; null if this is not explored code. */
  protected def here: Strand | Null

  protected def add(): Strand =
    val creator = current
    val clock = if creator eq null then Array.empty[Int] else creator.clock.clone()
    val strand = Strand(strands.length, creator, clock)
    if creator ne null then
      strand.isDisturbed = creator.isDisturbed
      // From here on there is one more to choose: before the next access of the creator's.
      if creator.step ne null then creator.step.nn.touches += 1
    strands += strand
    strand

  // ---- choices ----

  /** Returns the strand that takes the next step; null if none can before the clock moves. */
  protected def decide(previous: Strand | Null, continues: Boolean): Strand | Null =
    if monitors.isHandingOn then awaitHandedOn()
    val enabled = point.enabled
    enabled.clear()
    point.heldBack = -1
    var i = 0
    while i < strands.length do
      if isEnabled(strands(i)) then enabled += i
      i += 1
    if limits.earlyTimers then offerClock(): Unit
    if (previous ne null) && !continues then leaveToOthers(previous)
    if !limits.earlyTimers then offerClockOrDisturbance()
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

  /** While nothing can run except the strand that disturbs, the clock may move before that one. */
  private def offerClockOrDisturbance(): Unit =
    if point.enabled.forall(_ == point.disturbing) && offerClock() then point.branches = true

  /** Lets the strand that moves the clock take the next step, if there is one and an alarm is set.
    */
  private def offerClock(): Boolean =
    val mover = clockMover
    val moves = (mover ne null) && clock.size > 0 && !hasEnded
    if moves then
      point.enabled += mover.nn.id
      point.enabled.sortInPlace(): Unit
    moves

  private def addMover(): Unit =
    if clockMover eq null then
      val mover = add()
      clockMover = mover
      point.mover = mover.id

  /** Records an access of the program's to the clock, if others may move it at any time: a move
    * conflicts with each access before.
    */
  private def touchClock(): Unit =
    if limits.earlyTimers then
      val strand = here
      if strand ne null then
        current = null
        addMover()
        objects.touch(objects.of(clock), "", Site.READ, strand)
        current = strand

  /** Lets `act` come at any time from now on, once; null if the program's own code is disturbed. */
  def disturb(act: (() => Unit) | Null): Unit =
    if disturbing ne null then
      throw IllegalStateException("A test disturbs one task. It was called for a second one.")
    val strand = add()
    disturbing = strand
    point.disturbing = strand.id
    if act ne null then
      strand.job = jobOf(act)
      strand.state = Strand.Ready
      addMover()

  /** Waits until the JVM has handed a monitor on to a thread that was notified. It does so by a
    * thread of its own, which a busy machine may delay.
    */
  private def awaitHandedOn(): Unit =
    outsiders.await(StrandChoices.certainNanos)
    outsiders.take(ready): Unit
    monitors.handedOn()

  private def leaveToOthers(previous: Strand): Unit =
    val index = point.enabled.indexOf(previous.id)
    if index >= 0 && yieldsInRow.again(previous.id) > strategy.yieldsInRow &&
      point.enabled.exists(id => id != previous.id && id != point.disturbing)
    then
      point.enabled.remove(index): Unit
      point.heldBack = previous.id

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

  /** Returns true if the strand can take a step. This includes a helper of a group of children that
    * has ended: the exploration must see that it would have come too late.
    */
  protected def isEnabled(strand: Strand): Boolean = strand.state == Strand.Ready && {
    val wants = strand.wants
    (wants eq null) || monitors.isFreeFor(wants, strand)
  }

  /** Moves the clock to the next alarms. Unless timers are early, all steps before come before all
    * steps after.
    */
  protected def jump(): Boolean =
    val due = clock.jump()
    if due.nonEmpty then
      if limits.earlyTimers then
        val mover = current
        if mover ne null then objects.touch(objects.of(clock), "", Site.WRITE, mover)
      else
        val all = new Array[Int](strands.length)
        strands.foreach(strand => Clocks.join(all, strand.clock))
        strands.foreach(strand => strand.clock = all)
      for alarm <- due do
        val strand = add()
        if !limits.earlyTimers then strand.clock = strands.head.clock
        strand.alarm = alarm
        strand.job = jobOf(() => ring(strand))
        strand.state = Strand.Ready
    due.nonEmpty

  /** Tries the order in which the alarm that the present step removes rings before that step. No
    * race tells of it, since the clock does not move for it in this order.
    */
  private def mayRing(): Unit =
    if limits.earlyTimers then
      val strand = here
      if strand ne null then strategy.race(strand.step.nn.index, point.mover)

  /** Removes an alarm that is due, so that it does not ring any more. Its strand stays: the
    * exploration must see that it might have rung before, so its step is an access to the alarm, as
    * the removal is.
    */
  protected def removedDue(alarm: Alarm): Boolean =
    strands.find(_.alarm eq alarm) match
      case Some(strand) if (strand.job ne null) && !strand.isRemoved =>
        strand.isRemoved = true
        val by = current
        if by ne null then objects.touch(objects.of(alarm), "", Site.WRITE, by)
        true
      case _ => false

  /** Waits for threads outside to let one go on. It waits long if something outside is known to be
    * awaited, and otherwise only a while, since a deadlock looks the same.
    */
  private def awaitOutside(): Boolean =
    val isCertain = outsiders.areAwaited || outsiders.names.nonEmpty || callsElsewhere ||
      strands.exists(isBlocked)
    if isCertain then outsiders.await(StrandChoices.certainNanos)
    else if strands.exists(_.mount ne null) then outsiders.await(limits.patienceNanos)
    outsiders.take(ready)

  /** Returns true if the JVM makes the thread wait for a monitor, such as one inside of the JDK. */
  private def isBlocked(strand: Strand): Boolean =
    val mount = strand.mount
    (mount ne null) && strand.state == Strand.Blocked &&
    mount.thread.getState == Thread.State.BLOCKED

  /** Lets the strand that disturbs come now, if it has not come before. */
  def isLast(): Unit = point.isLast = true

private[explore] object StrandChoices:
  /** The real time for which it waits for something that is about to come from outside. */
  private inline val certainNanos = 5_000_000_000L

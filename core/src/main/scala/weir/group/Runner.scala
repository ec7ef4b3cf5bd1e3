package weir.group

import weir.Task
import weir.fiber.{BeginFrame, CancelSelf, Fail, Frame, Pure, Tag, TaskFiber}
import weir.runtime.{Job, Tuning}

/** The frame at the bottom of a runner's stack: takes children and runs them, one after the other.
  *
  * README.md in this folder has the states of a runner, and explains what happens when a child
  * blocks.
  */
private[weir] final class Runner(group: ChildGroup, val fiber: TaskFiber, role: Int)
    extends Frame(Tag.HandlingFrame):

  /** The child that it has taken: set by `ChildGroup.take`. */
  var index: Int = 0
  var item: Any = null

  /** The segment that holds its latest result, and the index after that result's: see `Segments`.
    */
  private[weir] var segment: Segment | Null = null
  private[weir] var segmentEnd: Int = -1

  /** The runner that began before this one. Transient: see `HoldsUserCode`. */
  @transient private[weir] var next: Runner | Null = null

  /** True while all children that it has run were ready. */
  private var allReady = true

  // the first runner's
  /** The request slot of the delayed helper request; -1 for none. */
  private var requestSlot = -1
  private var beganNanos = 0L

  /** True while its fiber has not left its thread. */
  private var stayed = true

  def start(fiber: TaskFiber): Task[Any] | Null =
    fiber.origin = this // a dump finds the parent by it while a child is run in place
    group.begin(this, role)
    advance(fiber, begins = role == Runner.First)

  def step(fiber: TaskFiber, value: Any): Task[Any] | Null =
    allReady = false
    group.store(this, value)
    fiber.locals = group.inherited // what the child has set is its own
    if fiber.cancelRequested && !group.isStopped && !forgetCancelOfChild(fiber) then
      fiber.push(this)
      CancelSelf
    else advance(fiber, begins = false)

  /** Takes back a cancel that the group has not requested: the child has cancelled itself, and was
    * masked, so that it ended with a value. The cancel ends with the child. Returns false if the
    * thread that runs this was interrupted.
    */
  private def forgetCancelOfChild(fiber: TaskFiber): Boolean =
    !fiber.executionThread.hasBeenInterrupted && {
      fiber.forgetCancel()
      true // `ChildGroup.stop` sets `stopped` before it requests a cancel, so `advance` sees it
    }

  private def advance(fiber: TaskFiber, begins: Boolean): Task[Any] | Null =
    val hooked = fiber.runtime.hook ne null
    try
      if begins && group.callSiteKey != 0 then
        requestSlot = group.delayRequest(fiber)
        beganNanos = System.nanoTime() // not before: that may have started a thread
        fiber.frameToNotify = this
      while !group.isStopped && (group.take(this) || withdrawRequest(fiber) && group.take(this)) do
        group.ensureHelper(fiber)
        if hooked then fiber.adopt(group.inherited) // plain code may change the context
        var child = group.child(this)
        val value = Frame.ready(fiber, child)
        if value.asInstanceOf[AnyRef] ne Frame.NotReady then
          group.store(this, value)
          child = if hooked then Runner.NoChild else group.runReady(this, fiber)
        if child ne Runner.NoChild then
          fiber.push(this)
          return child
    catch
      case error: Throwable =>
        fiber.push(this)
        return if fiber.isCancel(error) then CancelSelf else Fail(error)
    end(fiber)

  private def withdrawRequest(fiber: TaskFiber): Boolean =
    val slot = requestSlot
    slot >= 0 && {
      requestSlot = -1
      group.withdrawRequest(fiber, slot)
    }

  override def onSuspend(fiber: TaskFiber): Unit =
    stayed = false
    try if withdrawRequest(fiber) then group.ensureHelper(fiber)
    catch
      case error: Throwable =>
        group.stop(ChildGroup.Stop.Failed(error)) // the child's own handlers must not see it

  override def parent: TaskFiber | Null = group.parentFiber

  override def failed(fiber: TaskFiber, error: Throwable): Task[Any] | Null =
    group.stop(ChildGroup.Stop.Failed(error), by = this)
    end(fiber)

  override def canceled(fiber: TaskFiber): Unit =
    if !group.isStopped then group.childCancelled()
    withdrawRequest(fiber): Unit
    if !group.isStopped && group.hasMore then
      group.replaceRunner(fiber) // of a race: another runner must take the other child
    else group.end(fiber)

  private def end(fiber: TaskFiber): Task[Any] | Null =
    if role == Runner.First then
      fiber.frameToNotify = null
      withdrawRequest(fiber): Unit // of a group that was stopped
      if group.callSiteKey != 0 && !group.isStopped then
        val nanos = if stayed then System.nanoTime() - beganNanos else Long.MaxValue
        fiber.runtime.helperRequests.learn(group.callSiteKey, nanos)
      if allReady || fiber.isOnCallingThread then group.spinWaitForOthers()
    group.end(fiber)
    fiber.frameResult = ()
    null

private[weir] object Runner:
  /** Stands for no child. It is not null: a child that is null counts as one whose result is null.
    */
  val NoChild: Task[Any] = Pure(())

  /** Begins the group, or replaces a runner that was cancelled. */
  inline val First = 0

  /** Came from the queue, by a helper request. */
  inline val Helper = 1

  /** Was started on a worker of its own, since the runner before it is likely to block. */
  inline val Spawned = 2

/** The instruction that the fiber of a runner begins with. While the fiber is queued, it decides
  * whether a further worker is of use to the group yet.
  *
  * A second carrier that joins 1,000 ready children makes them slower. So while the standby holds
  * the helper and the others take one child after the other, the standby only watches. The helper
  * is demanded as soon as few children were taken since the last look, which is at once if children
  * block, and in any case after a while. Once a runner has been spawned, the helper is demanded at
  * once. `helperRequested` stays true meanwhile.
  */
private final class RunnerTask(group: ChildGroup, role: Int) extends BeginFrame[Unit]:
  /** The number of children that had been taken at the last look. */
  private var seen = if role == Runner.Helper then group.takenCount else 0
  private var looks = 0

  def begin(fiber: TaskFiber): Runner = Runner(group, fiber, role)

  override def demand: Int =
    if role == Runner.First then Job.Now
    else if group.hasEnded then Job.Never
    else if group.isRegistered then Job.Now // children block: each further runner speeds them up
    else
      val now = group.takenCount
      // The first look may follow the request so soon that hardly any child can have been taken.
      val fast = if looks == 0 then 1 else Tuning.watchedGroup
      looks += 1
      if now - seen < fast || looks > Tuning.watchRounds then Job.Now
      else
        seen = now
        Job.Later

package weir.task

import weir.Task
import weir.kernel.{CancelSelf, Fail, Loop, Pure, RunLoop, Tag}

/** The frame at the bottom of a runner's stack: claims children and runs them, one after the other. */
private[weir] final class Runner(claims: Claims, val fiber: RunLoop, role: Int)
    extends Loop(Tag.Claiming):

  /** What it has claimed: set by `Claims.claim`. */
  var index: Int = 0
  var item: Any = null

  /** What it has stored its latest result to, and the number after that result's: see `Segments`. */
  private[task] var segment: Segment | Null = null
  private[task] var end: Int = -1

  /** The runner that entered before this one. */
  private[task] var next: Runner | Null = null

  /** True while all that it has run was ready. */
  private var allReady = true

  // the first one's
  /** Where its invitation has been put off; -1 for nowhere. */
  private var place = -1
  private var begun = 0L

  /** True while its fiber has not left its thread. */
  private var stayed = true

  def start(fiber: RunLoop): Task[Any] | Null =
    fiber.origin = this // by which a dump finds the parent while a child is run in place
    claims.enter(this, role)
    advance(fiber, begins = role == Runner.First)

  def step(fiber: RunLoop, value: Any): Task[Any] | Null =
    allReady = false
    claims.store(this, value)
    fiber.locals = claims.inherited // what the child has set is its own
    if fiber.cancelRequested && !claims.isStopped && !endChildsCancel(fiber) then
      fiber.push(this)
      CancelSelf
    else advance(fiber, begins = false)

  /** Not by the group: the child has cancelled itself, and ended with a value all the same as it was masked. That is over with the
    * child. False if the thread that runs this was interrupted.
    */
  private def endChildsCancel(fiber: RunLoop): Boolean =
    !fiber.host.hasBeenInterrupted && {
      fiber.forgetCancel()
      true // `Claims.stop` says so before it asks, so `advance` finds it
    }

  private def advance(fiber: RunLoop, begins: Boolean): Task[Any] | Null =
    val hooked = fiber.runtime.hook ne null
    try
      if begins && claims.kind != 0 then
        place = claims.putOff(fiber)
        begun = System.nanoTime() // not before: that may have started a thread
        fiber.staying = this
      while !claims.isStopped && (claims.claim(this) || takeBack(fiber) && claims.claim(this)) do
        claims.invite(fiber)
        if hooked then
          fiber.adopt(claims.inherited) // plain code may change what the thread carries
        var child = claims.child(this)
        val value = Loop.ready(fiber, child)
        if value.asInstanceOf[AnyRef] ne Loop.NotReady then
          claims.store(this, value)
          child = if hooked then Runner.NoChild else claims.runReady(this, fiber)
        if child ne Runner.NoChild then
          fiber.push(this)
          return child
    catch
      case error: Throwable =>
        fiber.push(this)
        return if fiber.isCancel(error) then CancelSelf else Fail(error)
    exit(fiber)

  private def takeBack(fiber: RunLoop): Boolean =
    val at = place
    at >= 0 && {
      place = -1
      claims.takeBack(fiber, at)
    }

  override def leaves(fiber: RunLoop): Unit =
    stayed = false
    try if takeBack(fiber) then claims.invite(fiber)
    catch
      case error: Throwable =>
        claims.stop(Claims.Stop.Failed(error)) // the child's own handlers must not see it

  override def parent: RunLoop | Null = claims.parentFiber

  override def failed(fiber: RunLoop, error: Throwable): Task[Any] | Null =
    claims.stop(Claims.Stop.Failed(error), by = this)
    exit(fiber)

  override def canceled(fiber: RunLoop): Unit =
    if !claims.isStopped then claims.childCanceled()
    takeBack(fiber): Unit
    if !claims.isStopped && claims.hasMore then
      claims.replace(fiber) // a race: somebody must claim the other
    else claims.exit(fiber)

  private def exit(fiber: RunLoop): Task[Any] | Null =
    if role == Runner.First then
      fiber.staying = null
      takeBack(fiber): Unit // a group that was stopped
      if claims.kind != 0 && !claims.isStopped then
        val nanos = if stayed then System.nanoTime() - begun else Long.MaxValue
        fiber.runtime.scheduler.invitations.learn(claims.kind, nanos)
      if allReady || fiber.isOnOwnThread then claims.lingerForOthers()
    claims.exit(fiber)
    fiber.loopResult = ()
    null

private[task] object Runner:
  /** Stands for no child. Not null: a child that is null counts as one whose result is null. */
  val NoChild: Task[Any] = Pure(())

  /** Begins the group, or goes on for one that was cancelled. */
  inline val First = 0

  /** Was queued, for whoever is free. */
  inline val Invited = 1

  /** Was started on a worker of its own, since the one before it is likely to block. */
  inline val Spawned = 2

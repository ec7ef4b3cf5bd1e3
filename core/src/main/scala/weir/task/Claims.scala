package weir.task

import java.lang.invoke.{MethodHandles, VarHandle}
import java.util.concurrent.CancellationException
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import scala.annotation.{static, tailrec, unused}
import weir.Task
import weir.kernel.{Enter, Locals, Pure, RunLoop, Suspend, Waiter}
import weir.runtime.{Invitations, Job, Pause, Tuning}
import weir.sync.Awaited
import weir.trace.{ErrorTrace, Roster}

/** Children that as few fibers run as can: the engine under every parallel operator on tasks.
  *
  * Fibers called ''runners'' claim children one after the other and run each in place. The first runner is run
  * by the parent's thread as the parent suspends; a runner that has claimed a child invites one more through the
  * queue, unless an invitation is waiting there already. So children that never suspend are all run by the runners
  * that the carriers allow, and a child that suspends or blocks takes its runner with it, while the invitation
  * waits in the queue for whoever is free.
  *
  *   - **Shared**: `active` counts the runners that have begun and not ended. A runner ends only when nothing is
  *     left to claim or the group is stopped, so the group is over when `active` comes down to 0: each claimed
  *     child is being run by an active runner. A late runner may bring it to 1 and down again, hence `ended`.
  *   - **Stopping**: `stopped` is set before the list of runners is read, and a runner enters the list before it
  *     reads `stopped`: so either it is cancelled or it claims nothing.
  *   - **Inviting**: a runner makes what it leaves to others visible, then reads `invited`; an invited runner sets it to
  *     false, then looks for something to claim. So what is left is seen by the one or invited for by the other.
  *   - **Watching**: an invited runner's fiber says whether it is needed yet (`Job.need`). While the others claim one child after
  *     the other, the standby only watches: a second carrier that joins 1,000 ready children makes them slower. It is
  *     needed as soon as few were claimed since the last look, so at once where children block, and in any case after a
  *     while. `invited` stays true meanwhile. Once somebody has spawned, it is needed at once.
  *   - **Spawning**: a runner on a thread that has come for a blocked one starts another runner on a worker of its own, and invites
  *     one all the same: where children block one after the other, the way through the queue and the standby costs more than they
  *     do, and goes from carrier to carrier. A spawned runner may be dropped, and takes part in no rule but `active`.
  *   - **Putting off**: where groups of this kind have lately needed nobody, the first runner sets `invited` at once and leaves the
  *     invitation to `Invitations`. Whoever takes it from there sets `invited` to false, and looks then for something to claim or to invite for:
  *     so what others have left, seeing `invited` true, is found.
  *   - **Shown**: nobody spawns before the group is in the roster, where it stays until it is over. A dump finds the runners there, so
  *     that a worker that was spawned need not be in the list of workers for its runner.
  *   - **Bounded**: `started` is only written by the one who has set `invited`, one at a time.
  */
private[weir] abstract class Claims(limit: Int) extends Awaited, Invitations.Group:

  /** What each child begins with. Written by the parent before the first runner is queued. */
  private[task] var inherited: Locals | Null = null

  // owner only: whoever has moved `invited` to true, until the invited runner has begun
  private var started = 1

  // shared
  private val active = AtomicInteger(1)
  @volatile private var invited = false
  @volatile private[task] var stopped: Claims.Stop | Null = null
  @volatile private[task] var shown = false

  /** The group's place in the roster, set by whoever has moved `shown` to true. */
  @volatile private var place: Roster.Place | Null = null
  private val runners = AtomicReference[Runner | Null](null)

  /** Null, or who waits for the end of a cancelled group, or `Ended`. */
  private val ended = AtomicReference[AnyRef | Null](null)
  private var parent: GroupWaiter | Null = null

  // ---- what a group consists of ----

  /** Claims a child: true if `runner.index` and `runner.item` say which; false if none is left. */
  def claim(runner: Runner): Boolean

  /** True if a further runner would find something to claim. */
  def hasMore: Boolean

  /** How many children have been claimed; always 0 where a look is not cheap. */
  def claimedCount: Long = 0

  /** The child that `runner` has claimed. */
  def child(runner: Runner): Task[Any]

  def store(runner: Runner, value: Any): Unit

  /** Claims, runs and stores further children while they are ready, as far as that can be done faster than one by one. Returns one
    * that is not, claimed; `Runner.NoChild` if the runner has to `claim`.
    */
  private[task] def runReady(@unused runner: Runner, @unused fiber: RunLoop): Task[Any] =
    Runner.NoChild

  /** The result of a group whose children have all succeeded. */
  def result: Any

  /** Groups with the same number are likely to be alike; 0 for one that always invites at once. Others must have a `hasMore` that
    * runs no code of users'.
    */
  def kind: Int = 0

  /** A child has cancelled itself: that cancels the group, and the parent. */
  def childCanceled(): Unit = stop(Claims.Stop.Canceled)

  /** The value of a group that was cancelled, and is over, if it has got one all the same. */
  private[task] def late: Pure[Any] | Null = verdict match
    case Claims.Stop.Won(value) => Pure(value)
    case _ => null

  /** Called once, when the group is over. */
  protected def over(): Unit = ()

  /** How the group ends, once it is over; null with `result`. */
  protected def verdict: Claims.Stop | Null = stopped

  /** What a cancelled parent does. */
  def cancelHook: Task[Unit] = cancelAndWait

  // ---- in a dump ----

  def awaitedAs: String = "children that it runs concurrently"

  override def holders: Iterator[RunLoop] =
    Iterator
      .iterate(runners.get)(_.nn.next)
      .takeWhile(_ ne null)
      .map(_.nn.fiber)
      .filter(_.outcome eq null)

  private[task] final def parentFiber: RunLoop | Null =
    val waiter = parent
    if waiter eq null then null else waiter.fiber

  // ---- running ----

  /** Starts the group. The parent waits for what it returns. */
  final def start(fiber: RunLoop): Waiter =
    val waiter = GroupWaiter(fiber, this)
    parent = waiter
    inherited = fiber.heritage
    fiber.handOver(runner(fiber, Runner.First))
    waiter

  /** For all that are spawned: it has no state of its own. */
  private val spawnedTask = RunnerTask(this, Runner.Spawned)

  private def runner(fiber: RunLoop, role: Int): RunLoop = runner(fiber, RunnerTask(this, role))

  private def runner(fiber: RunLoop, task: RunnerTask): RunLoop =
    val runner = RunLoop(fiber.runtime, task)
    runner.locals = inherited
    runner

  /** True once the group has ended, for good. */
  final def isOver: Boolean = ended.get eq Claims.Ended

  final def isStopped: Boolean = stopped ne null

  /** Cancels what runs, other than the runner `by`, and claims nothing more. The first reason counts, but a value is more than a
    * cancel; later errors are suppressed under it.
    */
  final def stop(reason: Claims.Stop, by: Runner | Null = null): Unit =
    passToParent(reason, by)
    if Claims.Stopped.compareAndSet(this, null, reason) then
      var runner = runners.get
      while runner ne null do
        if runner ne by then runner.fiber.requestCancel()
        runner = runner.next
    else if !(reason.isInstanceOf[Claims.Stop.Won] &&
        Claims.Stopped.compareAndSet(this, Claims.Stop.Canceled, reason))
    then
      (stopped, reason) match
        case (Claims.Stop.Failed(first), Claims.Stop.Failed(later)) =>
          Failures.add(first, later): Unit
        case _ => ()

  private def passToParent(reason: Claims.Stop, by: Runner | Null): Unit = reason match
    case Claims.Stop.Failed(error) if by ne null =>
      ErrorTrace.pass(error, parentFiber, from = by.fiber)
    case _ => ()

  private[task] final def enter(runner: Runner, role: Int): Unit =
    if role != Runner.First then active.incrementAndGet(): Unit
    if role == Runner.Invited then
      invited = false // before it looks for something to claim: pairs with the reads in invite
    link(runner)

  @tailrec private def link(runner: Runner): Unit =
    val head = runners.get
    runner.next = head
    if !runners.compareAndSet(head, runner) then link(runner)

  /** Makes sure that, while there is something left to claim, an invitation is waiting for whoever is free. To be called
    * after each claim, before the child is run.
    */
  private[task] final def invite(fiber: RunLoop): Unit =
    if limit == Int.MaxValue && fiber.maySpawn() && hasMore && isShown(fiber) then
      fiber.spawn(runner(fiber, spawnedTask))
    inviteOne(fiber)

  /** True once a dump finds the group. Where there is no memory for that, its children can do without workers of their own. */
  private def isShown(by: RunLoop): Boolean =
    (place ne null) || !shown && Claims.Shown.compareAndSet(this, false, true) && {
      try place = by.runtime.scheduler.roster.enter(this, by.home)
      catch case _: OutOfMemoryError => ()
      place ne null
    }

  private[task] final def inviteOne(by: RunLoop | Null): Unit =
    if !invited && started < limit && hasMore && Claims.Invited.compareAndSet(this, false, true)
    then
      if started < limit then
        val next = runner(parent.nn.fiber, Runner.Invited)
        started += 1
        try if by ne null then by.submit(next) else next.runtime.scheduler.submit(next)
        catch
          case error: Throwable =>
            started -= 1 // `inviteLate` is called again
            throw error
      else invited = false

  // ---- putting the first invitation off: for the first runner ----

  /** Puts it off if that may be. Returns the place for `takeBack`, or -1. Not for a group of kind 0. */
  private[task] final def putOff(fiber: RunLoop): Int =
    val scheduler = fiber.runtime.scheduler
    if scheduler.spawns && scheduler.invitations.canWait(kind) &&
      Claims.Invited.compareAndSet(this, false, true)
    then
      val place = scheduler.invitations.putOff(fiber.home, this)
      if place < 0 then invited = false
      place
    else -1

  /** Takes it back: true if it was put off until now. Then the runner has to look again for something to claim, or to `invite`. */
  private[task] final def takeBack(fiber: RunLoop, place: Int): Boolean =
    val was = fiber.runtime.scheduler.invitations.take(place, this)
    if was then invited = false
    was

  final def inviteLate(): Unit =
    invited = false // then it looks: whoever has left something before has seen it true
    if !isStopped then inviteOne(null)

  final def isBlocked: Boolean =
    val runner = runners.get
    val thread = if runner eq null then null else runner.fiber.runningOn
    (thread ne null) && thread.getState != Thread.State.RUNNABLE

  /** A runner that has been cancelled leaves its place, and its share of `active`, to a new one. */
  private[task] final def replace(fiber: RunLoop): Unit =
    fiber.submit(runner(fiber, Runner.First))

  /** Waits a moment for runners that are about to end, so that the parent goes on where it was. To be called by a runner
    * whose children were ready, and so those of the others may be.
    */
  private[task] final def lingerForOthers(): Unit =
    Pause.atMost(Tuning.lingerNanos)(active.get == 1)

  private[task] final def exit(fiber: RunLoop): Unit =
    if active.decrementAndGet() == 0 then
      ended.getAndSet(Claims.Ended) match
        case Claims.Ended => ()
        case waiting =>
          val at = place
          if at ne null then fiber.runtime.scheduler.roster.leave(at)
          over()
          waiting match
            case waiter: Waiter => waiter.complete(()): Unit
            case _ => finish(parent.nn, fiber)

  private def finish(waiter: GroupWaiter, fiber: RunLoop): Unit =
    waiter.lastRunner = fiber
    verdict match
      case null =>
        val value =
          try result
          catch
            case error: Throwable =>
              ErrorTrace.pass(error, waiter.fiber, from = null) // of a child that has failed first
              waiter.fail(error): Unit
              return
        waiter.complete(value): Unit
      case Claims.Stop.Failed(error) => waiter.fail(error): Unit
      case Claims.Stop.Won(value) => waiter.complete(value): Unit
      case Claims.Stop.Canceled =>
        waiter.fiber.requestCancel()
        waiter.fail(
          CancellationException(
            "A child canceled itself. That cancels its parent too, which is masked here."
          )
        ): Unit

  /** Stops the group and waits until it is over. */
  private[task] final val cancelAndWait: Task[Unit] = new Suspend[Unit]:
    def begin(fiber: RunLoop): Any =
      stop(Claims.Stop.Canceled)
      val waiter = new Waiter(fiber):
        override def awaited: Awaited = Claims.this
      if ended.compareAndSet(null, waiter) then waiter else ()

private[weir] object Claims:
  @static private val Invited: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[Claims], "invited", classOf[Boolean])
  @static private val Shown: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[Claims], "shown", classOf[Boolean])
  @static private val Stopped: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[Claims], "stopped", classOf[Stop])

  private object Ended

  enum Stop:
    case Failed(error: Throwable)
    case Won(value: Any)
    case Canceled

/** The parent's wait for its children. */
private[weir] final class GroupWaiter(parent: RunLoop, claims: Claims) extends Waiter(parent):
  /** The runner that ends the group; its thread goes on with the parent. */
  var lastRunner: RunLoop | Null = null

  override protected def resumeFiber(): Unit =
    val runner = lastRunner
    if (runner eq null) || isCanceled then super.resumeFiber() else fiber.resumeAfter(this, runner)

  override def cancelHook: Task[Unit] = claims.cancelHook
  override def late: Pure[Any] | Null = claims.late
  override def isFound: Boolean = true // by its children
  override def awaited: Awaited = claims

/** What the fiber of a runner begins with. */
private final class RunnerTask(claims: Claims, role: Int) extends Enter[Unit]:
  /** How many were claimed when it was last looked at. */
  private var seen = if role == Runner.Invited then claims.claimedCount else 0
  private var looks = 0

  def begin(fiber: RunLoop): Runner = Runner(claims, fiber, role)

  override def need: Int =
    if role == Runner.First then Job.Now
    else if claims.isOver then Job.Never
    else if claims.shown then Job.Now // children block: they get on as fast as runners come
    else
      val now = claims.claimedCount
      // The first look may come so soon after the invitation that hardly anything can have been claimed.
      val fast = if looks == 0 then 1 else Tuning.watchedClaims
      looks += 1
      if now - seen < fast || looks > Tuning.watchRounds then Job.Now
      else
        seen = now
        Job.Later

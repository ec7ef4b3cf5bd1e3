package weir.group

import java.lang.invoke.{MethodHandles, VarHandle}
import java.util.concurrent.CancellationException
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import scala.annotation.{static, tailrec, unused}
import scala.concurrent.ExecutionContext
import weir.Task
import weir.fiber.{Awaited, HoldsUserCode, Locals, Pure, Suspend, TaskFiber, Waiter}
import weir.runtime.{Pause, Tuning}
import weir.trace.ErrorTrace

/** Children that are run concurrently by as few fibers as possible: the engine under every parallel
  * operator on tasks.
  *
  * Fibers called ''runners'' take children one after the other and run each in place. README.md in
  * this folder has the states and the protocol. `HelperPolicy` decides when one more runner is
  * requested.
  *
  *   - **Shared**: `active` counts the runners that have begun and not ended. A runner ends only
  *     when no child is left to take or the group is stopped, and every child that was taken is run
  *     by an active runner. So the group has ended when `active` comes down to 0. A late runner may
  *     bring it to 1 and down again, hence `endState`.
  *   - **Stopping**: `stopped` is set before the list of runners is read, and a runner enters the
  *     list before it reads `stopped`. So either it is cancelled or it takes no child.
  */
private[weir] abstract class ChildGroup(limit: Int) extends HelperPolicy(limit), HoldsUserCode:

  /** The locals that each child begins with. Written by the parent before the first runner runs. */
  private[group] var inherited: Locals | Null = null

  /** The execution context of the parent, likewise. */
  private var context: ExecutionContext | Null = null

  // shared
  private val active = AtomicInteger(1)
  @volatile private[weir] var stopped: ChildGroup.Stop | Null = null

  /** All runners that have begun, the latest first. */
  private val runners = AtomicReference[Runner | Null](null)

  /** Null, the waiter of a canceller, or `Ended`. */
  private val endState = AtomicReference[AnyRef | Null](null)
  private var parent: GroupWaiter | Null = null

  // ---- what a group consists of ----

  /** Takes a child. Returns true if `runner.index` and `runner.item` identify it, false if none is
    * left.
    */
  def take(runner: Runner): Boolean

  /** Returns the child that `runner` has taken. */
  def child(runner: Runner): Task[Any]

  def store(runner: Runner, value: Any): Unit

  /** Takes, runs and stores further children while they are ready, as far as that is faster than
    * one by one. Returns a child that was taken and is not ready, or `Runner.NoChild` if the runner
    * has to `take` the next one.
    */
  private[weir] def runReady(@unused runner: Runner, @unused fiber: TaskFiber): Task[Any] =
    Runner.NoChild

  /** Returns the result of a group whose children have all succeeded. */
  def result: Any

  /** Called when a child has cancelled itself: that cancels the group, and the parent. */
  def childCancelled(): Unit = stop(ChildGroup.Stop.Cancelled)

  /** Returns the value of a group that was cancelled and has ended, if it has one nevertheless. */
  private[weir] def late: Pure[Any] | Null = ending match
    case ChildGroup.Stop.Won(value) => Pure(value)
    case _ => null

  /** Called once, when the group has ended. */
  protected def onEnd(): Unit = ()

  /** Returns the reason for which a group that has ended was stopped; null for its `result`. */
  protected def ending: ChildGroup.Stop | Null = stopped

  /** Returns true if an error of a child counts although another child has cancelled itself before.
    */
  protected def errorOverCancel: Boolean = false

  /** Returns true if a masked parent waits for ever once a child has cancelled itself. */
  protected def endsByCancelAlone: Boolean = false

  /** Returns the task that a cancelled parent runs. */
  def cancelHook: Task[Unit] = cancelAndWait

  // ---- in a dump ----

  def awaitedAs: String = "children that it runs concurrently"

  override def holders: Iterator[TaskFiber] =
    Iterator
      .iterate(runners.get)(_.nn.next)
      .takeWhile(_ ne null)
      .map(_.nn.fiber)
      .filter(_.outcome eq null)

  private[weir] final def parentFiber: TaskFiber | Null =
    val waiter = parent
    if waiter eq null then null else waiter.fiber

  // ---- beginning ----

  /** Starts the group, on the thread of `fiber`. Returns the waiter that the parent waits for. */
  final def start(fiber: TaskFiber): Waiter =
    val waiter = GroupWaiter(fiber, this)
    parent = waiter
    inherited = fiber.localsForChild
    context = fiber.context
    fiber.handOver(newRunner(Runner.First, fiber))
    waiter

  /** One for all spawned runners: it has no state of its own. */
  private val spawnedTask = RunnerTask(this, Runner.Spawned)

  private[group] final def newRunner(role: Int, by: TaskFiber): TaskFiber =
    val task = if role == Runner.Spawned then spawnedTask else RunnerTask(this, role)
    val runner = TaskFiber(by.runtime, task)
    runner.locals = inherited
    runner.context = context
    runner

  /** Called by a runner as it begins. */
  private[group] final def begin(runner: Runner, role: Int): Unit =
    if role != Runner.First then active.incrementAndGet(): Unit
    if role == Runner.Helper then helperBegins()
    link(runner)

  @tailrec private def link(runner: Runner): Unit =
    val head = runners.get
    runner.next = head
    if !runners.compareAndSet(head, runner) then link(runner)

  private[group] final def latestRunner: Runner | Null = runners.get

  /** Queues a new runner in the place of one that was cancelled, whose count in `active` it takes
    * over.
    */
  private[group] final def replaceRunner(fiber: TaskFiber): Unit =
    fiber.submit(newRunner(Runner.First, fiber))

  // ---- stopping ----

  final def isStopped: Boolean = stopped ne null

  /** Cancels all runners except `by`; no further child is taken. The first reason counts, but a
    * value counts more than a cancel. Later errors are suppressed under it.
    */
  final def stop(reason: ChildGroup.Stop, by: Runner | Null = null): Unit =
    passToParent(reason, by)
    if ChildGroup.Stopped.compareAndSet(this, null, reason) then
      var runner = runners.get
      while runner ne null do
        if runner ne by then runner.fiber.requestCancel()
        runner = runner.next
    else if !(counts(reason) &&
        ChildGroup.Stopped.compareAndSet(this, ChildGroup.Stop.Cancelled, reason))
    then
      (stopped, reason) match
        case (ChildGroup.Stop.Failed(first), ChildGroup.Stop.Failed(later)) =>
          Failures.add(first, later): Unit
        case _ => ()

  /** Returns true if `reason` counts more than a cancel. */
  private def counts(reason: ChildGroup.Stop): Boolean = reason match
    case ChildGroup.Stop.Won(_) => true
    case ChildGroup.Stop.Failed(_) => errorOverCancel
    case ChildGroup.Stop.Cancelled => false

  private def passToParent(reason: ChildGroup.Stop, by: Runner | Null): Unit = reason match
    case ChildGroup.Stop.Failed(error) if by ne null =>
      ErrorTrace.pass(error, parentFiber, from = by.fiber)
    case _ => ()

  /** Stops the group and waits until it has ended. */
  private[weir] final val cancelAndWait: Task[Unit] = new Suspend[Unit]:
    def begin(fiber: TaskFiber): Any =
      stop(ChildGroup.Stop.Cancelled)
      val waiter = new Waiter(fiber):
        override def awaited: Awaited = ChildGroup.this
      if endState.compareAndSet(null, waiter) then waiter else ()

  // ---- ending ----

  /** Returns true once the group has ended, for good. */
  final def hasEnded: Boolean = endState.get eq ChildGroup.Ended

  /** Spins for a moment until the other runners have ended, so that the parent continues on its own
    * thread. Must be called by a runner whose children were ready: then those of the others may be
    * ready too.
    */
  private[group] final def spinWaitForOthers(): Unit =
    Pause.atMost(Tuning.spinWaitNanos)(active.get == 1)

  /** Called by a runner as it ends; the last one ends the group. */
  private[group] final def end(fiber: TaskFiber): Unit =
    if active.decrementAndGet() == 0 then
      endState.getAndSet(ChildGroup.Ended) match
        case ChildGroup.Ended => ()
        case waiting =>
          unregister(fiber)
          onEnd()
          waiting match
            case waiter: Waiter => waiter.complete(()): Unit
            case _ => finish(parent.nn, fiber)

  private def finish(waiter: GroupWaiter, fiber: TaskFiber): Unit =
    waiter.lastRunner = fiber
    ending match
      case null =>
        val value =
          try result
          catch
            case error: Throwable =>
              ErrorTrace.pass(error, waiter.fiber, from = null) // of a child that has failed first
              waiter.fail(error): Unit
              return
        waiter.complete(value): Unit
      case ChildGroup.Stop.Failed(error) => waiter.fail(error): Unit
      case ChildGroup.Stop.Won(value) => waiter.complete(value): Unit
      case ChildGroup.Stop.Cancelled =>
        waiter.fiber.requestCancel()
        if !endsByCancelAlone then
          waiter.fail(
            CancellationException(
              "A child cancelled itself. That cancels its parent too, which is masked here."
            )
          ): Unit

private[weir] object ChildGroup:
  @static private val Stopped: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[ChildGroup], "stopped", classOf[Stop])

  private object Ended

  /** The reason why no further child is taken. */
  enum Stop:
    case Failed(error: Throwable)
    case Won(value: Any)
    case Cancelled

/** The parent's wait for its group of children. */
private[weir] final class GroupWaiter(parent: TaskFiber, group: ChildGroup) extends Waiter(parent):
  /** The runner that ends the group; the parent continues on its thread. */
  var lastRunner: TaskFiber | Null = null

  override protected def resumeFiber(): Unit =
    val runner = lastRunner
    if (runner eq null) || isCanceled then super.resumeFiber() else fiber.resumeAfter(this, runner)

  override def cancelHook: Task[Unit] = group.cancelHook
  override def late: Pure[Any] | Null = group.late
  override def isFound: Boolean = true // a dump finds the parent by its children
  override def awaited: Awaited = group

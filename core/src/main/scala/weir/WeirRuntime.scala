package weir

import java.io.{PrintWriter, StringWriter}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.ExecutionContext
import weir.fiber.{CallbackJoin, EagerlyLinked, ErrorTraces, FiberCore, Waiter}
import weir.group.{GroupWaiter, HelperRequests}
import weir.metrics.{Metric, Metrics, RuntimeMetrics}
import weir.runtime.{Counters, ExecutionThread, PlatformThreads, Scheduler, SpinListener}
import weir.runtime.{SystemTimers, Timers, Tuning}
import weir.task.ContextOfRuntime
import weir.trace.{DumpSignal, ErrorTrace, Snapshot, SpinReports}

/** A scheduler and a timer that tasks run on.
  *
  * A program needs only one, `WeirRuntime.default`, which the compiler passes if no other is given.
  * There is no pool to choose, because every task may block.
  */
class WeirRuntime private[weir] (
    private[weir] val scheduler: Scheduler,
    private[weir] val timers: Timers,
    private[weir] val hook: ContextHook | Null
):
  // before the first fiber: the classes that override `Waiter.resumeFiber`
  EagerlyLinked(classOf[CallbackJoin], classOf[GroupWaiter])
  if scheduler.spinListener eq SpinListener.Silent then
    scheduler.spinListener = SpinReports.printing

  private[weir] val helperRequests: HelperRequests = HelperRequests()
  private[weir] val platformThreads: PlatformThreads = PlatformThreads()
  private[weir] val abandonedTaskCount: AtomicInteger = AtomicInteger()

  /** Returns this runtime as an execution context. It runs each piece of code on a separate fiber,
    * so the code may block. An error is printed. It is for futures, and for libraries that take a
    * context.
    * {{{
    * val length = scala.concurrent.Future("abc".length)(using WeirRuntime.default.executionContext)
    * }}}
    */
  lazy val executionContext: ExecutionContext = ContextOfRuntime(this)

  /** Returns the number of tasks that were abandoned and have not ended yet. They were abandoned by
    * `timeoutAbandon`, or by a cancel of a native call that nothing ends, such as opening a named
    * pipe that nobody writes to.
    */
  def abandonedTasks: Int = abandonedTaskCount.get

  /** Returns the metrics of this runtime, then those of all sources in this JVM: named primitives,
    * observed streams, and those that were registered with `Metrics.register`. It may be called at
    * any time, from any thread. The time that it takes grows with the number of fibers.
    * {{{
    * WeirRuntime.default.metrics.foreach(metric => println(s"${metric.name} ${metric.points}"))
    * }}}
    */
  def metrics: Vector[Metric] = RuntimeMetrics(this) ++ Metrics.ofSources

  /** Returns a dump of all fibers of this runtime. It shows for each fiber its state, the time in
    * that state, the object that it waits for, the fibers that must act before the wait can end,
    * and the user's lines. It also lists the fibers that wait for each other in a cycle.
    */
  def fiberDump(): FiberDump = FiberDump.of(this)

  /** Requests the cancel of the fiber that a dump names `fiber`. Returns false, and cancels
    * nothing, if there is no such fiber any more, or if more than one fiber has that name. Does not
    * wait until the fiber has ended.
    * {{{
    * val isFound = WeirRuntime.default.cancelFiber("6acdbdf5")
    * }}}
    */
  def cancelFiber(fiber: String): Boolean = Snapshot.find(this).filter(_.name == fiber) match
    case Vector(one) =>
      one.requestCancel()
      true
    case _ => false

  /** Returns the text of `fiberDump`. */
  def dump(): String = fiberDump().toString

  /** Prints the dump to the standard error each time that this process receives `signal`, such as
    * `USR2`: `kill -USR2 PID`.
    *
    * **Fails** with an `IllegalArgumentException` if the JVM keeps that signal for itself.
    */
  def dumpOnSignal(signal: String): Unit = DumpSignal.install(this, signal)

  /** Calls `report` once for each piece of a task that computes for over 200 ms without yielding,
    * on a thread of the runtime's own. Until this method is called, the reports are printed to the
    * standard error. The runtime of a test does not report spins.
    */
  def onSpin(report: Spin => Unit): Unit = scheduler.spinListener = SpinReports(report)

  /** Checks if the context of OpenTelemetry follows fibers; null after the check, or if there is
    * nothing to check.
    */
  @volatile private[weir] var otelCheck: ContextHook.OtelCheck | Null = null

  /** Called where code outside of any task runs a task. */
  final private[weir] def entered(): Unit =
    val check = otelCheck
    if (check ne null) && !check.isPending(hook) then otelCheck = null

  /** Adds the user's lines to the errors of fibers. */
  final private[weir] def errorTraces: ErrorTraces = ErrorTrace

  /** Prints an error that no code is left to handle. `where` names the part that has failed. */
  private[weir] def report(where: String, error: Throwable): Unit =
    val text = StringWriter()
    try error.printStackTrace(PrintWriter(text))
    // This calls the error's own methods, which may throw.
    catch case _: Throwable => text.write(s"${error.getClass.getName}, which failed to say more")
    val lines = text.toString.stripTrailing
    System.err.println(s"weir: $where failed, and nobody is left to handle its error:\n$lines")

  // Two hooks for the test kit's runtime. They are empty here: the JIT removes the calls.

  /** Called for each new fiber, at the end of its constructor. */
  private[weir] def begun(fiber: FiberCore): Unit = ()

  /** Called before each wait for a callback that code outside of the runtime may call. */
  private[weir] def waitsOutside(waiter: Waiter): Unit = ()

  private[weir] def isQuiet: Boolean = scheduler.isQuiet && timers.size == 0

object WeirRuntime:
  /** Returns how often carriers have disturbed each other, by name: lost races, locks found held,
    * wake-ups, steals. It is for measurements, and counts all runtimes of this JVM since its start.
    * Names with a count of 0 are left out. The map is empty unless the JVM was started with
    * `-Dweir.counters=true`.
    */
  def counters: Map[String, Long] = Counters.snapshot.toMap

  /** The runtime of this JVM, with as many carriers as the JDK gives to virtual threads. */
  lazy val default: WeirRuntime =
    val runtime = hooked(Scheduler.carriersOfThisJvm, Tuning.ringCapacity, ContextHook.installed)
    runtime.otelCheck = ContextHook.OtelCheck.make()
    DumpSignal.installAsAsked(runtime)
    RuntimeHook.callInstalled(runtime)
    runtime

  /** Returns the runtime of the fiber that the calling thread runs, or `default` if the thread runs
    * no fiber. The compiler passes it if no other runtime is given. So a `runSync` in the code of a
    * task stays on the runtime of that task, under the test kit too. A thread that the code of a
    * task has started runs no fiber, nor does the thread of `Task.onPlatformThread`.
    */
  given current: () => WeirRuntime =
    val thread = ExecutionThread.here
    if thread eq null then default
    else
      thread.running match
        case fiber: FiberCore => fiber.runtime
        case _ => default

  private[weir] def make(carriers: Int, ringCapacity: Int): WeirRuntime =
    hooked(carriers, ringCapacity, null)

  private[weir] def hooked(
      carriers: Int,
      ringCapacity: Int,
      hook: ContextHook | Null
  ): WeirRuntime =
    val scheduler = Scheduler(carriers, ringCapacity)
    WeirRuntime(scheduler, SystemTimers(shardCount = scheduler.shardCount), hook)

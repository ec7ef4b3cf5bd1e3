package weir.app

import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import java.util.concurrent.{CompletableFuture, TimeUnit, TimeoutException}
import scala.concurrent.duration.FiniteDuration
import weir.fiber.Unhandled
import weir.io.TerminationSignals
import weir.runtime.DurationText
import weir.task.RunAsync
import weir.{ExitCode, Outcome, Task, WeirRuntime}

/** Runs a process for one task, from its start to its exit code.
  *
  * {{{
  * running --the task has ended--------------------------------> exiting
  *    |                                                             ^
  *    +--a signal--> stopping --the task has ended, or the deadline-+--a signal--> halted
  *    +--System.exit by anybody: the shutdown hook cancels----------+
  * }}}
  *
  *   - **The thread that ends the process** is the one that moves `exiting` to true, once. That is
  *     the main thread, the thread of the first signal at its deadline, or the shutdown hook. The
  *     JVM is never left to end by itself: without the main thread it would do so with exit code 0,
  *     while the others, which are daemons, were still printing. So the main thread blocks if
  *     another thread was faster.
  *   - **A hang** is ended by `Deadline`. It is started before anything that may block for ever,
  *     with one exception: a task that ends by itself waits until its output is read, as any
  *     program does. A signal ends that wait.
  *   - **System.exit** blocks the thread that calls it until all hooks have run, and swallows
  *     interrupts meanwhile. So a fiber that calls it cannot end, nor can a fiber that waits for
  *     it. The hook waits for all fibers except these.
  */
private[weir] final class MainProcess(
    task: Task[ExitCode | Unit],
    runtime: WeirRuntime,
    deadline: FiniteDuration
):

  // immutable
  private val ended = CompletableFuture[Outcome[ExitCode | Unit]]()
  private val fiber = RunAsync.newFiber(task, ended.complete(_): Unit, runtime)

  // shared
  /** The exit code of the first signal; 0 before it. */
  private val stopping = AtomicInteger()
  private val exiting = AtomicBoolean()

  /** Runs the task and ends the process. If this runs inside of another program that continues,
    * such as a build tool, it does not end the process: it returns if the exit code is 0, and
    * throws otherwise.
    */
  def run(): Unit =
    val hook = Thread.ofPlatform().name("weir-shutdown").unstarted(() => shutDown())
    java.lang.Runtime.getRuntime.addShutdownHook(hook)
    val signals = TerminationSignals.handle(onSignal)
    runtime.scheduler.submit(fiber)
    val outcome = ended.join()
    if MainProcess.isGuest then
      signals.close()
      java.lang.Runtime.getRuntime.removeShutdownHook(hook): Unit
      returnFrom(outcome)
    else if exiting.compareAndSet(false, true) then
      try
        TerminalMessages.flush()
        problem(outcome).foreach(System.err.println)
      catch case error: Throwable => TerminalMessages.print(TerminalMessages.trace(error))
      exit(exitCode(outcome))
    else CompletableFuture[Nothing]().join()

  private def onSignal(name: String, code: Int): Unit =
    if exiting.get || !stopping.compareAndSet(0, code) then java.lang.Runtime.getRuntime.halt(code)
    fiber.requestCancel()
    val patience = MainProcess.patience.min(deadline)
    if !hasEndedWithin(patience) then
      if patience < deadline then
        TerminalMessages.print(
          s"weir: $name has cancelled the main task, whose finalizers still run. They may take " +
            s"another ${DurationText(deadline - patience)}; a second signal ends the process at " +
            "once."
        )
      if !hasEndedWithin(deadline - patience) && exiting.compareAndSet(false, true) then
        TerminalMessages.print(stuck(name))
        exit(code)

  /** The shutdown hook. The JVM runs it after a call of `System.exit`, also after that of `exit`
    * below.
    */
  private def shutDown(): Unit =
    if exiting.compareAndSet(false, true) then
      Deadline.start(deadline * 2, exitCode = ExitCode.Error.code) // a hook is not told the code
      fiber.requestCancel()
      val end = deadline.fromNow
      while !hasEndedWithin(MainProcess.look) && !Exits.hold(fiber) && end.hasTimeLeft() do ()
      if ended.isDone then
        ended.join() match
          case Outcome.Failed(error) => TerminalMessages.print(TerminalMessages.trace(error))
          case _ => ()
      else if !Exits.hold(fiber) then TerminalMessages.print(stuck("System.exit"))

  private def exit(code: Int): Unit =
    Deadline.start(deadline, code)
    System.exit(code)

  private def returnFrom(outcome: Outcome[ExitCode | Unit]): Unit =
    TerminalMessages.flush()
    Unhandled.close()
    outcome match
      case Outcome.Failed(error) => throw error
      case _ if exitCode(outcome) != 0 =>
        throw IllegalStateException(
          s"The program has ended with exit code ${exitCode(outcome)}. It runs inside of another " +
            "program, so the process was not ended."
        )
      case _ => ()

  private def hasEndedWithin(limit: FiniteDuration): Boolean =
    try
      ended.get(limit.toNanos, TimeUnit.NANOSECONDS): Unit
      true
    catch case _: TimeoutException => false

  /** Returns the exit code of the process. A task that ends after a signal, with an exit code of
    * its own, keeps that: it may have done its work.
    */
  private def exitCode(outcome: Outcome[ExitCode | Unit]): Int = outcome match
    case Outcome.Succeeded(code: ExitCode) => code.code
    case Outcome.Succeeded(_) => ExitCode.Success.code
    case Outcome.Canceled if stopping.get != 0 => stopping.get
    case _ => ExitCode.Error.code

  private def problem(outcome: Outcome[ExitCode | Unit]): Option[String] = outcome match
    case Outcome.Failed(error) => Some(TerminalMessages.trace(error))
    case Outcome.Canceled if stopping.get == 0 =>
      Some("weir: the main task has cancelled itself.")
    case _ => None

  private def stuck(asked: String): String =
    s"weir: the main task has not ended within ${DurationText(deadline)} of $asked. " +
      s"A dump:\n${runtime.dump()}"

private[weir] object MainProcess:
  import scala.concurrent.duration.DurationInt

  /** The time that finalizers may take until the user is told about them. */
  private val patience = 1.second

  /** The interval at which the shutdown hook checks whether the fiber can still end: no event says
    * that it cannot.
    */
  private val look = 20.millis

  /** Returns true if another program has called `main`: the JVM's own main thread is in the group
    * "main", and programs that run others put them into another group.
    */
  private def isGuest: Boolean =
    val group = Thread.currentThread().getThreadGroup
    (group ne null) && group.getName != "main"

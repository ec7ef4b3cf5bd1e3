package weir.app

import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import java.util.concurrent.{CompletableFuture, TimeUnit, TimeoutException}
import scala.concurrent.duration.FiniteDuration
import weir.task.Running
import weir.trace.Unhandled
import weir.{ExitCode, Outcome, Runtime, Task}

/** A process that is there for one task, from its start to its exit code.
  *
  * {{{
  * running --the task has ended--------------------------------> exiting
  *    |                                                             ^
  *    +--a signal--> stopping --the task has ended, or the deadline-+--a signal--> halted
  *    +--System.exit by anybody: the shutdown hook cancels----------+
  * }}}
  *
  *   - **Who ends the process** is whoever moves `exiting` to true, once: the main thread, the thread of the first signal at its
  *     deadline, or the shutdown hook. The JVM is never left to end by itself: with the main thread gone, it would do so with exit
  *     code 0 while the others, daemons, were still printing. So the main thread stays where another one was faster.
  *   - **A hang** is what `Deadline` is for: it is started before anything that may block for ever, but for one: a task that ends by
  *     itself waits for whoever reads its output, like any program. A signal stops that.
  *   - **System.exit** blocks the thread that calls it until all hooks have run, and swallows interrupts meanwhile. So a fiber
  *     that calls it cannot end, nor what waits for that fiber: the hook waits for all but these.
  */
private[weir] final class MainProcess(
    task: Task[ExitCode | Unit],
    runtime: Runtime,
    deadline: FiniteDuration
):

  // immutable
  private val ended = CompletableFuture[Outcome[ExitCode | Unit]]()
  private val fiber = Running.make(task, ended.complete(_): Unit, runtime)

  // shared
  /** The exit code that the first signal calls for; 0 before it. */
  private val stopping = AtomicInteger()
  private val exiting = AtomicBoolean()

  /** Ends the process, unless it is not the process's own main thread that calls it, but a program that lives on, such as a
    * build tool. Then it returns where the exit code is 0, and throws where it is not.
    */
  def run(): Unit =
    val hook = Thread.ofPlatform().name("weir-shutdown").unstarted(() => shutDown())
    java.lang.Runtime.getRuntime.addShutdownHook(hook)
    val signals = Signals.handle(onSignal)
    runtime.scheduler.submit(fiber)
    val outcome = ended.join()
    if MainProcess.isGuest then
      signals.close()
      java.lang.Runtime.getRuntime.removeShutdownHook(hook): Unit
      leave(outcome)
    else if exiting.compareAndSet(false, true) then
      try
        LastWords.flush()
        problem(outcome).foreach(System.err.println)
      catch case error: Throwable => LastWords.say(LastWords.trace(error))
      exit(exitCode(outcome))
    else CompletableFuture[Nothing]().join()

  private def onSignal(name: String, code: Int): Unit =
    if exiting.get || !stopping.compareAndSet(0, code) then java.lang.Runtime.getRuntime.halt(code)
    fiber.requestCancel()
    val patience = MainProcess.patience.min(deadline)
    if !hasEndedWithin(patience) then
      if patience < deadline then
        LastWords.say(
          s"weir: $name has canceled the main task, whose finalizers still run. They may take another " +
            s"${deadline - patience}; a second signal ends the process at once."
        )
      if !hasEndedWithin(deadline - patience) && exiting.compareAndSet(false, true) then
        LastWords.say(stuck(name))
        exit(code)

  /** What the JVM runs where somebody has called `System.exit`, also by `exit` below. */
  private def shutDown(): Unit =
    if exiting.compareAndSet(false, true) then
      Deadline.start(deadline * 2, exitCode = ExitCode.Error.code) // nobody tells the code
      fiber.requestCancel()
      val end = deadline.fromNow
      while !hasEndedWithin(MainProcess.look) && !Exits.hold(fiber) && end.hasTimeLeft() do ()
      if ended.isDone then
        ended.join() match
          case Outcome.Failed(error) => LastWords.say(LastWords.trace(error))
          case _ => ()
      else if !Exits.hold(fiber) then LastWords.say(stuck("System.exit"))

  private def exit(code: Int): Unit =
    Deadline.start(deadline, code)
    System.exit(code)

  private def leave(outcome: Outcome[ExitCode | Unit]): Unit =
    LastWords.flush()
    Unhandled.close()
    outcome match
      case Outcome.Failed(error) => throw error
      case _ if exitCode(outcome) != 0 =>
        throw IllegalStateException(
          s"The program has ended with exit code ${exitCode(outcome)}. It runs inside of another one, which should go on."
        )
      case _ => ()

  private def hasEndedWithin(limit: FiniteDuration): Boolean =
    try
      ended.get(limit.toNanos, TimeUnit.NANOSECONDS): Unit
      true
    catch case _: TimeoutException => false

  /** The exit code of a task that has ended after a signal is its own if it has one, since it may have done its work. */
  private def exitCode(outcome: Outcome[ExitCode | Unit]): Int = outcome match
    case Outcome.Succeeded(code: ExitCode) => code.code
    case Outcome.Succeeded(_) => ExitCode.Success.code
    case Outcome.Canceled if stopping.get != 0 => stopping.get
    case _ => ExitCode.Error.code

  private def problem(outcome: Outcome[ExitCode | Unit]): Option[String] = outcome match
    case Outcome.Failed(error) => Some(LastWords.trace(error))
    case Outcome.Canceled if stopping.get == 0 =>
      Some("weir: the main task has canceled itself.")
    case _ => None

  private def stuck(asked: String): String =
    s"weir: the main task has not ended within $deadline of $asked. What blocks:\n${runtime.dump()}"

private[weir] object MainProcess:
  import scala.concurrent.duration.DurationInt

  /** How long finalizers may take until the user is told that they do. */
  private val patience = 1.second

  /** How often the shutdown hook looks whether the end that it waits for can still come, of which nothing tells. */
  private val look = 20.millis

  /** The JVM's own main thread is in the group of that name; those that run a program inside of another one put it elsewhere. */
  private def isGuest: Boolean =
    val group = Thread.currentThread().getThreadGroup
    (group ne null) && group.getName != "main"

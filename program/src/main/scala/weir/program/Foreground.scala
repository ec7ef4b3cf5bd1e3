package weir.program

import java.util.concurrent.{CompletableFuture, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*

import weir.{Outcome, Task}
import weir.io.TerminationSignals

/** Runs the main task of the process until it ends or a signal asks for its end. Unlike a `WeirApp`
  * the process goes on after it, to report its progress. A second signal ends the process at once.
  */
object Foreground:
  enum Ended[+A]:
    case Done(value: A)

    /** Stopped by a signal; `exitCode` is what shells expect then.
      *
      * @param isClean
      *   false if something could not be stopped in time and may still be running
      */
    case Stopped(exitCode: Int, isClean: Boolean)

  /** Less than the second in which Ctrl-C must work, with time to say what is left. */
  private val stopTime = 800.millis

  /** **Fails** with the error of the task.
    *
    * @param stopTime
    *   the time within which the task must end after a signal
    */
  def run[A](task: Task[A], stopTime: FiniteDuration = stopTime): Ended[A] =
    val ended = CompletableFuture[Option[Outcome[A]]]()
    val exitCode = AtomicInteger()
    val cancel = task.runAsync: outcome =>
      val _ = ended.complete(Some(outcome))
    val signals = TerminationSignals.handle: (_, code) =>
      if !exitCode.compareAndSet(0, code) then Runtime.getRuntime.halt(code)
      val _ = ended.completeOnTimeout(None, stopTime.toMillis, TimeUnit.MILLISECONDS)
      cancel()
    try
      ended.get() match
        case Some(Outcome.Succeeded(value)) => Ended.Done(value)
        case Some(Outcome.Failed(error)) => throw error
        case Some(Outcome.Canceled) => Ended.Stopped(exitCode.get, isClean = true)
        case None => Ended.Stopped(exitCode.get, isClean = false)
    finally signals.close()

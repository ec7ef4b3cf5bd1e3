package weir.app

import scala.concurrent.duration.FiniteDuration
import weir.runtime.DurationText

/** Ends the process when its time is up, whatever keeps it: a shutdown hook that never returns, or
  * one that calls `System.exit`, which waits for all hooks and so for itself.
  */
private[weir] object Deadline:

  def start(limit: FiniteDuration, exitCode: Int): Unit =
    val _ = Thread.ofPlatform().daemon().name("weir-deadline").start { () =>
      Thread.sleep(limit.toMillis)
      TerminalMessages.print(
        s"weir: the shutdown has not ended within ${DurationText(limit)}, so the process ends " +
          s"without it. The threads that are left:\n${TerminalMessages.threads()}"
      )
      java.lang.Runtime.getRuntime.halt(exitCode)
    }

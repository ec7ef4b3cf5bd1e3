package weir.app

import scala.concurrent.duration.FiniteDuration

/** Ends the process when its time is up, whatever stands in the way: a shutdown hook that never returns, or that calls
  * `System.exit`, which waits for all hooks and so for itself.
  */
private[weir] object Deadline:

  def start(limit: FiniteDuration, exitCode: Int): Unit =
    val _ = Thread.ofPlatform().daemon().name("weir-deadline").start { () =>
      Thread.sleep(limit.toMillis)
      LastWords.say(
        s"weir: the shutdown has not ended within $limit, so the process ends without it. What is left:\n" +
          LastWords.threads()
      )
      java.lang.Runtime.getRuntime.halt(exitCode)
    }

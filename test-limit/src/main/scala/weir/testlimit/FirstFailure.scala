package weir.testlimit

import org.junit.runner.JUnitCore
import org.junit.runner.notification.{Failure, RunListener}

/** Runs suites until a test fails: then prints its name, and ends the JVM with the code 1. */
object FirstFailure:
  /** The text before the name. */
  val prefix = "FAILED: "

  def main(suites: Array[String]): Unit =
    val core = JUnitCore()
    core.addListener(
      new RunListener:
        override def testFailure(failure: Failure): Unit =
          failure.getException.printStackTrace()
          println(prefix + failure.getDescription.getDisplayName)
          end(1)
    )
    core.run(suites.map(Class.forName(_))*): Unit
    end(0)

  /** Ends this JVM, and the processes that a test has started. */
  private def end(code: Int): Unit =
    ProcessHandle.current.descendants.forEach(_.destroyForcibly(): Unit)
    Runtime.getRuntime.halt(code)

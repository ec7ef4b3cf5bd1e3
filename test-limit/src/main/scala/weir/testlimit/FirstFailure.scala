package weir.testlimit

import com.sun.management.OperatingSystemMXBean
import java.lang.management.ManagementFactory
import org.junit.runner.{Description, JUnitCore}
import org.junit.runner.notification.{Failure, RunListener}

/** Runs suites until a test fails or hangs: then prints its name, and ends the JVM with the code 1.
  *
  * A test hangs if, while it runs, the JVM has used hardly any time of the processor for three
  * seconds, and no process that it has started is alive. A test that polls does not count as one
  * that hangs.
  */
object FirstFailure:
  /** The text before the name. */
  val prefix = "FAILED: "

  @volatile private var running: Description | Null = null

  def main(suites: Array[String]): Unit =
    val core = JUnitCore()
    core.addListener(
      new RunListener:
        override def testStarted(description: Description): Unit = running = description
        override def testFinished(description: Description): Unit = running = null
        override def testFailure(failure: Failure): Unit =
          failure.getException.printStackTrace()
          endWith(failure.getDescription.getDisplayName)
    )
    Thread.ofPlatform().daemon().name("first-failure").start(() => watch()): Unit
    core.run(suites.map(Class.forName(_))*): Unit
    end(0)

  private val lookMillis = 250L
  private val looks = 12

  /** The time of the processor that a JVM may use in that time and be idle. Its clock has steps of
    * 10 ms.
    */
  private val idleNanos = 30_000_000L

  private def watch(): Unit =
    val system = ManagementFactory.getOperatingSystemMXBean.asInstanceOf[OperatingSystemMXBean]
    var test = running
    var used = system.getProcessCpuTime
    var idle = 0
    while true do
      Thread.sleep(lookMillis)
      val now = system.getProcessCpuTime
      val runs = running
      if (runs ne null) && (runs eq test) && now - used <= idleNanos && !hasChildren then
        idle += 1
        if idle == looks then endWith(s"${runs.getDisplayName}, in which nothing ran any more")
      else
        test = runs
        used = now
        idle = 0

  private def hasChildren: Boolean = ProcessHandle.current.children.findAny.isPresent

  private def endWith(failed: String): Unit =
    println(prefix + failed)
    end(1)

  /** Ends this JVM, and the processes that a test has started. */
  private def end(code: Int): Unit =
    ProcessHandle.current.descendants.forEach(_.destroyForcibly(): Unit)
    Runtime.getRuntime.halt(code)

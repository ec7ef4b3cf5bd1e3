package weir.testlimit

import java.util.concurrent.{Executors, Future, TimeUnit}
import org.junit.runner.Description
import org.junit.runner.notification.RunListener

/** Ends a test that hangs, so that it fails under its name and the others run.
  *
  * MUnit has a limit for what a test returns, and none for its body. If a body runs for too long,
  * this prints the stack of its thread, and interrupts it. If the body still goes on, the JVM is
  * ended after the same time again.
  *
  * @param limitMillis
  *   the longest time that a body may run
  * @param halt
  *   ends the JVM
  * @param print
  *   the output for the test that hangs
  */
final class TestLimit(limitMillis: Long, halt: () => Unit, print: String => Unit)
    extends RunListener:
  private val clock = Executors.newSingleThreadScheduledExecutor: task =>
    Thread.ofPlatform().daemon().name("test-limit").unstarted(task)

  // guarded by this
  private var test: Description | Null = null
  private var thread = Thread.currentThread
  private var isInterrupted = false
  private var alarms = List.empty[Future[?]]

  /** As the test runner makes it. */
  def this() = this(TestLimit.millis, () => Runtime.getRuntime.halt(1), System.err.println(_))

  override def testStarted(description: Description): Unit = synchronized {
    test = description
    thread = Thread.currentThread
    alarms = List(
      clock.schedule((() => interrupt(description)): Runnable, limitMillis, TimeUnit.MILLISECONDS),
      clock.schedule((() => giveUp(description)): Runnable, 2 * limitMillis, TimeUnit.MILLISECONDS)
    )
  }

  override def testFinished(description: Description): Unit = synchronized {
    alarms.foreach(_.cancel(false))
    // The test is over, so what interrupted it is not for the next one.
    if isInterrupted && thread == Thread.currentThread then Thread.interrupted(): Unit
    isInterrupted = false
    test = null
  }

  private def interrupt(description: Description): Unit = synchronized {
    if test eq description then // and not the next one
      say(description, "is interrupted")
      isInterrupted = true
      thread.interrupt()
  }

  private def giveUp(description: Description): Unit = synchronized {
    if test eq description then
      say(description, "goes on regardless: the JVM ends")
      halt()
  }

  private def say(description: Description, what: String): Unit =
    val stack = thread.getStackTrace.takeWhile(frame => !isRunner(frame.getClassName))
    val lines = stack.map(frame => s"\n\tat $frame").mkString
    print(s"${description.getDisplayName} takes too long, and $what. It was$lines")

  private def isRunner(name: String): Boolean = TestLimit.runners.exists(name.startsWith)

object TestLimit:
  private val runners = List("munit.", "org.junit.", "jdk.internal.reflect.")

  private def millis: Long =
    TimeUnit.MINUTES.toMillis(if java.lang.Boolean.getBoolean("weir.long") then 120 else 5)

package weir

import com.sun.management.OperatingSystemMXBean
import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path}
import scala.concurrent.duration.*
import scala.util.Try
import weir.runtime.Scheduler

/** Measures the processor time that other programs use, so that tests with time limits also hold
  * beside them.
  */
object MachineLoad:
  private val threads = ManagementFactory.getThreadMXBean
  private val process = ManagementFactory.getPlatformMXBean(classOf[OperatingSystemMXBean])
  private val stat = Path.of("/proc/stat")

  /** Returns the time for which other programs have used the processors, on average over the
    * processors. A measured time minus this is the time on a machine of our own. Returns 0 if the
    * system does not tell.
    */
  def othersNanos(): Long =
    // user, nice, system, idle, iowait, irq, softirq, steal: in hundredths of a second
    val all = Try(Files.readString(stat).linesIterator.next().split(" +").tail.map(_.toLong))
    all.fold(
      _ => 0,
      times =>
        val busy = times.take(8).sum - times(3) - times(4)
        (busy * 10_000_000L - process.getProcessCpuTime) / process.getAvailableProcessors
    )

  /** Returns the time for which the carriers of this JVM have used processors, on average. */
  def carriersNanos(): Long =
    carriers.map(thread => math.max(0, threads.getThreadCpuTime(thread.threadId))).sum /
      Scheduler.carriersOfThisJvm

  /** Returns how much later it is than `due`: by the real clock, or by the time that the carriers
    * have computed since `begun`, if that is less. `begun` is the value of `carriersNanos` at some
    * time before `due`. So time in which other programs have the processors does not count. Idle
    * carriers compute nothing, so more than a second of real time counts in any case.
    */
  def late(due: Long, begun: Long): FiniteDuration =
    val real = System.nanoTime() - due
    val used = carriersNanos() - begun
    (if real > 1_000_000_000L then real else math.min(real, used)).nanos

  private def carriers: Seq[Thread] =
    val root = Iterator
      .iterate(Thread.currentThread.getThreadGroup)(_.getParent)
      .takeWhile(_ ne null)
      .reduce((_, outer) => outer)
    val all = new Array[Thread](root.activeCount * 2 + 16)
    val count = root.enumerate(all, true)
    all.take(count).toSeq.filter(_.getClass.getName == "jdk.internal.misc.CarrierThread")

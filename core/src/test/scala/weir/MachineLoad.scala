package weir

import com.sun.management.OperatingSystemMXBean
import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path}
import scala.concurrent.duration.*
import scala.util.Try
import weir.runtime.Scheduler

/** What other programs take of the processors, so that bounds on a time hold beside them too. */
object MachineLoad:
  private val threads = ManagementFactory.getThreadMXBean
  private val process = ManagementFactory.getPlatformMXBean(classOf[OperatingSystemMXBean])
  private val stat = Path.of("/proc/stat")

  /** How long other programs have used processors, on average of these: what is left of a time less
    * this is the time on a machine of our own. 0 where the system does not tell.
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

  /** How long the carriers of this JVM have used processors, on average. */
  def carriersNanos(): Long =
    carriers.map(thread => math.max(0, threads.getThreadCpuTime(thread.threadId))).sum /
      Scheduler.carriersOfThisJvm

  /** How much later it is than `due`: by the real clock, or by the carriers' time since `begun`,
    * before it was due, if that is less. For what the carriers compute beside; where they stand
    * idle that says nothing, so more than a second of real time counts in any case.
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

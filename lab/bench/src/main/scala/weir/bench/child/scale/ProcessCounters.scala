package weir.bench.child.scale

import java.io.IOException
import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path}

import com.sun.management.OperatingSystemMXBean
import weir.lab.scale.ScaleCount

/** Reads the counts of the operating system for this process. */
private[scale] object ProcessCounters extends Counters:
  private val tasks = Path.of("/proc/self/task")
  private val isLinux = Files.isDirectory(tasks)

  def read(): Map[ScaleCount, Long] =
    val time = ManagementFactory.getOperatingSystemMXBean match
      case system: OperatingSystemMXBean =>
        Map(ScaleCount.ProcessorTime -> system.getProcessCpuTime)
      case _ => Map.empty
    if isLinux then time + (ScaleCount.Waits -> waits()) else time

  /** Returns the sum over all live threads. The counts of a thread that has ended are lost: the
    * kernel forgets them.
    */
  private def waits(): Long = tasks.toFile.list().iterator.map(waitsOf).sum

  private def waitsOf(thread: String): Long =
    try
      val lines = Files.readString(tasks.resolve(thread).resolve("status")).linesIterator
      lines
        .find(_.startsWith(waitsField))
        .fold(0L)(_.stripPrefix(waitsField).trim.toLong)
    catch case _: IOException => 0 // it has ended

  private val waitsField = "voluntary_ctxt_switches:"

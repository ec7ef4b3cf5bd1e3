package weir.bench.child.burst

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path}

/** Counts the OS threads of this process. */
private[burst] object OsThreads:
  private val tasks = Path.of("/proc/self/task")
  private val isLinux = Files.isDirectory(tasks)

  /** Returns all of them on Linux; elsewhere those that the JVM knows, without its collectors'
    * threads.
    */
  def count(): Int =
    if isLinux then tasks.toFile.list().length
    else ManagementFactory.getThreadMXBean.getThreadCount

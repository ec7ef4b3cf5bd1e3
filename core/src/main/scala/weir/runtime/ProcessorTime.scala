package weir.runtime

import java.lang.management.{ManagementFactory, ThreadMXBean}

/** Measures the time for which threads have used a processor. The JVM does not count that for
  * virtual threads, so the time of their carriers is read.
  */
private[weir] class ProcessorTime:

  /** Null if the JVM does not count it. Made when it is first needed, as that takes 20 ms. */
  private lazy val threads: ThreadMXBean | Null =
    try
      val threads = ManagementFactory.getThreadMXBean
      if threads.isThreadCpuTimeSupported && threads.isThreadCpuTimeEnabled then threads else null
    catch case _: LinkageError | _: UnsupportedOperationException => null

  /** Returns the platform thread that `thread` runs on: itself, or its carrier. `latest` is the
    * carrier at the last call, which saves a search if it is the same. Returns null for a virtual
    * thread that waits for a carrier.
    */
  def threadUnder(thread: Thread, latest: Thread | Null): Thread | Null =
    if !thread.isVirtual then thread
    else
      val name = ProcessorTime.carrierName(thread.toString)
      if name.isEmpty then null
      else if (latest ne null) && latest.isAlive && latest.getName == name then latest
      else ProcessorTime.find(name)

  /** Returns the time for which the platform thread `thread` has used a processor; -1 if the JVM
    * does not count that.
    */
  def usedNanos(thread: Thread): Long =
    val threads = this.threads
    if threads eq null then -1 else threads.getThreadCpuTime(thread.threadId)

private[weir] object ProcessorTime:
  /** Returns the name of the carrier in `VirtualThread[#21,name]/runnable@ForkJoinPool-1-worker-1`,
    * or an empty string. The JDK offers no other way to find out which thread carries which.
    */
  def carrierName(virtual: String): String =
    val state = virtual.substring(virtual.lastIndexOf("]/") + 1)
    val at = state.indexOf('@')
    if at < 0 then "" else state.substring(at + 1)

  private def find(name: String): Thread | Null =
    val root =
      Iterator.iterate(Thread.currentThread.getThreadGroup)(_.getParent).takeWhile(_ ne null)
    val all = root.reduce((_, outer) => outer)
    val threads = new Array[Thread](all.activeCount * 2 + 16)
    val count = all.enumerate(threads, true)
    threads.take(count).find(_.getName == name).orNull

package weir.trace

import java.lang.management.{ManagementFactory, ThreadMXBean}

/** How long threads have used a processor. The JVM does not count that for virtual threads, so it is asked about their carriers. */
private[weir] class ProcessorTime:

  /** Null where the JVM does not count it. Made when a slice is first suspected: it takes 20 ms. */
  private lazy val threads: ThreadMXBean | Null =
    try
      val threads = ManagementFactory.getThreadMXBean
      if threads.isThreadCpuTimeSupported && threads.isThreadCpuTimeEnabled then threads else null
    catch case _: LinkageError | _: UnsupportedOperationException => null

  /** The thread of the system that `thread` runs on: itself, or its carrier, which may be `latest` still. Null for a virtual
    * thread that waits for a carrier.
    */
  def threadUnder(thread: Thread, latest: Thread | Null): Thread | Null =
    if !thread.isVirtual then thread
    else
      val name = ProcessorTime.carrierName(thread.toString)
      if name.isEmpty then null
      else if (latest ne null) && latest.isAlive && latest.getName == name then latest
      else ProcessorTime.find(name)

  /** For how long `thread`, one of the system, has used a processor; -1 where nobody can tell. */
  def usedNanos(thread: Thread): Long =
    val threads = this.threads
    if threads eq null then -1 else threads.getThreadCpuTime(thread.threadId)

private[trace] object ProcessorTime:
  /** Of `VirtualThread[#21,name]/runnable@ForkJoinPool-1-worker-1`, the JDK's only word on who carries whom. */
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

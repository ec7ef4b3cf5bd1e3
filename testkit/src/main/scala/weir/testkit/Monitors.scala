package weir.testkit

/** Waits for the JVM to hand on monitors.
  *
  * A virtual thread that waits for a monitor has no carrier. A thread of the JVM queues it again,
  * once the thread that leaves the monitor has put it on that thread's list. On a busy machine that
  * may take longer than any patience.
  */
private[testkit] object Monitors:

  /** Returns once each virtual thread has been queued that a monitor was handed to before. */
  def awaitHandedOn(): Unit =
    // The JVM's thread takes its whole list, and goes through it in any order: the first of these
    // may come before others of its list. Those are done when the next list is.
    handOn()
    handOn()

  private def handOn(): Unit =
    val monitor = Object()
    val next = monitor.synchronized {
      val thread = Thread.ofVirtual().start(() => monitor.synchronized(()))
      while thread.getState != Thread.State.BLOCKED do Thread.`yield`()
      thread
    }
    next.join()

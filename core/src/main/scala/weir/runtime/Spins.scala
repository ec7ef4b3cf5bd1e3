package weir.runtime

/** Finds slices that compute for long without yielding. Only the watch's thread uses it.
  *
  * A spin is one slice that is found running at each look and has used a processor for
  * `Tuning.spinNanos` in all. Of the time between two looks, this much is counted:
  *
  *   - no more than the thread has used a processor for. A thread that waits inside of a native
  *     call (a socket of a driver, a file), or that gets no processor because other programs have
  *     them all, looks as if it ran;
  *   - no more than three times the interval between two looks, since no fiber spins while the
  *     whole JVM stands still;
  *   - nothing if the stack, at the second look, waits or is exempt (`SpinListener.isExempt`).
  *
  * Stacks and processor times are read only for a slice that is found at two looks, so this costs
  * nothing while all slices are short.
  */
private[weir] final class Spins(
    listener: => SpinListener,
    processorTime: ProcessorTime = ProcessorTime()
):
  // the watch's thread only
  private var looks = 0L

  /** The number of spins that have been found. Written by the watch's thread only. */
  @volatile private var spins = 0L

  def found: Long = spins

  /** Looks at each execution thread once, `nanos` after the last look. Returns true if any thread
    * has begun another slice, or computes and has not been reported yet.
    */
  def look(threads: Iterator[ExecutionThread], nanos: Long): Boolean =
    val now = looks + 1
    val counted = math.min(nanos, Tuning.lookNanos * 3)
    var busy = false
    threads.foreach { thread =>
      val before = thread.seen
      val state =
        // A thread that was not there at the last look may have done anything since.
        if (before eq null) || before.look < looks then Spins.Seen(thread.slices - 1) else before
      state.look = now
      thread.seen = state
      if lookAt(thread, state, counted) then busy = true
    }
    // Not counted if the listener has thrown: the threads after that one have not been looked at,
    // and would otherwise be taken for threads that were not there.
    looks = now
    busy

  private def lookAt(on: ExecutionThread, state: Spins.Seen, nanos: Long): Boolean =
    val slices = on.slices
    if slices != state.slices then
      state.slices = slices
      state.reported = false
      state.begin()
      true
    else if state.reported || on.thread.getState != Thread.State.RUNNABLE then
      state.begin()
      false
    else
      val stack = on.thread.getStackTrace
      if Spins.waits(stack) then
        state.runsOn = null
        false
      else
        if listener.isExempt(stack) then state.runsOn = null
        else
          count(on.thread, state, nanos)
          if state.nanos > Tuning.spinNanos && on.slices == slices then
            state.reported = true
            spins = spins + 1
            val job = on.running
            if job ne null then listener.onSpin(on.thread, job, stack)
        true

  private def count(thread: Thread, state: Spins.Seen, nanos: Long): Unit =
    val before = state.runsOn
    val usedBefore = state.usedNanos
    val runsOn = processorTime.threadUnder(thread, before)
    state.runsOn = runsOn
    if runsOn ne null then
      state.usedNanos = processorTime.usedNanos(runsOn)
      state.nanos += {
        if state.usedNanos < 0 then nanos // this JVM does not count processor time
        else if before eq runsOn then math.min(nanos, state.usedNanos - usedBefore)
        else 0L
      }

private[weir] object Spins:
  /** The knowledge of `Spins` about an execution thread. That thread's object holds it, so that the
    * watch keeps no thread alive between two looks.
    */
  final class Seen private[Spins] (private[Spins] var slices: Int):
    private[Spins] var look = 0L
    private[Spins] var reported = false

    /** The time for which the slice has computed. */
    private[Spins] var nanos = 0L

    /** The platform thread that it ran on at the last look, or null if that look did not count. */
    private[Spins] var runsOn: Thread | Null = null

    /** The time for which `runsOn` had used a processor by then. */
    private[Spins] var usedNanos = 0L

    private[Spins] def begin(): Unit =
      nanos = 0
      runsOn = null

  /** Returns true if the top of a stack waits, and also for an empty stack. A virtual thread that
    * has been woken and waits for a carrier is runnable too, and is still in the method that it was
    * blocked in. The native methods of `java.lang` and `java.util` compute while their thread is
    * runnable: `System.nanoTime`, copies, hashes.
    */
  private[weir] def waits(stack: Array[StackTraceElement]): Boolean =
    stack.length == 0 || {
      val className = stack(0).getClassName
      val method = stack(0).getMethodName
      if className == "java.lang.Thread" then
        method.startsWith("sleep") || method.startsWith("yield")
      else if className == "java.lang.Object" then method.startsWith("wait")
      else
        parking.exists(className.startsWith) ||
        stack(0).isNativeMethod &&
        !className.startsWith("java.lang.") && !className.startsWith("java.util.")
    }

  private val parking = List(
    "java.lang.VirtualThread",
    "java.lang.System$",
    "java.util.concurrent.locks.LockSupport",
    "jdk.internal.vm.",
    "jdk.internal.misc.",
    "sun.nio.ch."
  )

package weir.trace

import weir.Spin
import weir.kernel.RunLoop
import weir.runtime.{Host, Tuning}

/** Tells of slices that compute for long without giving way. Looked at by one thread, the watch's.
  *
  * A spin is one slice of one host that is seen running at each look for `Tuning.spinNanos`. What lies between two looks
  * counts for no more than three times what it should be: while the whole JVM stands still, nobody spins. Code that waits
  * inside of a native call (a socket of a driver, a file) looks as if it ran, so the stack is asked before anything is
  * reported. Nor is a slice in which no line of the user's stands: there is nothing that the user could change. A thread that
  * gets no processor, since other programs have them all, looks as if it ran, too: so the process must have used one for
  * an eighth of the time, at least, in the second half of the wait.
  */
private[weir] final class Spins(report: Spin => Unit):
  // the watch's thread only
  private var looks = 0L

  /** Looks at each host once, `nanos` after the last look. True if any has got on, or computes and has not been reported yet. */
  def look(hosts: Iterator[Host], nanos: Long): Boolean =
    val now = looks + 1
    val counted = math.min(nanos, Tuning.lookNanos * 3)
    var busy = false
    hosts.foreach { host =>
      val before = host.seen
      val state =
        // One that was not there at the last look may have been anywhere meanwhile.
        if (before eq null) || before.look < looks then Spins.Seen(host.slices - 1) else before
      state.look = now
      host.seen = state
      if lookAt(host, state, counted) then busy = true
    }
    looks = now // not where `report` has thrown: who was not looked at has not been away
    busy

  private def lookAt(host: Host, state: Spins.Seen, nanos: Long): Boolean =
    val slices = host.slices
    if slices != state.slices then
      state.slices = slices
      state.nanos = 0
      state.reported = false
      true
    else if state.reported || host.thread.getState != Thread.State.RUNNABLE then
      state.nanos = 0
      false
    else
      val before = state.nanos
      state.nanos += nanos
      val half = Tuning.spinNanos / 2
      if before <= half && state.nanos > half then
        state.halfNanos = state.nanos
        state.halfCpuNanos = Spins.cpuNanos()
      if state.nanos > Tuning.spinNanos then
        val stack = host.thread.getStackTrace
        val used = Spins.cpuNanos() - state.halfCpuNanos
        val starved = used < (state.nanos - state.halfNanos) / 8
        if starved || Spins.waits(stack) || ErrorTrace.isIn(stack) then
          state.nanos = 0
          false
        else
          if host.slices == slices then
            state.reported = true
            host.running match
              case fiber: RunLoop =>
                val trace = ErrorTrace.of(stack, fiber)
                if trace.nonEmpty then report(Spin(fiber.name, host.thread, trace))
              case _ => ()
          true
      else true

private[weir] object Spins:
  /** What the watch knows of a host. It stands in the host, so that the watch itself keeps nobody alive between two looks. */
  final class Seen private[Spins] (private[Spins] var slices: Int):
    private[Spins] var look = 0L
    private[Spins] var nanos = 0L
    private[Spins] var reported = false

    /** What had been seen, and what the process had used, when half of it had been seen. */
    private[Spins] var halfNanos = 0L
    private[Spins] var halfCpuNanos = 0L

  /** The time that this process has had a processor for; without an end where the system does not say. */
  private def cpuNanos(): Long =
    ProcessHandle.current().info().totalCpuDuration().map(_.toNanos).orElse(System.nanoTime())

  /** True for a stack whose top waits, and for one that is not there. A virtual thread that has been woken and waits for a
    * carrier is runnable too, and stands in the method that it was blocked in. The other native methods of the JDK's own
    * language package compute, where their thread is runnable: `System.nanoTime`, copies, hashes.
    */
  private[trace] def waits(stack: Array[StackTraceElement]): Boolean =
    stack.length == 0 || {
      val of = stack(0).getClassName
      val method = stack(0).getMethodName
      if of == "java.lang.Thread" then method.startsWith("sleep") || method.startsWith("yield")
      else if of == "java.lang.Object" then method.startsWith("wait")
      else
        parking.exists(of.startsWith) ||
        stack(0).isNativeMethod && !of.startsWith("java.lang.") && !of.startsWith("java.util.")
    }

  private val parking = List(
    "java.lang.VirtualThread",
    "java.lang.System$",
    "java.util.concurrent.locks.LockSupport",
    "jdk.internal.vm.",
    "jdk.internal.misc.",
    "sun.nio.ch."
  )

package weir.trace

import weir.Spin
import weir.kernel.RunLoop
import weir.runtime.{Host, Tuning}

/** Tells of slices that compute for long without giving way. Looked at by one thread, the watch's.
  *
  * A spin is one slice of one host that is seen running at each look, and uses a processor for `Tuning.spinNanos` meanwhile. What is
  * counted of the time between two looks:
  *
  *   - no more than its thread has used a processor for: one that waits inside of a native call (a socket of a driver, a file),
  *     or that gets no processor since other programs have them all, looks as if it ran;
  *   - no more than three times what lies between two looks, since nobody spins while the whole JVM stands still;
  *   - nothing where the stack, at its end, waits or initializes: what loads a class or a library does so once, and there is
  *     nothing that the user could change.
  *
  * Only a slice that is there at two looks is asked for any of this, so it costs nothing where all give way. A slice in which no line
  * of the user's stands is not reported.
  */
private[weir] final class Spins(
    report: Spin => Unit,
    processorTime: ProcessorTime = ProcessorTime()
):
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
      state.reported = false
      state.begin()
      true
    else if state.reported || host.thread.getState != Thread.State.RUNNABLE then
      state.begin()
      false
    else
      val stack = host.thread.getStackTrace
      if Spins.waits(stack) then
        state.runsOn = null
        false
      else
        if Spins.initializes(stack) || ErrorTrace.isIn(stack) then state.runsOn = null
        else
          count(host.thread, state, nanos)
          if state.nanos > Tuning.spinNanos && host.slices == slices then tell(host, state, stack)
        true

  private def count(thread: Thread, state: Spins.Seen, nanos: Long): Unit =
    val before = state.runsOn
    val usedBefore = state.usedNanos
    val runsOn = processorTime.threadUnder(thread, before)
    state.runsOn = runsOn
    if runsOn ne null then
      state.usedNanos = processorTime.usedNanos(runsOn)
      state.nanos += {
        if state.usedNanos < 0 then nanos // nobody can tell
        else if before eq runsOn then math.min(nanos, state.usedNanos - usedBefore)
        else 0L
      }

  private def tell(host: Host, state: Spins.Seen, stack: Array[StackTraceElement]): Unit =
    state.reported = true
    host.running match
      case fiber: RunLoop =>
        val trace = Spins.shortened(ErrorTrace.of(stack, fiber))
        if trace.nonEmpty then report(Spin(fiber.name, host.thread, trace))
      case _ => ()

private[weir] object Spins:
  /** What the watch knows of a host. It stands in the host, so that the watch itself keeps nobody alive between two looks. */
  final class Seen private[Spins] (private[Spins] var slices: Int):
    private[Spins] var look = 0L
    private[Spins] var reported = false

    /** How long it has computed. */
    private[Spins] var nanos = 0L

    /** The thread of the system that it has run on at the last look, if that counts, and for how long that had used a processor. */
    private[Spins] var runsOn: Thread | Null = null
    private[Spins] var usedNanos = 0L

    private[Spins] def begin(): Unit =
      nanos = 0
      runsOn = null

  /** Lines of a report. */
  private inline val most = 8

  /** The user's lines of a trace, which ends with the fiber's; none where there is no line of the user's. */
  private[trace] def shortened(trace: Vector[StackTraceElement]): Vector[StackTraceElement] =
    val own = trace.init.filterNot(line => isJdk(line.getClassName)).take(most - 1)
    if own.isEmpty then own else own :+ trace.last

  private def isJdk(className: String): Boolean = jdk.exists(className.startsWith)

  private val jdk = List("java.", "javax.", "jdk.", "sun.", "com.sun.", "scala.")

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

  /** True for a fiber that is in the initializer of a class, or that loads or links one, or a library. */
  private[trace] def initializes(stack: Array[StackTraceElement]): Boolean =
    ErrorTrace.aboveSlice(stack).exists { line =>
      line.getMethodName == "<clinit>" || loading.exists(line.getClassName.startsWith) ||
      line.getClassName == "java.lang.Class" && line.getMethodName.startsWith("forName") ||
      line.getMethodName.startsWith("load") &&
      (line.getClassName == "java.lang.System" || line.getClassName == "java.lang.Runtime")
    }

  private val loading = List(
    "java.lang.ClassLoader",
    "java.lang.invoke.MethodHandleNatives",
    "java.security.Provider",
    "java.util.ServiceLoader",
    "jdk.internal.loader.",
    "sun.security.jca."
  )

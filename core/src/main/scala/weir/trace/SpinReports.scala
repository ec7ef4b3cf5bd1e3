package weir.trace

import weir.Spin
import weir.fiber.TaskFiber
import weir.runtime.{Job, SpinListener}

/** Makes a `Spin` for each fiber that computes for long, and calls `report` with it. A spin whose
  * stack has no line of the user's is not reported.
  */
private[weir] final class SpinReports(report: Spin => Unit) extends SpinListener:

  def isExempt(stack: Array[StackTraceElement]): Boolean =
    SpinReports.initializes(stack) || ErrorTrace.isIn(stack)

  def onSpin(thread: Thread, job: Job, stack: Array[StackTraceElement]): Unit = job match
    case fiber: TaskFiber =>
      val trace = SpinReports.shortened(ErrorTrace.of(stack, fiber))
      if trace.nonEmpty then report(Spin(fiber.name, thread, trace))
    case _ => ()

private[weir] object SpinReports:

  /** Prints each spin to the standard error. */
  val printing: SpinReports = SpinReports(spin => System.err.println(s"weir: $spin"))

  /** The largest number of lines of a report. */
  private inline val most = 8

  /** Returns the user's lines of `trace`, then its last line, which names the fiber. Returns an
    * empty trace if there is no line of the user's.
    */
  private[trace] def shortened(trace: Vector[StackTraceElement]): Vector[StackTraceElement] =
    val own = trace.init.filterNot(line => isJdk(line.getClassName)).take(most - 1)
    if own.isEmpty then own else own :+ trace.last

  private def isJdk(className: String): Boolean = jdk.exists(className.startsWith)

  private val jdk = List("java.", "javax.", "jdk.", "sun.", "com.sun.", "scala.")

  /** Returns true if the innermost slice of a stack is in the initializer of a class, or loads or
    * links a class or a library.
    */
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

package weir.trace

import scala.collection.mutable.ArrayBuffer
import weir.kernel.RunLoop

/** Puts the lines of the user's code that waited for a result onto the error that comes instead of it.
  *
  * The JVM's stack trace of an error ends where the fiber's stack begins. Each fiber that the error passes adds the functions on
  * its continuation stack below that, and a line that names the fiber; `runSync` adds those who called it. This library's
  * own frames are left out.
  *
  *   - Nothing is kept for it while all goes well: the stack is the one that the run loop needs anyway.
  *   - A fiber adds its part once, however often the error is handled and thrown again there: it looks for its own line.
  *   - Nothing is done for an error without a stack trace of its own, which is made for speed.
  *   - An error that many fibers share gets no longer than `longest`.
  */
private[weir] object ErrorTrace:
  val isOn: Boolean = System.getProperty("weir.traces") != "off"

  /** Frames of a fiber that are told, from the innermost. */
  private inline val framesOfFiber = 64

  /** An error with more stack trace elements than this gets no further ones. */
  private inline val longest = 512

  /** The line that stands for a fiber: `at weir.fiber(1c9a45b)`. */
  private inline val markClass = "weir"
  private inline val markMethod = "fiber"

  /** To be called by `fiber` with its stack as it was when `error` came up. `at`: the instruction that was at work. */
  def add(error: Throwable, fiber: RunLoop, at: AnyRef | Null): Unit =
    if isOn then
      try
        val present = error.getStackTrace
        if present.length > 0 && present.length < longest then
          val mark = markOf(fiber)
          if !present.contains(mark) then
            val trace = begin(present)
            Functions.ofFrame(at).foreach(addOnce(trace, _))
            addFiber(trace, fiber)
            error.setStackTrace(trace.toArray)
      // Whatever goes wrong here must not take the place of the error.
      catch case _: Throwable => ()

  /** For an error that leaves `runSync`, on the thread that has called it. */
  def addCaller(error: Throwable): Unit =
    if isOn then
      try
        val present = error.getStackTrace
        if present.length > 0 && present.length < longest then
          val trace = begin(present)
          for line <- Throwable().getStackTrace do
            if !OwnCode.contains(line) && !trace.contains(line) then trace += line
          error.setStackTrace(trace.toArray)
      catch case _: Throwable => ()

  /** The lines of a fiber that a thread with the stack `present` runs, which may be empty. */
  def of(present: Array[StackTraceElement], fiber: RunLoop): Vector[StackTraceElement] =
    val trace = if present.isEmpty then ArrayBuffer() else begin(present.take(longest))
    addFiber(trace, fiber)
    trace.toVector

  /** True for a thread that is making a trace. The first one of a JVM loads classes for so long that it would be a spin. */
  def isIn(stack: Array[StackTraceElement]): Boolean =
    stack.exists(_.getClassName == getClass.getName)

  private def addFiber(trace: ArrayBuffer[StackTraceElement], fiber: RunLoop): Unit =
    for frame <- fiber.topFrames(framesOfFiber); line <- Functions.ofFrame(frame) do
      addOnce(trace, line)
    Functions.in(fiber.origin).foreach(addOnce(trace, _))
    trace += markOf(fiber)

  private def markOf(fiber: RunLoop): StackTraceElement =
    StackTraceElement(markClass, markMethod, fiber.name, -1)

  /** The trace so far; what the JVM has put there without this library's frames. */
  private def begin(present: Array[StackTraceElement]): ArrayBuffer[StackTraceElement] =
    val trace = ArrayBuffer[StackTraceElement]()
    if present.exists(isMark) then trace ++= present
    else
      for line <- present do if !OwnCode.contains(line) then trace += line
      // Where all of it is this library's, it is where the error was made.
      if trace.isEmpty then trace += present(0)
    trace

  private def isMark(line: StackTraceElement): Boolean =
    line.getClassName == markClass && line.getMethodName == markMethod

  /** Leaves out a function that is there: one that has thrown is, with the line that threw. */
  private def addOnce(trace: ArrayBuffer[StackTraceElement], line: StackTraceElement): Unit =
    var i = trace.length - 1
    while i >= 0 && !isSameMethod(trace(i), line) do i -= 1
    if i < 0 then trace += line

  private def isSameMethod(a: StackTraceElement, b: StackTraceElement): Boolean =
    a.getMethodName == b.getMethodName && a.getClassName == b.getClassName

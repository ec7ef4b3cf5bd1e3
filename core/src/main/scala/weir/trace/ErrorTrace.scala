package weir.trace

import scala.collection.mutable.ArrayBuffer
import weir.kernel.{FiberCore, RunLoop}

/** Puts the lines of the user's code that waited for a result onto the error that comes instead of it.
  *
  * The JVM's stack trace of an error ends where the fiber's stack begins. Each fiber that the error passes adds the functions on
  * its continuation stack below that, and a line that names the fiber; `runSync` adds those who called it. This library's
  * own frames are left out.
  *
  *   - Nothing is kept for it while all goes well: the stack is the one that the run loop needs anyway.
  *   - A fiber adds its part once, however often the error is handled and thrown again there: it looks for its own line.
  *   - Nothing is done for an error without a stack trace of its own, which is made for speed.
  *   - An error gets no longer than `longest`.
  *   - **An error object that is thrown again**, as users have them in a `val` or an `object`, tells of the latest run alone. An
  *     error comes to a fiber in one of two ways: from another fiber, by the hand of this library (`pass`, `RunLoop.thrown`), which adds
  *     to what is there; or out of the fiber's own code (`add`). Where it comes out of its own code, and has lines of other fibers, or of
  *     another place of this one, these go first. What stays is where the error was made: the lines of the JVM; and those of
  *     the fiber whose functions are among them, since they go on where the JVM's end.
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

  /** The line number of a fiber's line is this, less the number of lines that tell where the error was made. The JVM prints no line
    * number below zero, and has a meaning of its own for -2.
    */
  private inline val noLine = -3

  /** To be called by `fiber` with its stack as it was when `error` came up. `at`: the instruction that was at work. */
  def add(error: Throwable, fiber: RunLoop, at: AnyRef | Null): Unit =
    change(error) { present =>
      if !present.exists(isMark) then first(present, fiber, at)
      else if present.exists(isMarkOf(fiber)) && isAmong(present, fiber, at) then null
      else if fiber.thrown eq error then withFiber(present, fiber, at, made(present))
      else withFiber(present.take(made(present)), fiber, at, made(present))
    }

  /** For an error of `from` that `fiber` is about to get: to be called while it waits for that, or by itself. Null for `from` where
    * that is not known. Where others have added to the error since it has left `from`, that goes first.
    */
  def pass(error: Throwable, fiber: RunLoop | Null, from: FiberCore | Null): Unit =
    if fiber ne null then
      change(error) { present =>
        if !present.exists(isMark) then first(present, fiber, null)
        else if present.exists(isMarkOf(fiber)) then null
        else withFiber(upTo(present, from), fiber, null, made(present))
      }

  /** For an error of `fiber` that leaves its `runSync`, on the thread that has called it. */
  def addCaller(error: Throwable, fiber: FiberCore): Unit =
    change(error) { present =>
      val trace = ArrayBuffer.from(upTo(begin(present).toArray, fiber))
      for line <- aboveSlice(Throwable().getStackTrace) do
        if !OwnCode.contains(line) && !trace.contains(line) then trace += line
      trace
    }

  /** The lines of a fiber that a thread with the stack `present` runs, which may be empty. */
  def of(present: Array[StackTraceElement], fiber: RunLoop): Vector[StackTraceElement] =
    val trace = if present.isEmpty then ArrayBuffer() else begin(present.take(longest))
    addFiber(trace, fiber, null): Unit
    trace += markOf(fiber, 0)
    trace.toVector

  /** True for a thread that is making a trace. The first one of a JVM loads classes for so long that it would be a spin. */
  def isIn(stack: Array[StackTraceElement]): Boolean =
    stack.exists(_.getClassName == getClass.getName)

  /** True if both have the same lines, whichever fibers they have passed. */
  def isSame(a: Throwable, b: Throwable): Boolean =
    val one = a.getStackTrace
    val other = b.getStackTrace
    one.length == other.length && one.indices.forall { i =>
      one(i) == other(i) || isMark(one(i)) && isMark(other(i))
    }

  /** Gives `error` the trace that `next` makes of its present one; null to leave it as it is. */
  private def change(
      error: Throwable
  )(next: Array[StackTraceElement] => ArrayBuffer[StackTraceElement] | Null): Unit =
    if isOn then
      try
        val present = error.getStackTrace
        if present.length > 0 && present.length < longest then
          val trace = next(present)
          if trace ne null then error.setStackTrace(trace.toArray)
      // Whatever goes wrong here must not take the place of the error.
      catch case _: Throwable => ()

  /** The trace of an error that no fiber has added to yet. */
  private def first(
      present: Array[StackTraceElement],
      fiber: RunLoop,
      at: AnyRef | Null
  ): ArrayBuffer[StackTraceElement] =
    val trace = begin(present)
    val own = trace.length
    val isHere = addFiber(trace, fiber, at)
    // An initializer, which any fiber may be the first to come to, says nothing of who throws the error later.
    val isShared = present.exists(_.getMethodName == "<clinit>")
    trace += markOf(fiber, if isHere && !isShared then trace.length + 1 else own)

  private def withFiber(
      before: Array[StackTraceElement],
      fiber: RunLoop,
      at: AnyRef | Null,
      made: Int
  ): ArrayBuffer[StackTraceElement] =
    val trace = ArrayBuffer.from(before)
    addFiber(trace, fiber, at): Unit
    trace += markOf(fiber, made)

  /** True if the trace before stands in one of the fiber's functions. */
  private def addFiber(
      trace: ArrayBuffer[StackTraceElement],
      fiber: RunLoop,
      at: AnyRef | Null
  ): Boolean =
    val before = trace.toArray
    var stands = false
    for line <- lines(fiber, at) do
      addOnce(trace, line)
      if before.exists(isSameMethod(_, line)) then stands = true
    Functions.in(fiber.origin).foreach(addOnce(trace, _))
    stands

  private def lines(fiber: RunLoop, at: AnyRef | Null): Iterator[StackTraceElement] =
    (Iterator(at) ++ fiber.topFrames(framesOfFiber)).flatMap(Functions.ofFrame)

  /** True if the innermost of the fiber's lines is in the trace: so the error is thrown again, further out. */
  private def isAmong(trace: Array[StackTraceElement], fiber: RunLoop, at: AnyRef | Null): Boolean =
    lines(fiber, at).nextOption().forall(line => trace.exists(isSameMethod(_, line)))

  private def markOf(fiber: RunLoop, made: Int): StackTraceElement =
    StackTraceElement(markClass, markMethod, fiber.name, noLine - made)

  private def isMark(line: StackTraceElement): Boolean =
    line.getClassName == markClass && line.getMethodName == markMethod

  private def isMarkOf(fiber: FiberCore)(line: StackTraceElement): Boolean =
    isMark(line) && line.getFileName == fiber.name

  /** How many lines of a trace that fibers have added to tell where the error was made. */
  private def made(present: Array[StackTraceElement]): Int =
    math.max(1, noLine - present.find(isMark).get.getLineNumber)

  /** The trace up to the line of `fiber`; what tells where the error was made, if that is not there. */
  private def upTo(
      present: Array[StackTraceElement],
      fiber: FiberCore | Null
  ): Array[StackTraceElement] =
    if (fiber eq null) || !present.exists(isMark) then present
    else
      val last = present.lastIndexWhere(isMarkOf(fiber))
      present.take(if last >= 0 then last + 1 else made(present))

  /** The trace so far; of what the JVM has put there, this fiber's part without this library's frames. */
  private def begin(present: Array[StackTraceElement]): ArrayBuffer[StackTraceElement] =
    val trace = ArrayBuffer[StackTraceElement]()
    if present.exists(isMark) then trace ++= present
    else
      for line <- aboveSlice(present) do if !OwnCode.contains(line) then trace += line
      // Where all of it is this library's, it is where the error was made.
      if trace.isEmpty then trace += present(0)
    trace

  /** What a thread's stack has above the innermost slice. Below it are those who have called `runSync`, which are told in their turn. */
  def aboveSlice(stack: Array[StackTraceElement]): Array[StackTraceElement] =
    stack.takeWhile(line => line.getMethodName != "runSlice" || line.getClassName != runLoop)

  private val runLoop = classOf[RunLoop].getName

  /** Leaves out a function that is there: one that has thrown is, with the line that threw. */
  private def addOnce(trace: ArrayBuffer[StackTraceElement], line: StackTraceElement): Unit =
    var i = trace.length - 1
    while i >= 0 && !isSameMethod(trace(i), line) do i -= 1
    if i < 0 then trace += line

  private def isSameMethod(a: StackTraceElement, b: StackTraceElement): Boolean =
    a.getMethodName == b.getMethodName && a.getClassName == b.getClassName

package weir.trace

import scala.collection.mutable.ArrayBuffer
import weir.fiber.{ErrorTraces, FiberCore, TaskFiber}
import weir.runtime.ExecutionThread

/** Adds to an error the lines of the user's code that were waiting for the result.
  *
  * The JVM's stack trace of an error ends where the fiber's stack begins. Each fiber that the error
  * passes adds the functions on its continuation stack, and a line that names the fiber; `runSync`
  * adds its callers. This library's own frames are left out.
  *
  *   - Nothing is recorded for this as long as there is no error: the interpreter needs the
  *     continuation stack anyway.
  *   - A fiber adds its part once, however often the error is handled and thrown again there: it
  *     looks for its own line.
  *   - An error without a stack trace, which is made for speed, is not changed.
  *   - An error gets no longer than `longest`.
  *   - **An error object that is thrown again**, such as one in a `val` or an `object` of the
  *     user's, has only the lines of the latest run. An error comes to a fiber in one of two ways.
  *     This library passes it on from another fiber (`pass`, `TaskFiber.thrown`); then the lines of
  *     that fiber stay. Or the fiber's own code throws it (`add`). If it has lines of other fibers
  *     then, or of another place of this fiber, they are removed. The lines that tell where the
  *     error was made stay: the lines of the JVM, and those of the fiber whose functions are among
  *     them, since they continue the lines of the JVM.
  */
private[weir] object ErrorTrace extends ErrorTraces:
  val isOn: Boolean = System.getProperty("weir.traces") != "off"

  /** The largest number of frames of a fiber that are added, from the innermost on. */
  private inline val framesOfFiber = 64

  /** An error with more stack trace elements than this gets no further ones. */
  private inline val longest = 512

  /** The line that stands for a fiber: `at weir.fiber(1c9a45b)`. */
  private inline val markClass = "weir"
  private inline val markMethod = "fiber"

  /** The line number of a fiber's line is this, minus the number of lines that tell where the error
    * was made. The JVM prints no line number below zero, and has a meaning of its own for -2.
    */
  private inline val noLine = -3

  /** Called by `fiber` when its own code has thrown `error`, with its stack as it was then. `at` is
    * the instruction that it was running.
    */
  def add(error: Throwable, fiber: TaskFiber, at: AnyRef | Null): Unit =
    change(error) { present =>
      if !present.exists(isMark) then first(present, fiber, at)
      else if present.exists(isMarkOf(fiber)) && isAmong(present, fiber, at) then null
      else if fiber.thrown eq error then withFiber(present, fiber, at, made(present))
      else withFiber(present.take(made(present)), fiber, at, made(present))
    }

  /** Called when `fiber` is about to get an error of the fiber `from`: while it waits for that, or
    * by `fiber` itself. `from` is null if it is not known. Lines that other fibers have added since
    * the error has left `from` are removed.
    */
  def pass(error: Throwable, fiber: TaskFiber | Null, from: FiberCore | Null): Unit =
    if fiber ne null then
      change(error) { present =>
        if !present.exists(isMark) then first(present, fiber, null)
        else if present.exists(isMarkOf(fiber)) then null
        else withFiber(upTo(present, from), fiber, null, made(present))
      }

  /** Adds the callers of a `runSync` that throws an error of `fiber`, on the calling thread. */
  def addCaller(error: Throwable, fiber: FiberCore): Unit =
    change(error) { present =>
      val trace = ArrayBuffer.from(upTo(begin(present).toArray, fiber))
      for line <- aboveSlice(Throwable().getStackTrace) do
        if !OwnCode.contains(line) && !trace.contains(line) then trace += line
      trace
    }

  /** Returns the lines of a fiber, whose thread has the stack `present`, which is empty if it has
    * no thread.
    */
  def of(present: Array[StackTraceElement], fiber: TaskFiber): Vector[StackTraceElement] =
    val trace = if present.isEmpty then ArrayBuffer() else begin(present.take(longest))
    addFiber(trace, fiber, null): Unit
    trace += markOf(fiber, 0)
    trace.toVector

  /** Returns true if a thread with this stack makes a trace. The first trace of a JVM loads classes
    * for so long that it would be a spin.
    */
  def isIn(stack: Array[StackTraceElement]): Boolean =
    stack.exists(_.getClassName == getClass.getName)

  /** Returns true if both errors have the same lines, whichever fibers they have passed. */
  def isSame(a: Throwable, b: Throwable): Boolean =
    val one = a.getStackTrace
    val other = b.getStackTrace
    one.length == other.length && one.indices.forall { i =>
      one(i) == other(i) || isMark(one(i)) && isMark(other(i))
    }

  /** Sets the trace of `error` to the one that `next` returns for its present one; null leaves it
    * unchanged.
    */
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

  /** Returns the trace of an error that no fiber has added to yet. */
  private def first(
      present: Array[StackTraceElement],
      fiber: TaskFiber,
      at: AnyRef | Null
  ): ArrayBuffer[StackTraceElement] =
    val trace = begin(present)
    val own = trace.length
    val isHere = addFiber(trace, fiber, at)
    // An initializer, which any fiber may be the first to come to, does not tell who throws the
    // error later.
    val isShared = present.exists(_.getMethodName == "<clinit>")
    trace += markOf(fiber, if isHere && !isShared then trace.length + 1 else own)

  private def withFiber(
      before: Array[StackTraceElement],
      fiber: TaskFiber,
      at: AnyRef | Null,
      made: Int
  ): ArrayBuffer[StackTraceElement] =
    val trace = ArrayBuffer.from(before)
    addFiber(trace, fiber, at): Unit
    trace += markOf(fiber, made)

  /** Adds the fiber's lines. Returns true if one of its functions was in the trace before. */
  private def addFiber(
      trace: ArrayBuffer[StackTraceElement],
      fiber: TaskFiber,
      at: AnyRef | Null
  ): Boolean =
    val before = trace.toArray
    var isThere = false
    for line <- lines(fiber, at) do
      addOnce(trace, line)
      if before.exists(isSameMethod(_, line)) then isThere = true
    Functions.in(fiber.origin).foreach(addOnce(trace, _))
    isThere

  private def lines(fiber: TaskFiber, at: AnyRef | Null): Iterator[StackTraceElement] =
    (Iterator(at) ++ fiber.topFrames(framesOfFiber)).flatMap(Functions.ofFrame)

  /** Returns true if the innermost of the fiber's lines is in the trace: then the error is thrown
    * again, further out in the same fiber.
    */
  private def isAmong(
      trace: Array[StackTraceElement],
      fiber: TaskFiber,
      at: AnyRef | Null
  ): Boolean =
    lines(fiber, at).nextOption().forall(line => trace.exists(isSameMethod(_, line)))

  private def markOf(fiber: TaskFiber, made: Int): StackTraceElement =
    StackTraceElement(markClass, markMethod, fiber.name, noLine - made)

  private def isMark(line: StackTraceElement): Boolean =
    line.getClassName == markClass && line.getMethodName == markMethod

  private def isMarkOf(fiber: FiberCore)(line: StackTraceElement): Boolean =
    isMark(line) && line.getFileName == fiber.name

  /** Returns the number of lines at the beginning of a trace that tell where the error was made.
    * Fibers have added the others.
    */
  private def made(present: Array[StackTraceElement]): Int =
    math.max(1, noLine - present.find(isMark).get.getLineNumber)

  /** Returns the trace up to the line of `fiber`. If it has no such line, returns the lines that
    * tell where the error was made.
    */
  private def upTo(
      present: Array[StackTraceElement],
      fiber: FiberCore | Null
  ): Array[StackTraceElement] =
    if (fiber eq null) || !present.exists(isMark) then present
    else
      val last = present.lastIndexWhere(isMarkOf(fiber))
      present.take(if last >= 0 then last + 1 else made(present))

  /** Returns the trace so far. If no fiber has added to it, that is the frames of the innermost
    * slice, without this library's.
    */
  private def begin(present: Array[StackTraceElement]): ArrayBuffer[StackTraceElement] =
    val trace = ArrayBuffer[StackTraceElement]()
    if present.exists(isMark) then trace ++= present
    else
      for line <- aboveSlice(present) do if !OwnCode.contains(line) then trace += line
      // If all frames are this library's, the error was made there.
      if trace.isEmpty then trace += present(0)
    trace

  /** Returns the frames of a thread's stack above the innermost slice. Below it are the callers of
    * a `runSync`, whose lines `addCaller` adds later.
    */
  def aboveSlice(stack: Array[StackTraceElement]): Array[StackTraceElement] =
    stack.takeWhile(line => line.getMethodName != "runSlice" || line.getClassName != sliceClass)

  /** The class that declares `runSlice`. */
  private val sliceClass =
    classOf[TaskFiber].getMethod("runSlice", classOf[ExecutionThread]).getDeclaringClass.getName

  /** Adds `line`, unless its function is there. The function that has thrown is there, with the
    * line that threw.
    */
  private def addOnce(trace: ArrayBuffer[StackTraceElement], line: StackTraceElement): Unit =
    var i = trace.length - 1
    while i >= 0 && !isSameMethod(trace(i), line) do i -= 1
    if i < 0 then trace += line

  private def isSameMethod(a: StackTraceElement, b: StackTraceElement): Boolean =
    a.getMethodName == b.getMethodName && a.getClassName == b.getClassName

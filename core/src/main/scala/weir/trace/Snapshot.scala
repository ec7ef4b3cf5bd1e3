package weir.trace

import scala.collection.mutable
import weir.FiberDump.{Entry, State}
import weir.fiber.{Frame, TaskFiber, Waiter}
import weir.runtime.Watch
import weir.{FiberDump, Spin, WeirRuntime}

/** Makes a fiber dump: finds the fibers of a runtime, and reads their states while they continue to
  * run.
  *
  * A fiber is found in one of these places: as the one that a listed execution thread runs, in a
  * queue, as a sleeper in the timer's heap, or in the fiber registry. It is also found from another
  * fiber: as the parent of a group of children, or as a holder, which must act before a wait can
  * end.
  *
  * A wait is read in this order: the wait, then the stack, then whether the fiber is still in that
  * wait. A fiber's stack does not change while it is suspended, and the CAS to `Suspended` comes
  * after its last change. So if the fiber is still in that wait, the parts belong together. If not,
  * the fiber has resumed, and is read again.
  */
private[weir] object Snapshot:
  private inline val attempts = 3

  def apply(runtime: WeirRuntime): FiberDump =
    val seen = find(runtime)
    val reads =
      seen.map(fiber => fiber -> read(fiber)).collect { case (fiber, Some(read)) => fiber -> read }
    FiberDump(reads.map(_._2.entry), cycles(reads))

  private final class Read(val entry: Entry, val holders: Vector[TaskFiber])

  // ---- finding ----

  /** Returns the fibers that have begun and not ended. */
  def find(runtime: WeirRuntime): Vector[TaskFiber] =
    val scheduler = runtime.scheduler
    val found = mutable.LinkedHashSet[TaskFiber]()
    val roots =
      scheduler.executionThreads.map(_.running) ++ scheduler.queued ++ runtime.timers.sleepers ++
        scheduler.fiberRegistry.fibers
    val left = mutable.Queue.from(roots.collect { case fiber: TaskFiber => fiber })
    while left.nonEmpty do
      val fiber = left.dequeue()
      if (fiber.outcome eq null) && found.add(fiber) then
        left ++= parentOf(fiber)
        left ++= holdersOf(fiber)
    found.toVector

  /** Returns the parent of the group that `fiber` is a runner of. While a runner runs a ready
    * child, the runner is not at the bottom of the fiber's stack, but is its origin.
    */
  private def parentOf(fiber: TaskFiber): Option[TaskFiber] =
    List(fiber.bottomFrame, fiber.origin).collectFirst:
      case frame: Frame if frame.parent ne null => frame.parent.nn

  private def holdersOf(fiber: TaskFiber): Vector[TaskFiber] =
    val wait = fiber.latestWait
    fiber.nestedFiber match
      case inner: TaskFiber => Vector(inner)
      case _ if (wait ne null) && wait.isWaiting =>
        val awaited = wait.awaited
        if awaited eq null then Vector.empty else awaited.holders.toVector
      case _ => Vector.empty

  // ---- reading ----

  private def read(fiber: TaskFiber): Option[Read] =
    (1 to attempts).iterator
      .map(_ => readOnce(fiber))
      .collectFirst { case Some(read) => read }
      .orElse(Option.when(fiber.outcome eq null)(bare(fiber)))

  private def bare(fiber: TaskFiber): Read =
    Read(
      Entry(fiber.name, State.Queued, -1, "", Vector.empty, "", ErrorTrace.of(noStack, fiber)),
      Vector.empty
    )

  private val noStack = new Array[StackTraceElement](0)

  /** Reads the state of `fiber`, or returns `None` if it has changed meanwhile. */
  private def readOnce(fiber: TaskFiber): Option[Read] =
    val wait = fiber.latestWait
    if (wait ne null) && wait.isWaiting then
      val read = waiting(fiber, wait)
      Option.when((fiber.latestWait eq wait) && wait.isWaiting)(read)
    else
      val on = fiber.executionThread
      if on eq null then None
      else
        val stack = on.thread.getStackTrace
        val read = onThread(fiber, on.thread, stack, Watch.nanosSince(on.begun))
        Option.when(fiber.executionThread eq on)(read)

  private def waiting(fiber: TaskFiber, wait: Waiter): Read =
    val awaited = wait.awaited
    val text =
      if awaited eq null then ""
      else
        try awaited.awaitedAs
        catch
          case error: Throwable => s"${awaited.getClass.getName}, which failed to say more: $error"
    val holders = holdersOf(fiber)
    val thread = wait.thread
    val stack = if thread eq null then noStack else thread.getStackTrace
    Read(
      Entry(
        fiber.name,
        if thread eq null then State.Waiting else State.Awaiting,
        Watch.nanosSince(wait.since),
        text,
        holders.map(_.name),
        if thread eq null then "" else Spin.nameOf(thread),
        ErrorTrace.of(stack, fiber)
      ),
      holders
    )

  private def onThread(
      fiber: TaskFiber,
      thread: Thread,
      stack: Array[StackTraceElement],
      nanos: Long
  ): Read =
    val holders = holdersOf(fiber)
    val runs = thread.getState == Thread.State.RUNNABLE
    Read(
      Entry(
        fiber.name,
        if runs then State.Running else State.Blocked,
        nanos,
        if holders.nonEmpty then "a runSync inside of it"
        else if runs then ""
        else blockedIn(stack),
        holders.map(_.name),
        Spin.nameOf(thread),
        ErrorTrace.of(stack, fiber)
      ),
      holders
    )

  /** Returns the method of the JDK that the user's code has called: the outermost of the JDK's
    * frames.
    */
  private def blockedIn(stack: Array[StackTraceElement]): String =
    val inside = stack.takeWhile(line =>
      line.getClassName.startsWith("java.") || line.getClassName.startsWith("jdk.")
    )
    inside.lastOption.fold("")(line => s"${line.getClassName}.${line.getMethodName}")

  // ---- cycles ----

  /** Returns each cycle once, beginning with the fiber that was found first: a depth-first search.
    */
  private def cycles(reads: Vector[(TaskFiber, Read)]): Vector[Vector[String]] =
    val next = reads.map((fiber, read) => fiber -> read.holders).toMap
    val done = mutable.Set[TaskFiber]()
    val found = Vector.newBuilder[Vector[String]]
    for (start, _) <- reads do
      val path = mutable.LinkedHashMap[TaskFiber, Iterator[TaskFiber]]()
      def visit(fiber: TaskFiber): Unit =
        path.put(fiber, next.getOrElse(fiber, Vector.empty).iterator): Unit
      if !done.contains(start) then visit(start)
      while path.nonEmpty do
        val (fiber, holders) = path.last
        if holders.hasNext then
          val holder = holders.next()
          if path.contains(holder) then
            found += path.keys.dropWhile(_ ne holder).map(_.name).toVector
          else if !done.contains(holder) then visit(holder)
        else
          path.remove(fiber): Unit
          done += fiber
    found.result()

package weir.trace

import scala.collection.mutable
import scala.jdk.CollectionConverters.*
import weir.FiberDump.{Entry, State}
import weir.fiber.{Awaited, Frame, TaskFiber, Waiter}
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
    val reader = new Snapshot(seen)
    val reads = seen
      .map(fiber => fiber -> reader.read(fiber))
      .collect { case (fiber, Some(read)) => fiber -> read }
    FiberDump(reads.map(_._2.entry), cycles(reads))

  /** @param mustAct the fibers without which the wait cannot end: holders, unless one of several
    *   is enough
    */
  private final class Read(val entry: Entry, val mustAct: Vector[TaskFiber])

  /** The frames of a fiber in which permits are looked for, from the innermost on. */
  private inline val framesSearched = 64

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

  private val noStack = new Array[StackTraceElement](0)

  private def entryOf(
      fiber: TaskFiber,
      state: State,
      sinceNanos: Long,
      awaits: String,
      holders: Vector[TaskFiber],
      areAllHolders: Boolean,
      thread: Thread | Null,
      stack: Array[StackTraceElement]
  ): Entry =
    val trace = ErrorTrace.of(stack, fiber)
    Entry(
      fiber.name,
      state,
      sinceNanos,
      awaits,
      holders.map(_.name),
      if thread eq null then "" else Spin.nameOf(thread),
      trace,
      if trace.size > 1 then None else startedAt(fiber) // the last element stands for the fiber
    )(areAllHolders)

  private def startedAt(fiber: TaskFiber): Option[StackTraceElement] = fiber.origin match
    case of: Class[?] => Option(Functions.ofClass(of))
    case _ => None

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
    val next = reads.collect {
      case (fiber, read) if read.mustAct.nonEmpty => fiber -> read.mustAct
    }.toMap
    val done = mutable.Set[TaskFiber]()
    val found = Vector.newBuilder[Vector[String]]
    for start <- reads.map(_._1).filter(next.contains) do
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

/** Reads the fibers that a dump has found. */
private final class Snapshot(seen: Vector[TaskFiber]):
  import Snapshot.*

  private final class Held(val by: TaskFiber, val permits: Long)

  /** The fibers with permits of each object whose holders only their frames tell. */
  private lazy val permits: collection.Map[Awaited, Vector[Held]] =
    val found = java.util.IdentityHashMap[Awaited, Vector[Held]]().asScala
    for
      fiber <- seen
      case frame: Frame <- fiber.topFrames(framesSearched)
      held = frame.held
      if held ne null
    do
      val one = Held(fiber, frame.heldPermits)
      found.updateWith(held.nn)(known => Some(known.getOrElse(Vector.empty) :+ one)): Unit
    found

  private def read(fiber: TaskFiber): Option[Read] =
    (1 to attempts).iterator
      .map(_ => readOnce(fiber))
      .collectFirst { case Some(read) => read }
      .orElse(Option.when(fiber.outcome eq null)(queued(fiber)))

  private def queued(fiber: TaskFiber): Read =
    Read(entryOf(fiber, State.Queued, -1, "", Vector.empty, true, null, noStack), Vector.empty)

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
    val (holders, areAll, mustAct) =
      if (awaited ne null) && awaited.isHeldByFrames then
        val found = permits.getOrElse(awaited, Vector.empty)
        val all = awaited.allPermits
        (
          found.map(_.by).distinct,
          found.map(_.permits).sum >= all,
          found.filter(_.permits >= all).map(_.by)
        )
      else
        val found = holdersOf(fiber)
        (found, true, found)
    val thread = wait.thread
    val state = if thread eq null then State.Waiting else State.Awaiting
    val stack = if thread eq null then noStack else thread.getStackTrace
    Read(
      entryOf(fiber, state, Watch.nanosSince(wait.since), text, holders, areAll, thread, stack),
      mustAct
    )

  private def onThread(
      fiber: TaskFiber,
      thread: Thread,
      stack: Array[StackTraceElement],
      nanos: Long
  ): Read =
    val holders = holdersOf(fiber)
    val runs = thread.getState == Thread.State.RUNNABLE
    val text =
      if holders.nonEmpty then "a runSync inside of it"
      else if runs then ""
      else blockedIn(stack)
    val state = if runs then State.Running else State.Blocked
    Read(entryOf(fiber, state, nanos, text, holders, true, thread, stack), holders)

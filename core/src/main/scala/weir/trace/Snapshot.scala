package weir.trace

import scala.collection.mutable
import weir.FiberDump.{Entry, State}
import weir.kernel.{Loop, RunLoop, Waiter}
import weir.{FiberDump, Runtime, Spin}

/** Finds the fibers of a runtime, and reads what they do while they go on doing it.
  *
  * A fiber is found as one that a listed thread runs, that is queued, that sleeps in the timer's heap, or that stands in the roster;
  * or from another one: as the parent of a group of children, or as who must act before a wait can end.
  *
  * A wait is read thus: the wait, then the stack, then whether that is still the wait and not over. A fiber's stack does not change
  * while it is suspended, and the CAS to `Suspended` comes after its last change: so if the answer is yes, what was read
  * belongs together. If not, the fiber has got on meanwhile, and is read again.
  */
private[weir] object Snapshot:
  private inline val attempts = 3

  def apply(runtime: Runtime): FiberDump =
    val seen = find(runtime)
    val reads =
      seen.map(fiber => fiber -> read(fiber)).collect { case (fiber, Some(read)) => fiber -> read }
    FiberDump(reads.map(_._2.entry), cycles(reads))

  private final class Read(val entry: Entry, val holders: Vector[RunLoop])

  // ---- finding ----

  private def find(runtime: Runtime): Vector[RunLoop] =
    val scheduler = runtime.scheduler
    val found = mutable.LinkedHashSet[RunLoop]()
    val roots = scheduler.hosts.map(_.running) ++ scheduler.queued ++ runtime.timers.sleepers ++
      scheduler.roster.fibers
    val left = mutable.Queue.from(roots.collect { case fiber: RunLoop => fiber })
    while left.nonEmpty do
      val fiber = left.dequeue()
      if (fiber.outcome eq null) && found.add(fiber) then
        left ++= parentOf(fiber)
        left ++= holdersOf(fiber)
    found.toVector

  /** The bottom of its stack is not there while a runner runs a child that is ready. */
  private def parentOf(fiber: RunLoop): Option[RunLoop] =
    List(fiber.bottomFrame, fiber.origin).collectFirst:
      case loop: Loop if loop.parent ne null => loop.parent.nn

  private def holdersOf(fiber: RunLoop): Vector[RunLoop] =
    val wait = fiber.latestWait
    fiber.nestedFiber match
      case inner: RunLoop => Vector(inner)
      case _ if (wait ne null) && wait.isWaiting =>
        val awaited = wait.awaited
        if awaited eq null then Vector.empty else awaited.holders.toVector
      case _ => Vector.empty

  // ---- reading ----

  private def read(fiber: RunLoop): Option[Read] =
    (1 to attempts).iterator
      .map(_ => readOnce(fiber))
      .collectFirst { case Some(read) => read }
      .orElse(Option.when(fiber.outcome eq null)(bare(fiber)))

  private def bare(fiber: RunLoop): Read =
    Read(
      Entry(fiber.name, State.Queued, -1, "", Vector.empty, "", ErrorTrace.of(noStack, fiber)),
      Vector.empty
    )

  private val noStack = new Array[StackTraceElement](0)

  /** None where the fiber has got on between the first look and the last. */
  private def readOnce(fiber: RunLoop): Option[Read] =
    val wait = fiber.latestWait
    if (wait ne null) && wait.isWaiting then
      val read = waiting(fiber, wait)
      Option.when((fiber.latestWait eq wait) && wait.isWaiting)(read)
    else
      val host = fiber.host
      if host eq null then None
      else
        val stack = host.thread.getStackTrace
        val read = onThread(fiber, host.thread, stack, Watch.nanosSince(host.begun))
        Option.when(fiber.host eq host)(read)

  private def waiting(fiber: RunLoop, wait: Waiter): Read =
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
      fiber: RunLoop,
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

  /** What the user's code has called: the last of the JDK's frames before his own. */
  private def blockedIn(stack: Array[StackTraceElement]): String =
    val inside = stack.takeWhile(line =>
      line.getClassName.startsWith("java.") || line.getClassName.startsWith("jdk.")
    )
    inside.lastOption.fold("")(line => s"${line.getClassName}.${line.getMethodName}")

  // ---- cycles ----

  /** Each cycle once, beginning with the fiber that was found first. */
  private def cycles(reads: Vector[(RunLoop, Read)]): Vector[Vector[String]] =
    val next = reads.map((fiber, read) => fiber -> read.holders).toMap
    val done = mutable.Set[RunLoop]()
    val found = Vector.newBuilder[Vector[String]]
    for (start, _) <- reads do
      val path = mutable.LinkedHashMap[RunLoop, Iterator[RunLoop]]()
      def enter(fiber: RunLoop): Unit =
        path.put(fiber, next.getOrElse(fiber, Vector.empty).iterator): Unit
      if !done.contains(start) then enter(start)
      while path.nonEmpty do
        val (fiber, holders) = path.last
        if holders.hasNext then
          val holder = holders.next()
          if path.contains(holder) then
            found += path.keys.dropWhile(_ ne holder).map(_.name).toVector
          else if !done.contains(holder) then enter(holder)
        else
          path.remove(fiber): Unit
          done += fiber
    found.result()

package weir.fiber

import java.lang.ref.{Cleaner, WeakReference}
import java.util.LinkedHashSet
import java.util.concurrent.atomic.AtomicBoolean
import scala.jdk.CollectionConverters.*
import weir.{Outcome, WeirRuntime}

/** The failure of a fiber that no one has joined. It is reported once the fiber has been collected,
  * or at the end of the program.
  *
  * It is in the fiber's field `ending` in place of the outcome. A joiner calls `handled`. It is
  * made only for a fiber of `start` that has failed without a cancel. A cleaner holds the report,
  * which holds the error, but neither the fiber nor this object.
  */
private[weir] final class Unhandled(val outcome: Outcome.Failed[Any], fiber: FiberCore):
  private val report = Unhandled.Report(fiber.runtime, fiber.name, outcome.error)

  // owner only
  private var isWatched = false

  /** Returns the outcome, for a joiner. The failure is not reported any more. */
  def handled(): Outcome[Any] =
    report.drop()
    outcome

  /** Makes the failure due for a report. Called by the fiber, at its end. Has no effect after
    * `handled`, or a second time.
    */
  def watch(): Unit =
    if !isWatched then
      isWatched = true
      Unhandled.watch(this, report)

private[weir] object Unhandled:
  /** The number of reports that can be due at a time. Further ones are only counted. */
  private[fiber] inline val most = 1000

  /** The time for which the end of a program waits until the reports are printed: the standard
    * error may block.
    */
  private inline val patienceMillis = 2000L

  /** The report of one fiber. It is made at most once. */
  private final class Report(runtime: WeirRuntime, name: String, error: Throwable)
      extends AtomicBoolean,
        Runnable:
    // Weak, since a runtime may hold its fibers, as that of a test does: none could be collected.
    private val reporting = WeakReference(runtime)

    def run(): Unit =
      val runtime = reporting.get
      if drop() && (runtime ne null) then
        runtime.report(s"fiber $name, which was never joined,", error)

    /** Takes the report back. Returns true if it was due until now. */
    def drop(): Boolean =
      val first = compareAndSet(false, true)
      if first then due.synchronized(due.remove(this)): Unit
      first

  private val cleaner =
    Cleaner.create(Thread.ofPlatform().daemon().name("weir-unhandled").unstarted(_))

  // shared, under the lock of `due`
  private val due = LinkedHashSet[Report]()
  private var uncounted = 0L
  private var atExit: Thread | Null = null

  /** Returns the number of reports that are due. */
  private[fiber] def dueCount: Int = due.synchronized(due.size)

  private def watch(unhandled: Unhandled, report: Report): Unit =
    try
      val room = due.synchronized {
        val room = due.size < most
        if room then due.add(report): Unit else uncounted += 1
        if atExit eq null then atExit = hook()
        room
      }
      // The fiber may have been joined meanwhile.
      if report.get then due.synchronized(due.remove(report)): Unit
      else if room then cleaner.register(unhandled, report): Unit
    // No thread can be made, or the JVM is shutting down. The fiber ends nevertheless.
    catch case _: Throwable => ()

  private def hook(): Thread =
    val hook = Thread.ofPlatform().name("weir-unhandled-at-exit").unstarted { () =>
      val reports = Thread.ofPlatform().daemon().start(() => reportAll())
      reports.join(patienceMillis)
    }
    java.lang.Runtime.getRuntime.addShutdownHook(hook)
    hook

  private def reportAll(): Unit =
    due.synchronized(due.asScala.toList).foreach(_.run())
    val more = due.synchronized {
      val more = uncounted
      uncounted = 0
      more
    }
    if more > 0 then System.err.println(s"weir: $more more fibers have failed, unjoined.")

  /** Prints the reports that are due, and removes the shutdown hook. It is for a program that ends
    * inside of another one.
    */
  def close(): Unit =
    reportAll()
    val hook = due.synchronized {
      val hook = atExit
      atExit = null
      hook
    }
    if hook ne null then java.lang.Runtime.getRuntime.removeShutdownHook(hook): Unit

/** Adds lines of the user's code to the stack trace of an error that passes through fibers.
  *
  * `weir.trace` knows how to read a fiber's stack and implements this trait; `WeirRuntime` holds
  * the implementation. It is called only on failures.
  */
private[weir] trait ErrorTraces:

  /** Must be called by `fiber` with its stack as it was when `error` was thrown. `at` is the
    * instruction that was running.
    */
  def add(error: Throwable, fiber: TaskFiber, at: AnyRef | Null): Unit

  /** Must be called while `fiber` waits for an error of `from`, or by `fiber` itself. `from` is
    * null if it is not known.
    */
  def pass(error: Throwable, fiber: TaskFiber | Null, from: FiberCore | Null): Unit

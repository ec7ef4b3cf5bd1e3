package weir

import com.sun.management.HotSpotDiagnosticMXBean
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat
import java.lang.management.ManagementFactory
import java.nio.file.Files
import java.util.concurrent.{CompletableFuture, CountDownLatch, ExecutionException, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.{Await, Future}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.fiber.{FiberCore, Suspend, TaskFiber}
import weir.runtime.{Scheduler, SystemTimers}

/** A suite whose tests end by a deadline, or fail with a dump of all threads, and leave the runtime
  * quiet.
  */
trait WeirSuite extends munit.FunSuite:

  /** The time that a test may take, also on a machine that does much else: a test that hangs takes
    * longer.
    */
  def limit: FiniteDuration = 30.seconds

  /** Only a net below `limit`, which gives a dump. */
  override def munitTimeout: Duration = limit * 2

  override def munitTestTransforms: List[TestTransform] =
    super.munitTestTransforms :+ TestTransform(
      "deadline",
      test =>
        test.withBody { () =>
          within(limit)(Await.result(test.body(), Duration.Inf))
          settles(WeirRuntime.default)
          Future.unit
        }
    )

  /** Runs `body` on a thread of its own, and returns its result. Fails with a dump if that takes
    * longer than `limit`.
    */
  def within[A](limit: FiniteDuration)(body: => A): A =
    val result = CompletableFuture[A]()
    Thread.ofPlatform().daemon().name("test").start { () =>
      try result.complete(body): Unit
      catch case e: Throwable => result.completeExceptionally(e): Unit
    }: Unit
    try result.get(limit.toMillis, TimeUnit.MILLISECONDS)
    catch
      case e: ExecutionException => throw e.getCause
      case _: java.util.concurrent.TimeoutException =>
        WeirSuite.stuck = true
        fail(s"It had not ended within $limit.\n${WeirSuite.dump()}")

  /** Waits for a condition that no event announces, by checking it again and again. */
  def eventually(clue: => String)(condition: => Boolean): Unit =
    val deadline = 15.seconds.fromNow
    var isSo = condition
    var pauseNanos = 50_000
    while !isSo && deadline.hasTimeLeft() do
      Thread.sleep(0, pauseNanos)
      pauseNanos = (pauseNanos * 2).min(999_999)
      isSo = condition
    if !isSo then fail(s"Not so after 15 s: $clue\n${WeirSuite.dump()}")

  /** Waits until `number` has been the same for a while: nothing announces that it stays. */
  def settled(number: AtomicInteger): Unit =
    var before = -1
    eventually("the number stays the same") {
      val now = number.get
      Thread.sleep(30)
      val isSame = now == before && now == number.get
      before = now
      isSame
    }

  /** Waits until nothing is queued, asleep or running. Does not wait once a test has hung: its
    * fibers are still there.
    */
  def settles(runtime: WeirRuntime): Unit =
    val scheduler = runtime.scheduler
    def state = s"active ${scheduler.activeWorkers}, idle ${scheduler.idleWorkers}, " +
      s"queued ${scheduler.hasWork}, timers ${runtime.timers.size}"
    if !WeirSuite.stuck then eventually(s"the runtime is quiet ($state)")(runtime.isQuiet)

  def await(latch: CountDownLatch): Unit =
    if !latch.await(10, TimeUnit.SECONDS) then
      WeirSuite.stuck = true
      fail(s"Waited 10 s for a latch.\n${WeirSuite.dump()}")

  /** The fiber that runs it. */
  val ownFiber: Task[TaskFiber] = new Suspend[TaskFiber]:
    def begin(fiber: TaskFiber): Any = fiber

  /** True while `fiber` is suspended in a wait. */
  def isWaiting(fiber: Fiber[Any]): Boolean = fiber match
    case core: FiberCore => core.suspendedIn ne null

  /** Returns a fiber that waits for the cancel of `fiber`, which has been requested by then. */
  def startCancel(fiber: Fiber[Any]): Fiber[Unit] =
    val canceling = fiber.cancel.start.runSync()
    fiber match
      case core: FiberCore => eventually("the cancel has been asked for")(core.cancelRequested)
    canceling

  /** Runs `body`, and returns its result and the time that it took. */
  def timed[A](body: => A): (A, FiniteDuration) =
    val start = System.nanoTime()
    val result = body
    (result, (System.nanoTime() - start).nanos)

  /** A small runtime that prints no error that nobody handles, for tests that make many. */
  def silentRuntime(carriers: Int = 2): WeirRuntime =
    new WeirRuntime(Scheduler(carriers, 4), SystemTimers(), null):
      override private[weir] def report(where: String, error: Throwable): Unit = ()

  final class Boom(name: String = "boom") extends RuntimeException(name, null, true, false)

object WeirSuite:
  @volatile private[weir] var stuck = false

  /** All threads, virtual ones too: those that stand in Weir or a test first, others left out. */
  def dump(): String =
    val threads = dumpThreads().filter(_.contains("weir"))
    threads
      .map(_.linesIterator.take(14).mkString("\n"))
      .take(20)
      .mkString("\n\n") + s"\n\n${threads.size} threads with weir in their stacks\n"

  /** Virtual threads that have started and not ended. */
  def virtualThreads: Int = dumpThreads().count(_.linesIterator.next().contains("virtual"))

  private def dumpThreads(): Seq[String] =
    val folder = Files.createTempDirectory("weir-dump")
    val file = folder.resolve("threads.txt")
    try
      ManagementFactory
        .getPlatformMXBean(classOf[HotSpotDiagnosticMXBean])
        .dumpThreads(file.toString, ThreadDumpFormat.TEXT_PLAIN)
      Files.readString(file).split("\n\n").toSeq.filter(_.startsWith("#"))
    finally
      Files.deleteIfExists(file): Unit
      Files.deleteIfExists(folder): Unit

  /** Threads of the operating system: all that the kernel knows, else those that the JVM knows. */
  def osThreads: Int =
    val tasks = java.io.File("/proc/self/task").list()
    if tasks != null then tasks.length else ManagementFactory.getThreadMXBean.getThreadCount

  /** The options with which a JVM with the class path of the tests starts fast, and leaves the
    * processors to others.
    */
  val quickStart: Seq[String] = sys.props.get("weir.child").toSeq.flatMap(_.split(" "))

  /** Runs `main` of `program` in a JVM of its own, for 20 s at most. Its output, and its exit code.
    */
  def child(program: String, options: String*): (String, Int) =
    childWithin(20.seconds)(program, options*)

  /** As `child`, but for at most `limit`. */
  def childWithin(limit: FiniteDuration)(program: String, options: String*): (String, Int) =
    childOf(Nil, limit)(program, options*)

  /** As `childWithin`, but runs the program `launcher`, to which the words that start the JVM are
    * added.
    */
  def childOf(launcher: Seq[String], limit: FiniteDuration)(
      program: String,
      options: String*
  ): (String, Int) =
    val java = ProcessHandle.current().info().command().orElse("java")
    val command = launcher ++ (java +: (quickStart ++ options)) ++ Seq(
      "-cp",
      System.getProperty("java.class.path"),
      program
    )
    val out = Files.createTempFile("weir-child", ".txt")
    try
      val process =
        ProcessBuilder(command.asJava).redirectErrorStream(true).redirectOutput(out.toFile).start()
      val ended = process.waitFor(limit.toMillis, TimeUnit.MILLISECONDS)
      if !ended then process.destroyForcibly().waitFor(): Unit
      val text = Files.readString(out)
      if ended then (text, process.exitValue())
      else (text + s"\nkilled: not ended after $limit", -1)
    finally Files.deleteIfExists(out): Unit

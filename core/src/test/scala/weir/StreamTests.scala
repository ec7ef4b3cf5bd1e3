package weir

import java.io.{ByteArrayOutputStream, PrintStream}
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

/** The shared parts of the suites of streams and of primitives. */
trait StreamTests extends WeirSuite:

  /** Several of these tests start a hundred thousand fibers, which takes long on a busy machine. */
  override def limit: FiniteDuration = 30.seconds

  /** The text that `body` has printed on the standard error. */
  def printed(body: => Unit): String =
    val bytes = ByteArrayOutputStream()
    val err = System.err
    System.setErr(PrintStream(bytes, true))
    try body
    finally System.setErr(err)
    bytes.toString

  /** A runtime of the test's own, with a ring so small that it overflows. */
  def smallRuntime(): WeirRuntime = WeirRuntime.make(2, 4)

  /** Returns once all fibers of `runtime` have ended or wait outside of a stream, which would keep
    * its worker.
    */
  def standstill()(using runtime: WeirRuntime): Unit = eventually("quiet")(runtime.isQuiet)

  /** Returns the value that `count` stays at, if that is at least `atLeast`. A worker that waits in
    * a stream looks like one that runs: so nothing but time shows that no more comes.
    */
  def steady(atLeast: Int)(count: => Int): Int =
    var last = count
    eventually(s"at least $atLeast, not $last") {
      last = steadyFor(30.millis)(count)
      last >= atLeast
    }
    last

  private def steadyFor(time: FiniteDuration)(count: => Int): Int =
    var last = count
    var since = System.nanoTime()
    while System.nanoTime() - since < time.toNanos do
      Thread.sleep(1)
      val now = count
      if now != last then
        last = now
        since = System.nanoTime()
    last

  /** A fiber that has run `task`, which is no stream, until it waits. */
  def parked[A](task: Task[A])(using WeirRuntime): Fiber[A] =
    val fiber = task.start.runSync()
    standstill()
    fiber

  /** True if `fiber` has ended. */
  def ended(fiber: Fiber[Any]): Boolean = fiber match
    case core: weir.fiber.FiberCore => core.outcome ne null

  /** Returns a fiber that waits for the cancel of `fiber`, which has been requested by then. */
  def canceling(fiber: Fiber[Any]): Fiber[Unit] =
    val cancel = fiber.cancel.start.runSync()
    fiber match
      case core: weir.fiber.FiberCore => eventually("asked to cancel")(core.cancelRequested)
    cancel

  /** Runs `work` twice. Returns the number of bytes by which the heap has grown: the smaller one of
    * the two, since the JVM or another thread may have grown something of its own meanwhile.
    */
  def growth(work: => Unit): Long =
    work
    val first = Heap.used()
    val marks = first :: List.fill(2):
      work
      Heap.used()
    marks.zip(marks.tail).map((before, after) => after - before).min

  val megabyte = 1024L * 1024

  /** Lines in the order in which they were written, by any fiber. */
  final class Log:
    private val queue = ConcurrentLinkedQueue[String]()
    def write(line: String): Unit = queue.add(line): Unit
    def apply(line: String): Task[Unit] = Task(write(line))
    def lines: List[String] = queue.asScala.toList

    /** `body` inside of a resource that writes `+name` and `-name`. */
    def resource[A](name: String)(body: Stream[A]): Stream[A] =
      Stream.bracket(apply(s"+$name"))(_ => apply(s"-$name")).flatMap(_ => body)

    /** Each resource that was acquired was released once, the last one first. */
    def assertNested(clue: String = ""): Unit =
      val open = lines.foldLeft(List.empty[String]) {
        case (stack, s"+$name") => name :: stack
        case (top :: rest, s"-$name") if top == name => rest
        case (_, s"-$name") => fail(s"$clue: -$name is out of order in $lines")
        case (stack, _) => stack
      }
      assertEquals(open, Nil, s"$clue: not released in $lines")

  /** A room with `n` places: the number of taken ones, the largest number so far, and a gate that
    * opens when all are taken.
    */
  final class Crowd(n: Int):
    private val inside, most = AtomicInteger()
    private val full = Deferred.unsafe[Unit]
    private val latch = java.util.concurrent.CountDownLatch(1)

    val enter: Task[Unit] = Task {
      val now = inside.incrementAndGet()
      most.accumulateAndGet(now, math.max): Unit
      now == n
    }.flatMap(last =>
      if last then Task(latch.countDown()).andThen(full.complete(())).void else Task.unit
    )

    val leave: Task[Unit] = Task(inside.decrementAndGet()).void

    /** Goes on once `n` are inside. */
    def wait(blocking: Boolean): Task[Unit] = if blocking then Task(latch.await()) else full.get

    /** Enters, waits until `n` are inside, and leaves. Hangs if they never are. */
    def meet(blocking: Boolean): Task[Unit] =
      enter.andThen(wait(blocking)).andThen(Task.cede).andThen(leave)

    def now: Int = inside.get
    def peak: Int = most.get

  /** Returns the elements, and the error if the stream has failed, as a consumer sees them. */
  def seen[A](stream: Stream[A]): Task[List[A | Throwable]] =
    stream.map[A | Throwable](identity).handleErrorWith(e => Stream.emit(e)).toList

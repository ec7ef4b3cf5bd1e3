package weir.interop.cats.laws

import _root_.cats.effect.IO
import _root_.cats.effect.kernel.{Async, Outcome}
import _root_.cats.effect.unsafe.{IORuntime, IORuntimeConfig, Scheduler}
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.LockSupport
import java.util.concurrent.{Executors, ThreadFactory, TimeUnit}
import org.scalacheck.{Cogen, Gen}
import scala.concurrent.ExecutionContext
import scala.concurrent.duration.*
import weir.runtime.{Scheduler as WeirScheduler, SystemTimers, Tuning}
import weir.{Outcome as Ended, Task, WeirRuntime}

/** The runtime of programs, with its threads and its clock. A run never ends if nothing is left
  * that could end it: the runtime is quiet, and the contexts for `evalOn` are.
  */
object RealTask extends Rig[Task]:
  val effect: Async[Task] = weir.interop.cats.asyncForTask
  private val runtime =
    new WeirRuntime(
      WeirScheduler(WeirScheduler.carriersOfThisJvm, Tuning.ringCapacity),
      SystemTimers(),
      null
    ):
      // Programs fail in finalizers and in fibers that nobody joins.
      override private[weir] def report(where: String, error: Throwable): Unit = ()
  private val pool = CountedPool("task-laws")

  def run[A](task: Task[A]): Outcome[Option, Throwable, A] =
    @volatile var end: Option[Ended[A]] = None
    isMadeOf(task).runAsync(outcome => end = Some(outcome))(using runtime): Unit
    var quiet = 0
    while end.isEmpty && quiet < 3 do
      if isQuiet then
        // An alarm may have left the timer and not rung yet. The timer rings one after the other.
        Task.sleep(1.nano).runSync()(using runtime)
        quiet += 1
      else LockSupport.parkNanos(20_000)
    Ends.toCats(end)

  override protected def fingerprint[A: Cogen]: Cogen[Task[A]] = Rig.constant

  /** Nothing can have moved from one to the other between two looks at the pool. */
  private def isQuiet: Boolean =
    val before = pool.taken.get
    pool.left.get == 0 && runtime.isQuiet && pool.left.get == 0 && pool.taken.get == before &&
    runtime.isQuiet

  def contexts: Gen[ExecutionContext] = Gen.const(pool)
  def durations: Gen[FiniteDuration] = RealIO.durations
  def lateness: FiniteDuration = 5.seconds

/** The control: Cats Effect's own effect, on threads and a timer that count what they still have to
  * do.
  */
object RealIO extends Rig[IO]:
  val effect: Async[IO] = IO.asyncForIO
  private val pool = CountedPool("io-laws")
  private val timer = Executors.newSingleThreadScheduledExecutor(CountedPool.daemons("io-timer"))

  private val scheduler = new Scheduler:
    def sleep(delay: FiniteDuration, action: Runnable): Runnable =
      pool.left.incrementAndGet(): Unit
      val open = AtomicInteger(1)
      def once(body: => Unit): Unit = if open.getAndSet(0) == 1 then
        try body
        finally pool.left.decrementAndGet(): Unit
      timer.schedule(
        (() => once(action.run())): Runnable,
        delay.toNanos,
        TimeUnit.NANOSECONDS
      ): Unit
      () => once(())
    def nowMillis(): Long = System.currentTimeMillis()
    def monotonicNanos(): Long = System.nanoTime()

  private val runtime = IORuntime(pool, pool, scheduler, () => (), IORuntimeConfig())

  def run[A](task: IO[A]): Outcome[Option, Throwable, A] =
    val end = Ends.of(isMadeOf(task), runtime)
    while pool.left.get > 0 do LockSupport.parkNanos(20_000)
    end()

  override protected def fingerprint[A: Cogen]: Cogen[IO[A]] = Rig.constant

  def contexts: Gen[ExecutionContext] = Gen.const(pool)
  def durations: Gen[FiniteDuration] = Gen.choose(0L, 100L).map(_.micros)
  def lateness: FiniteDuration = 5.seconds

/** Two threads that count what they are given and have not ended. */
private final class CountedPool(name: String) extends ExecutionContext:
  private val threads = Executors.newFixedThreadPool(2, CountedPool.daemons(name))
  val left, taken = AtomicInteger()

  def execute(code: Runnable): Unit =
    left.incrementAndGet(): Unit
    taken.incrementAndGet(): Unit
    threads.execute { () =>
      try code.run()
      finally left.decrementAndGet(): Unit
    }
  def reportFailure(error: Throwable): Unit = ()

private object CountedPool:
  def daemons(name: String): ThreadFactory = Thread.ofPlatform().daemon().name(name).factory()

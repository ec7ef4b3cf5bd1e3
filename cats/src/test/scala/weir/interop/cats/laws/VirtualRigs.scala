package weir.interop.cats.laws

import _root_.cats.effect.IO
import _root_.cats.effect.kernel.testkit.TestContext
import _root_.cats.effect.kernel.{Async, Outcome}
import _root_.cats.effect.unsafe.{IORuntime, IORuntimeConfig, Scheduler}
import org.scalacheck.Gen
import scala.collection.mutable
import scala.concurrent.ExecutionContext
import scala.concurrent.duration.*
import weir.testkit.InlineRuntime
import weir.{Outcome as Ended, Task}

/** Each run on a runtime of its own, on the calling thread, by a clock of its own. */
object VirtualTask extends Rig[Task]:
  val effect: Async[Task] = weir.interop.cats.asyncForTask
  private var seed = 0L

  def run[A](task: Task[A]): Outcome[Option, Throwable, A] =
    seed += 1
    val runtime = InlineRuntime(seed, silent = true)
    val end = queued.within {
      val started = runtime.start(isMadeOf(task))
      var goesOn = true
      while started.outcome.isEmpty && goesOn do
        if queued.runOne() then runtime.awaitQuiet()
        else goesOn = runtime.tick().isDefined
      started.outcome
    }
    Ends.toCats(end)

  /** Keeps what it is given until the run in which that was takes it: the innermost. */
  private object queued extends ExecutionContext:
    private var runs: List[mutable.Queue[Runnable]] = Nil
    def execute(code: Runnable): Unit = runs.head.enqueue(code): Unit
    def reportFailure(error: Throwable): Unit = ()
    def runOne(): Boolean =
      val some = runs.head.nonEmpty
      if some then runs.head.dequeue().run()
      some
    def within[A](body: => A): A =
      runs = mutable.Queue[Runnable]() :: runs
      try body
      finally runs = runs.tail

  def contexts: Gen[ExecutionContext] = Gen.const(queued)
  def durations: Gen[FiniteDuration] = Ends.durations
  def lateness: FiniteDuration = Duration.Zero

/** The control: Cats Effect's own effect on its own test context. */
object VirtualIO extends Rig[IO]:
  val effect: Async[IO] = IO.asyncForIO
  private var current: TestContext = TestContext()

  def run[A](task: IO[A]): Outcome[Option, Throwable, A] =
    val outer = current
    val context = TestContext()
    current = context
    try
      val end = Ends.of(isMadeOf(task), runtimeOn(context))
      context.tickAll()
      end()
    finally current = outer

  private def runtimeOn(context: TestContext): IORuntime =
    val scheduler = new Scheduler:
      def sleep(delay: FiniteDuration, action: Runnable): Runnable =
        val cancel = context.schedule(delay, action)
        () => cancel()
      def nowMillis(): Long = context.now().toMillis
      override def nowMicros(): Long = context.now().toMicros
      def monotonicNanos(): Long = context.now().toNanos
    IORuntime(context, context, scheduler, () => (), IORuntimeConfig())

  private object onCurrent extends ExecutionContext:
    def execute(code: Runnable): Unit = current.execute(code)
    def reportFailure(error: Throwable): Unit = ()

  def contexts: Gen[ExecutionContext] = Gen.const(onCurrent)
  def durations: Gen[FiniteDuration] = Ends.durations
  def lateness: FiniteDuration = Duration.Zero

private[laws] object Ends:

  def toCats[A](end: Option[Ended[A]]): Outcome[Option, Throwable, A] = end match
    case None => Outcome.Succeeded(None)
    case Some(Ended.Succeeded(value)) => Outcome.Succeeded(Some(value))
    case Some(Ended.Failed(error)) => Outcome.Errored(error)
    case Some(Ended.Canceled) => Outcome.Canceled()

  /** Starts `task`. The function says how it has ended by then. */
  def of[A](task: IO[A], runtime: IORuntime): () => Outcome[Option, Throwable, A] =
    val seen = java.util.concurrent.atomic.AtomicReference[Outcome[Option, Throwable, A]](
      Outcome.Succeeded(None)
    )
    task.attempt
      .flatMap(either =>
        IO(seen.set(either.fold(Outcome.Errored(_), a => Outcome.Succeeded(Some(a)))))
      )
      .onCancel(IO(seen.set(Outcome.Canceled())))
      .unsafeRunAndForget()(using runtime)
    () => seen.get

  /** Up to two days. */
  val durations: Gen[FiniteDuration] =
    for
      unit <- Gen.oneOf(NANOSECONDS, MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS)
      length <- Gen.choose(0L, 48L)
    yield FiniteDuration(length, unit)

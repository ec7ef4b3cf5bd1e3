package weir

import java.util.SplittableRandom
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}
import scala.concurrent.duration.*

/** Every primitive, used by fibers that are cancelled at random points and started anew, again and
  * again.
  *
  * `-Dweir.stress.seconds=600` sets the time, in all; `-Dweir.stress.operations=10000000` the
  * number of operations on each primitive, however long that takes; `-Dweir.stress.seed=N` takes a
  * printed seed; `-Dweir.stress.only=Queue` runs those whose names begin with that.
  */
class PrimitiveStressSuite extends StreamTests:
  private val seconds = Integer.getInteger("weir.stress.seconds", Tier(3, 60)).intValue
  private val operations = java.lang.Long.getLong("weir.stress.operations", 0L).longValue
  private val seed = Tier.seed("weir.stress.seed")
  private val only = System.getProperty("weir.stress.only", "")
  private val rigs = PrimitiveRigs.all.filter(_().name.startsWith(only))
  private val each = seconds.seconds / rigs.size.toLong

  /** The number of times that the fibers of a rig run, for the slope. */
  private val rounds = 6

  /** True if each rig's slope is measured, which takes most of the time; otherwise each rig runs
    * once. `CancelledWaitsSuite` tests the memory of cancelled waits as well.
    */
  private val measuresSlope = Tier(false, true)

  /** So many cancels each time, at least. */
  private val enough = 500

  /** The number of bytes by which the heap may grow each time without a leak. */
  private val noise = 8192

  /** So many bytes kept for each cancel are a leak. */
  private val leak = 8.0

  // So long that only a test that hangs takes longer.
  override def limit: FiniteDuration =
    if operations > 0 then 2.minutes + (operations / 2).millis else each * 2 + 60.seconds

  for make <- rigs do
    val name = make().name
    test(
      s"$name, cancelled at random points: nothing lost, nothing twice, in order, heap slope 0"
    ):
      println(s"PrimitiveStressSuite: -Dweir.stress.seed=$seed -Dweir.stress.only=$name")
      val rig = make()
      given WeirRuntime = smallRuntime()
      val stress = Stress(rig)
      val kept = if measuresSlope then stress.keptPerCancel() else stress.once()
      rig.finish()
      assertEquals(rig.allErrors, Nil, s"-Dweir.stress.seed=$seed")
      assert(stress.cancels > 0, "nothing was cancelled")
      println(
        f"$name: ${stress.done} operations, ${stress.cancels} cancels, each keeps $kept%.2f bytes"
      )
      assert(kept < leak, s"$kept bytes of the heap are kept for each cancel")
      standstill()

  test("a rig that keeps an object for each cancel has a heap slope"):
    val kept = ConcurrentLinkedQueue[AnyRef]()
    val rig = new PrimitiveRig("a leak"):
      def operation(id: Int, random: SplittableRandom): Task[Any] =
        Task.never.onCancel(Task(kept.add(new Array[Byte](1000))).void)
      override def operationsEnd: Boolean = false
      def finish()(using WeirRuntime): Unit = ()
    given WeirRuntime = smallRuntime()
    val found = Stress(rig).keptPerCancel()
    println(f"${rig.name}: each cancel keeps $found%.2f bytes")
    assert(found > leak, s"$found bytes are kept for each cancel")

  /** The fibers of a rig, and one for each that cancels it. All end when it is time, and can be
    * started again.
    */
  private final class Stress(rig: PrimitiveRig)(using runtime: WeirRuntime):
    private val operated, canceled = AtomicLong()
    private val waitingFor = AtomicInteger()
    private var turn = 0
    @volatile private var deadline = Deadline.now
    @volatile private var most = 0L

    def done: Long = operated.get
    def cancels: Long = canceled.get

    /** Returns the number of bytes by which the heap grows for each cancel: the median of some
      * rounds, after one to warm up. An object that is made once, such as a class, makes the heap
      * grow in some of the rounds; a leak does so in each.
      */
    def keptPerCancel(): Double =
      val marks = for _ <- 1 to rounds yield
        round(rounds)
        (Heap.used(), cancels)
      val slopes =
        for ((heapBefore, before), (heapAfter, after)) <- marks.zip(marks.tail)
        yield (heapAfter - heapBefore - noise).max(0) / (after - before).toDouble
      slopes.sorted.apply(slopes.size / 2)

    /** Runs once. Returns 0, since one run does not show the memory that a cancel keeps. */
    def once(): Double =
      round(1)
      0

    /** One of `rounds`. All has ended then, and the primitive is empty. */
    private def round(rounds: Int): Unit =
      turn += 1
      deadline = (each / rounds).fromNow
      most = operations / rounds * turn
      Task
        .parForeachN(rig.fibers)(0 until rig.fibers) { id =>
          val random = SplittableRandom(seed + id * 31 + turn)
          def again: Task[Unit] =
            if goesOn || waitingFor.get > 0 then life(id, random).flatMap(_ => again) else Task.unit
          again
        }
        .start
        .flatMap(_.joinOrFail)
        .runSync()
      standstill()
      rig.empty()

    private def goesOn: Boolean =
      cancels < turn * enough ||
        (if operations > 0 then operated.get < most else deadline.hasTimeLeft())

    /** Starts the fiber `id`, lets it run for a while, and cancels it: before it begins, or between
      * any two of its steps.
      */
    private def life(id: Int, random: SplittableRandom): Task[Unit] =
      val inner = random.split()
      val own = AtomicLong()
      val body = Task
        .defer(rig.operation(id, inner))
        .flatMap { _ =>
          own.incrementAndGet()
          operated.incrementAndGet()
          if inner.nextInt(16) == 0 then Task.cede else Task.unit // no operation ever waits
        }
        .forever
      body.start.flatMap { fiber =>
        letRun(random, own)
          .andThen(fiber.cancel)
          .andThen(fiber.join)
          .map {
            case Outcome.Canceled => canceled.incrementAndGet(): Unit
            case Outcome.Failed(error) => rig.wrong(s"fiber $id failed with $error")
            case Outcome.Succeeded(_) => ()
          }
      }

    /** Runs for a while, on the carrier or off it. */
    private def letRun(random: SplittableRandom, own: AtomicLong): Task[Unit] =
      random.nextInt(5) match
        case 0 => Task.unit
        case 1 => Task.foreach(1 to random.nextInt(1, 20))(_ => Task.cede)
        case 2 => Task.sleep(random.nextInt(1, 200).micros)
        case 3 if rig.operationsEnd && goesOn => untilNext(own)
        case _ =>
          Task {
            val until = System.nanoTime() + random.nextInt(30_000)
            while System.nanoTime() < until do Thread.onSpinWait()
          }

    /** Waits until the next operation has ended, for as long as that takes: the others continue
      * meanwhile. If this fiber is not woken, the test does not end.
      */
    private def untilNext(own: AtomicLong): Task[Unit] =
      val before = own.get
      def wait: Task[Unit] = Task.defer(
        if own.get == before then Task.sleep(10.micros).andThen(wait) else Task.unit
      )
      Task(waitingFor.incrementAndGet())
        .andThen(wait)
        .guarantee(Task(waitingFor.decrementAndGet()).void)

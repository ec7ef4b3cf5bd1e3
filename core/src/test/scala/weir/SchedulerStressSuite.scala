package weir

import com.sun.management.OperatingSystemMXBean
import java.lang.management.ManagementFactory
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import scala.concurrent.duration.*
import weir.runtime.Tuning

/** Random fibers on schedulers of many sizes. `-Dweir.stress.seconds=60` runs it for a minute, and
  * `-Dweir.stress.seed=N` takes a printed seed back.
  */
class SchedulerStressSuite extends WeirSuite:

  private val seconds = Integer.getInteger("weir.stress.seconds", Tier(1, 60)).toInt
  private val seed = Tier.seed("weir.stress.seed")

  override def limit: FiniteDuration = (seconds + 60).seconds

  private val sizes = for
    carriers <- List(1, 2, 4)
    ring <- List(2, 4, Tuning.ringCapacity)
  yield (carriers, ring)

  private lazy val runtimes = sizes.map(WeirRuntime.make)

  /** CPU time of this process within half a second or more, in percent: the least of rounds. */
  private def idlePercent(): Double =
    val system = ManagementFactory.getPlatformMXBean(classOf[OperatingSystemMXBean])
    val rounds = LazyList.continually {
      val (cpu, start) = (system.getProcessCpuTime, System.nanoTime())
      Thread.sleep(Tier(500L, 1000L))
      (system.getProcessCpuTime - cpu) * 100.0 / (System.nanoTime() - start)
    }
    val most = rounds.take(Tier(10, 5))
    most.find(_ < 2).getOrElse(most.min)

  private def activeAtMostCarriers(stop: AtomicBoolean, most: Array[AtomicInteger]): Thread =
    Thread.ofPlatform().start { () =>
      while !stop.get do
        for (runtime, i) <- runtimes.zipWithIndex do
          most(i).accumulateAndGet(runtime.scheduler.activeWorkers, math.max): Unit
        Thread.sleep(1)
    }

  test(
    "random fibers: none lost, none run twice, finalizers once, and everything back where it was"
  ):
    for runtime <- runtimes do
      Task
        .parTraverse(1 to 100)(_ => Task(Thread.sleep(1)).andThen(Task.sleep(1.milli)))
        .runSync()(using runtime): Unit
      settles(runtime)
    val osThreads = WeirSuite.osThreads
    val virtualThreads = WeirSuite.virtualThreads
    val stop = AtomicBoolean()
    val most = Array.fill(runtimes.size)(AtomicInteger())
    val watch = activeAtMostCarriers(stop, most)
    val deadline = seconds.seconds.fromNow
    var waveSeed = seed
    var waves, fibers = 0
    println(s"stress: $seconds s with -Dweir.stress.seed=$seed")
    while waves < sizes.size || deadline.hasTimeLeft() do
      val at = waves % runtimes.size
      val (carriers, ring) = sizes(at)
      val where = s"wave $waves, $carriers carriers, rings of $ring: -Dweir.stress.seed=$seed"
      val stress = StressFibers(runtimes(at))
      val (count, errors) =
        try within(20.seconds)(stress.wave(waveSeed, 100))
        catch case e: munit.FailException => fail(s"$where\n${stress.unfinished}\n${e.getMessage}")
      assert(errors.isEmpty, s"$where\n${errors.take(20).mkString("\n")}")
      settles(runtimes(at))
      waveSeed = java.util.SplittableRandom(waveSeed).nextLong()
      waves += 1
      fibers += count
    stop.set(true)
    watch.join()
    for ((carriers, _), i) <- sizes.zipWithIndex do
      assert(most(i).get <= carriers, s"${most(i)} active workers with $carriers carriers")
      assertEquals(runtimes(i).scheduler.activeWorkers, 0)
      assertEquals(runtimes(i).timers.size, 0)
    println(
      s"measured: $fibers fibers in $waves waves; OS threads $osThreads before, " +
        s"${WeirSuite.osThreads} " +
        s"after; virtual threads $virtualThreads before, ${WeirSuite.virtualThreads} after"
    )
    // Idle workers are kept for the next burst, a bounded number of them.
    val kept = (runtimes :+ WeirRuntime.default).map(_.scheduler.idleWorkers)
    val allowed =
      (sizes.map(_._1) :+ WeirRuntime.default.scheduler.carriers)
        .map(_ * Tuning.idleWorkersPerCarrier)
    assert(kept.zip(allowed).forall(_ <= _), s"idle workers: $kept, at most $allowed")
    eventually(
      s"virtual threads are back: $virtualThreads before, ${WeirSuite.virtualThreads} now"
    ) {
      WeirSuite.virtualThreads <= virtualThreads.max(kept.sum)
    }
    eventually(s"OS threads are back: $osThreads before, ${WeirSuite.osThreads} now") {
      WeirSuite.osThreads <= osThreads + 4
    }
    val idle = idlePercent()
    println(f"measured: $idle%.2f %% of a CPU while idle")
    assert(idle < 2, s"$idle % of a CPU while idle")

  test("a burst of 20,000 blocked fibers leaves a bounded number of idle workers behind"):
    val runtime = WeirRuntime.make(2, 4)
    val before = WeirSuite.virtualThreads // other suites' runtimes keep their idle workers
    for _ <- 1 to Tier(2, 3) do
      Task.parTraverse(1 to 20_000)(_ => Task(Thread.sleep(100))).runSync()(using runtime): Unit
      settles(runtime)
      val most = 2 * Tuning.idleWorkersPerCarrier
      assert(
        runtime.scheduler.idleWorkers <= most,
        s"${runtime.scheduler.idleWorkers} idle workers"
      )
    eventually(s"the workers have ended: $before before, ${WeirSuite.virtualThreads} now") {
      WeirSuite.virtualThreads < before + 2000
    }

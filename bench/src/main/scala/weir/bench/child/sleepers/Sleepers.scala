package weir.bench.child.sleepers

import java.util.SplittableRandom
import java.util.concurrent.{CountDownLatch, TimeUnit}
import scala.concurrent.duration.*

import weir.lab.{ChildOutput, Experiment, Result}

/** What does a fiber that sleeps cost, and does it wake on time when a million do?
  *
  *   - `memory`: the live heap with many fibers asleep, less the heap before, for each fiber;
  *   - `wake`: how late fibers wake that sleep for different times, at the 99th percentile.
  */
object Sleepers extends Experiment:
  def run(system: String, options: Experiment.Options, out: ChildOutput): Unit =
    val sleepers = SleepSystem.of(system)
    val fibers = options.int("fibers")
    val result = options.text("part") match
      case "memory" =>
        Result(s"sleeping: $fibers", system, bytesEach(sleepers, fibers), "bytes", Result.lower)
      case "wake" =>
        Result.millis(s"late: $fibers", system, lateMillis(sleepers, fibers, options.long("seed")))
      case other => throw IllegalArgumentException(s"sleepers has no part '$other'")
    out.result(result)

  private def bytesEach(system: SleepSystem, fibers: Int): Double =
    system.startAlike(warmUpFibers, 1.day.toNanos)(() => ())
    val before = liveHeap()
    system.startAlike(fibers, 1.day.toNanos)(() => ())
    (liveHeap() - before).toDouble / fibers

  /** Milliseconds: 99 of 100 fibers woke no later than that after they should have. */
  private def lateMillis(system: SleepSystem, fibers: Int, seed: Long): Double =
    wake(system, math.min(fibers, warmUpFibers), seed): Unit
    val late = wake(system, fibers, seed + 1)
    java.util.Arrays.sort(late)
    if late(0) < 0 then throw IllegalStateException(s"a fiber woke ${-late(0)} ns too early")
    late(((fibers - 1) * 99L / 100).toInt) / 1e6

  /** How many nanoseconds each fiber woke after it should have. */
  private def wake(system: SleepSystem, fibers: Int, seed: Long): Array[Long] =
    val random = SplittableRandom(seed)
    val delays = Array.fill(fibers)(random.nextLong(shortestNanos, longestNanos))
    val due = new Array[Long](fibers)
    val awake = CountDownLatch(fibers)
    val late = new Array[Long](fibers)
    system.start(fibers) { i =>
      due(i) = System.nanoTime() + delays(i)
      delays(i)
    } { i =>
      late(i) = System.nanoTime() - due(i)
      awake.countDown()
    }
    if !awake.await(90, TimeUnit.SECONDS) then
      throw IllegalStateException(s"${awake.getCount} of $fibers fibers did not wake within 90 s")
    late

  /** The used heap without garbage, in bytes, once it has come to rest. */
  private def liveHeap(): Long =
    val jvm = java.lang.Runtime.getRuntime
    var last = Long.MaxValue
    var now = Long.MaxValue / 2
    while math.abs(last - now) > restBytes do
      Thread.sleep(200)
      System.gc()
      last = now
      now = jvm.totalMemory - jvm.freeMemory
    now

  private val warmUpFibers = 20_000
  private val shortestNanos = 2.seconds.toNanos
  private val longestNanos = 6.seconds.toNanos
  private val restBytes = 100_000

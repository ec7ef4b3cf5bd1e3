package weir.bench.child.sleepers

import java.util.SplittableRandom
import java.util.concurrent.{CountDownLatch, TimeUnit}
import scala.concurrent.duration.*

import weir.lab.{ChildOutput, Experiment}
import weir.program.Result

/** Measures the heap of a sleeping fiber, and how late a million of them wake.
  *
  *   - `memory`: the live heap with many fibers asleep, less the heap before, for each fiber;
  *   - `wake`: how late fibers wake that sleep for different times, from `shortestMillis` to
  *     `longestMillis`, at the 99th percentile.
  */
object Sleepers extends Experiment:
  def run(system: String, options: Experiment.Options, out: ChildOutput): Unit =
    val sleepers = SleepSystem.of(system)
    val fibers = options.int("fibers")
    options.text("part") match
      case "memory" =>
        val bytes = bytesEach(sleepers, fibers)
        out.result(Result(s"sleeping: $fibers", system, bytes, "bytes", Result.lower))
      case "wake" =>
        val woken = wakeAll(sleepers, fibers, options)
        val asleep = woken.asleep.toDouble
        out.result(Result.millis(s"late: $fibers", system, woken.lateMillis))
        out.result(Result(s"late: $fibers", system, asleep, "fibers", Result.lower))
      case other => throw IllegalArgumentException(s"sleepers has no part '$other'")

  private def bytesEach(system: SleepSystem, fibers: Int): Double =
    system.startAlike(warmUpFibers, 1.day.toNanos)(() => ())
    val before = liveHeap()
    system.startAlike(fibers, 1.day.toNanos)(() => ())
    (liveHeap() - before).toDouble / fibers

  /** @param lateNanos
    *   how late each fiber woke, sorted; for a fiber that is still asleep, how late it is so far
    * @param asleep
    *   the number of fibers that had not woken when the run was given up
    */
  private final class Woken(lateNanos: Array[Long], val asleep: Int):
    /** 99 of 100 fibers woke no later than that after they should have; or later, where some are
      * asleep.
      */
    def lateMillis: Double = lateNanos(((lateNanos.length - 1) * 99L / 100).toInt) / 1e6

  private def wakeAll(system: SleepSystem, fibers: Int, options: Experiment.Options): Woken =
    val seed = options.long("seed")
    val shortest = options.long("shortestMillis").millis
    val longest = options.long("longestMillis").millis
    def delays(count: Int, random: SplittableRandom): Array[Long] =
      Array.fill(count)(random.nextLong(shortest.toNanos, longest.toNanos))
    val fewer = math.min(fibers, warmUpFibers)
    wake(system, delays(fewer, SplittableRandom(seed))): Unit
    wake(system, delays(fibers, SplittableRandom(seed + 1)))

  private def wake(system: SleepSystem, delays: Array[Long]): Woken =
    val fibers = delays.length
    val start = System.nanoTime()
    val due = Array.fill(fibers)(start)
    val awake = CountDownLatch(fibers)
    val late = Array.fill(fibers)(notWoken)
    system.start(fibers) { i =>
      due(i) = System.nanoTime() + delays(i)
      delays(i)
    } { i =>
      late(i) = System.nanoTime() - due(i)
      awake.countDown()
    }
    awake.await(limitSeconds, TimeUnit.SECONDS): Unit
    val end = System.nanoTime()
    val all = late.clone() // some may still wake
    val early = all.find(nanos => nanos < 0 && nanos != notWoken)
    early.foreach(nanos => throw IllegalStateException(s"a fiber woke ${-nanos} ns too early"))
    val asleep = all.count(_ == notWoken)
    for i <- all.indices if all(i) == notWoken do all(i) = end - due(i)
    java.util.Arrays.sort(all)
    Woken(all, asleep)

  /** Returns the used heap without garbage, in bytes, once it has come to rest. */
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
  private val notWoken = Long.MinValue
  private val limitSeconds = 90L
  private val restBytes = 100_000

package weir

import java.util.SplittableRandom
import java.util.concurrent.atomic.AtomicLong
import scala.concurrent.duration.*

/** Primitives that are used inside of polls inside of masks, by fibers that are cancelled at random
  * moments.
  *
  * `-Dweir.stress.operations=10000000` sets the number of operations on each;
  * `-Dweir.stress.seed=N` takes a printed seed; `-Dweir.stress.only=Queue` runs those whose names
  * begin with that.
  */
class MaskedCancelStressSuite extends StreamTests:
  private val operations =
    java.lang.Long.getLong("weir.stress.operations", Tier(25_000L, 10_000_000L)).longValue
  private val seed = Tier.seed("weir.stress.seed")
  private val only = System.getProperty("weir.stress.only", "")

  // So long that only a test that hangs takes longer.
  override def limit: FiniteDuration = 60.seconds + (operations / 10).millis

  for make <- MaskedRigs.all; name = make().name if name.startsWith(s"masked $only") do
    test(s"$name, cancelled at random moments: what leaves a poll is kept"):
      println(s"MaskedCancelStressSuite: -Dweir.stress.seed=$seed")
      val rig = make()
      given WeirRuntime = smallRuntime()
      val (done, cancels, longest) = stress(rig)
      standstill()
      rig.finish()
      assertEquals(rig.allErrors, Nil, s"-Dweir.stress.seed=$seed")
      assert(cancels > 0, "nothing was cancelled")
      println(s"$name: $done operations, $cancels cancels, the longest life took $longest ms")

  /** Runs operations by the fibers of `rig`, each of which is cancelled now and then, and begins
    * again. Returns the number of operations, the number of cancels, and the largest number of
    * milliseconds from the start of a life to the end of its cancel.
    */
  private def stress(rig: PrimitiveRig)(using WeirRuntime): (Long, Long, Long) =
    val done, cancels, longestNanos = AtomicLong()
    def life(id: Int, random: SplittableRandom): Task[Unit] =
      val inner = random.split()
      val begun = System.nanoTime()
      Task
        .defer(rig.operation(id, inner))
        .flatMap { _ =>
          done.incrementAndGet()
          if inner.nextInt(16) == 0 then Task.cede else Task.unit // no operation ever waits
        }
        .forever
        .start
        .flatMap(fiber => MaskedRigs.letRun(random).andThen(fiber.cancel).andThen(fiber.join))
        .map {
          case Outcome.Failed(error) => rig.wrong(s"fiber $id failed with $error")
          case _ =>
            cancels.incrementAndGet(): Unit
            longestNanos.accumulateAndGet(System.nanoTime() - begun, math.max): Unit
        }
    Task
      .parForeachN(rig.fibers)(0 until rig.fibers) { id =>
        val random = SplittableRandom(seed + id * 31)
        def again: Task[Unit] = Task.defer(
          if done.get < operations then life(id, random).flatMap(_ => again) else Task.unit
        )
        again
      }
      .start
      .flatMap(_.joinOrFail)
      .runSync()
    (done.get, cancels.get, longestNanos.get / 1_000_000)

package weir

import java.util.SplittableRandom
import java.util.concurrent.atomic.AtomicLong
import scala.concurrent.duration.*

/** Fibers that sleep, start others and cancel them get their turn though all carriers have fibers
  * that never wait. Each cancel of one that runs interrupts its thread: see
  * `ExecutionThread.parkFor`.
  *
  * `-Dweir.stress.seconds=60` for a minute of it.
  */
class StarvationSuite extends StressTests:
  override val time: FiniteDuration =
    Integer.getInteger("weir.stress.seconds", Tier(2, 60)).intValue.seconds

  stress("no fiber waits for seconds beside fibers that never wait") { (seed, deadline) =>
    given WeirRuntime = smallRuntime()
    val rig = MaskedRigs.all(6)()
    val longest, lives = AtomicLong()
    def timed[A](phase: Task[A]): Task[A] = Task.defer {
      val begun = System.nanoTime()
      phase.map { result =>
        longest.accumulateAndGet(System.nanoTime() - begun, math.max): Unit
        result
      }
    }
    def life(id: Int, random: SplittableRandom): Task[Unit] =
      val inner = random.split()
      timed(Task.defer(rig.operation(id, inner)).forever.start)
        .flatMap(fiber => timed(MaskedRigs.letRun(random)).andThen(timed(fiber.cancel)))
        .map(_ => lives.incrementAndGet(): Unit)
    Task
      .parForeachN(rig.fibers)(0 until rig.fibers) { id =>
        val random = SplittableRandom(seed + id * 31)
        def again: Task[Unit] =
          Task.defer(
            if deadline.hasTimeLeft() then life(id, random).flatMap(_ => again) else Task.unit
          )
        again
      }
      .start
      .flatMap(_.joinOrFail)
      .runSync()
    standstill()
    val millis = longest.get / 1_000_000
    println(s"measured: the longest of ${lives.get} waits took $millis ms")
    assert(millis < 2000, s"a fiber has waited for $millis ms")
  }

package weir.runtime

import java.util.SplittableRandom
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import java.util.concurrent.locks.LockSupport
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.{Outcome, StressTests, Task, WeirRuntime}

/** Alarms that are set and removed from many shards at once: none is lost, none rings twice, and
  * none waits for another one. `-Dweir.stress.seconds=60` runs each test for a minute, and
  * `-Dweir.stress.seed=N` takes a printed seed back.
  */
class SystemTimersStressSuite extends StressTests:

  private final class Bell(val dueNanos: Long, onRing: () => Unit) extends Alarm:
    val rung, removed = AtomicInteger()
    def ring(): Unit =
      rung.incrementAndGet(): Unit
      onRing()

  private def bell(timers: Timers, random: SplittableRandom, most: FiniteDuration)(
      onRing: => Unit
  ): Bell =
    // some are due already
    val delay = random.nextLong(-most.toNanos / 8, most.toNanos)
    Bell(Alarm.due(timers, delay), () => onRing)

  for shards <- List(1, 2, 16) do
    stress(s"each alarm rings once or was removed, on $shards shards, while the thread ends often"):
      (seed, deadline) =>
        val timers = SystemTimers(keepAliveNanos = 100_000, shardCount = shards)
        val seeds = SplittableRandom(seed)
        while deadline.hasTimeLeft() do
          val bells = ConcurrentLinkedQueue[Bell]()
          val set = ConcurrentLinkedQueue[Bell]()
          together(List.fill(4)(seeds.nextLong()).map(seed => () => ringOrRemove(seed, bells, set)))
          def ringOrRemove(seed: Long, bells: java.util.Queue[Bell], set: java.util.Queue[Bell]) =
            val random = SplittableRandom(seed)
            for _ <- 1 to 200 do
              val added = bell(timers, random, 1.milli)(())
              bells.add(added): Unit
              timers.add(added, random.nextInt())
              if random.nextInt(3) > 0 then set.add(added): Unit
              if random.nextInt(3) == 0 then
                val other = set.poll()
                if other != null && timers.remove(other) then other.removed.incrementAndGet(): Unit
              if random.nextInt(50) == 0 then LockSupport.parkNanos(random.nextLong(400_000))
          eventually("all have rung, or were removed"):
            bells.asScala.forall(bell => bell.rung.get + bell.removed.get == 1)
          assertEquals(timers.size, 0)

    stress(s"an alarm that is due before all others rings in time, on $shards shards"):
      (seed, deadline) =>
        val timers = SystemTimers(shardCount = shards)
        val stop = AtomicBoolean()
        val seeds = SplittableRandom(seed)
        for shard <- 0 until shards do
          timers.add(Bell(Alarm.due(timers, 1.hour.toNanos), () => ()), shard)
        // Those keep the locks held, for which the timer's thread waits then, and wake it.
        def disturb(seed: Long): Unit =
          val random = SplittableRandom(seed)
          while !stop.get do
            val later = Bell(Alarm.due(timers, random.nextLong(1.second.toNanos)), () => ())
            timers.add(later, random.nextInt())
            timers.remove(later): Unit
        def ringOneByOne(seed: Long): Unit =
          val random = SplittableRandom(seed)
          while deadline.hasTimeLeft() do
            val rung = CountDownLatch(1)
            timers.add(bell(timers, random, 200.micros)(rung.countDown()), random.nextInt())
            await(rung)
        val disturbing =
          List.fill(2)(seeds.nextLong()).map(seed => Thread.startVirtualThread(() => disturb(seed)))
        try together(List.fill(3)(seeds.nextLong()).map(seed => () => ringOneByOne(seed)))
        finally
          stop.set(true)
          disturbing.foreach(_.join())
        eventually("all others have been removed, or have rung")(timers.size == shards)

  // One alarm at a time, so that no other one wakes the thread for it; without a latch, so that it
  // is set while the thread still looks, or is about to end.
  for keepAlive <- List(Duration.Zero, 20.micros, 1.hour) do
    stress(s"an alarm rings that is set at any moment of a thread that waits $keepAlive for it"):
      (seed, deadline) =>
        val timers = SystemTimers(keepAliveNanos = keepAlive.toNanos, shardCount = 2)
        val random = SplittableRandom(seed)
        while deadline.hasTimeLeft() do
          Pause.nanos(random.nextLong(if random.nextInt(4) == 0 then 60_000 else 2_000))
          val next = Bell(Alarm.due(timers, random.nextLong(-1000, 3000)), () => ())
          timers.add(next, random.nextInt())
          val set = System.nanoTime()
          while next.rung.get == 0 do
            if System.nanoTime() - set > 10_000_000_000L then
              fail("The alarm has not rung in 10 s.")
            Thread.onSpinWait()

  for carriers <- List(1, 2, 16) do
    stress(s"sleeps and timeouts that are cancelled at random end, on $carriers carriers"):
      (seed, deadline) =>
        val runtime = WeirRuntime.make(carriers, 64)
        given WeirRuntime = runtime
        val random = SplittableRandom(seed)
        while deadline.hasTimeLeft() do
          val outcomes =
            within(20.seconds)(Task.parTraverse(1 to 300)(_ => oneOf(random.split())).runSync())
          assertEquals(outcomes.count(_ == Outcome.Canceled) + outcomes.count(isExpected), 300)
          eventually("no alarm is left")(runtime.timers.size == 0)

  private def isExpected(outcome: Outcome[Any]): Boolean = outcome match
    case Outcome.Succeeded(_) => true
    case Outcome.Failed(_: java.util.concurrent.TimeoutException) => true
    case _ => false

  /** A fiber that sleeps, or has a time limit, or both, which another one cancels at some time. */
  private def oneOf(random: SplittableRandom): Task[Outcome[Any]] =
    def time() = random.nextLong(2_000_000).nanos
    val sleep = Task.sleep(time())
    val body = random.nextInt(4) match
      case 0 => sleep
      case 1 => sleep.timeout(time())
      case 2 => Task.never.timeout(time())
      case _ => sleep.andThen(Task.cede).timeout(1.hour)
    val cancels = random.nextBoolean()
    val after = time()
    body.start.flatMap { fiber =>
      if cancels then Task.sleep(after).andThen(fiber.cancel).andThen(fiber.join) else fiber.join
    }

package weir

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger
import scala.util.Random

/** Fibers that are cancelled at random points, while they wait for a key and while they hold it. */
class KeyedMutexStressSuite extends StressTests:
  stress("cancelled at random points, one at a time is inside of each key, and no key is left") {
    (seed, deadline) =>
      given Runtime = smallRuntime()
      val mutex = KeyedMutex.unsafe[Int]()
      val inside = ConcurrentHashMap[Int, AtomicInteger]()
      for key <- 1 to 3 do inside.put(key, AtomicInteger()): Unit
      val entered, cancels = AtomicInteger()
      def one(seeds: Random): Task[Unit] = Task.defer {
        val key = 1 + seeds.nextInt(3)
        val here = inside.get(key)
        val enter = Task {
          val now = here.incrementAndGet()
          assert(now == 1, s"$now at once")
          entered.incrementAndGet(): Unit
        }
        val leave = Task(here.decrementAndGet()).void
        val body = if seeds.nextBoolean() then Task.cede else Task.unit
        mutex.withLock(key)(
          Task.uncancelable(poll => enter.andThen(poll(body).onCancel(leave)).andThen(leave))
        )
      }
      together((1 to 4).map { i => () =>
        val task = one(Random(seed + i)).forever
        cancels.addAndGet(
          canceledAtRandom(deadline, Random(seed + 10 + i))(task)
        ): Unit
      })
      assertEquals(mutex.size.runSync(), 0)
      assert(cancels.get > 0 && entered.get > 0, s"$cancels cancels, $entered entered")
  }

package weir

import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.util.Random

/** Fibers that are cancelled at random points while they wait for permits. */
class RateLimiterStressSuite extends StressTests:
  stress(
    "cancelled at random points, no permit is given twice, none is lost, and nobody waits for ever"
  ) { (seed, deadline) =>
    given Runtime = smallRuntime()
    val perSecond = 50_000
    val limiter = RateLimiter.unsafe(perSecond, 1.second, burst = 5)
    val permits, cancels = AtomicInteger()
    def one(random: Random): Task[Unit] = Task.uncancelable { poll =>
      Task.defer {
        val count = 1 + random.nextInt(5)
        poll(limiter.acquireN(count)).map(_ => permits.addAndGet(count): Unit)
      }
    }
    val (_, took) = timed {
      together((1 to 4).map { i => () =>
        val task = one(Random(seed + i)).forever
        val all = canceledAtRandom(deadline, Random(seed + 10 + i), mostNanos = 200_000)(task)
        cancels.addAndGet(all): Unit
      })
    }
    standstill()
    val most = 6 + took.toNanos * perSecond / 1e9
    assert(permits.get <= most, s"${permits.get} permits in $took, at most $most")
    assert(cancels.get > 0 && permits.get > 0, s"$cancels cancels, $permits permits")
    Task.parForeach(8)(1 to 1000)(_ => limiter.acquire).runSync()
    limiter.acquireN(5).runSync()
  }

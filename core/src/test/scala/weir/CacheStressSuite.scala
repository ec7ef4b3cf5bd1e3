package weir

import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.util.Random

/** Callers that are cancelled at random points, loads that fail, and values that expire. */
class CacheStressSuite extends StressTests:

  /** What a load returns: whether another load of its key has begun meanwhile. */
  private final case class Loaded(key: Int, overtaken: Boolean)

  private def kinds(using Runtime) = List(
    "for ever" -> Cache.unsafe[Int, Loaded](),
    "for a moment" -> Cache.unsafe[Int, Loaded](expireAfter = 20.micros),
    "two" -> Cache.unsafe[Int, Loaded](maxSize = 2),
    "nothing" -> Cache.unsafe[Int, Loaded](expireAfter = Duration.Zero)
  )

  stress(
    "cancelled at random points, callers share one load of each key, and none is left behind"
  ) { (seed, _) =>
    given Runtime = smallRuntime()
    for (name, cache) <- kinds do
      val begun = Vector.fill(4)(AtomicInteger())
      val inside, got, cancels = AtomicInteger()

      def load(key: Int, random: Random): Task[Loaded] = Task.uncancelable { poll =>
        Task {
          inside.incrementAndGet(): Unit
          begun(key).incrementAndGet()
        }.flatMap { number =>
          val leave = Task(inside.decrementAndGet()).void
          val wait = if random.nextBoolean() then Task.cede else Task.sleep(10.micros)
          poll(wait).onCancel(leave).andThen(leave).andThen {
            if random.nextInt(4) == 0 then Task.fail(StressFibers.Expected())
            else Task(Loaded(key, overtaken = begun(key).get != number))
          }
        }
      }

      def one(random: Random): Task[Any] = Task.defer {
        val key = random.nextInt(4)
        cache.get(key)(load(key, random)).attempt.map {
          case Right(loaded) =>
            assertEquals(loaded, Loaded(key, overtaken = false), name)
            got.incrementAndGet(): Unit
          case Left(_: StressFibers.Expected) => ()
          case Left(other) => throw other
        }
      }
      val deadline = (time / 4).fromNow
      together((1 to 4).map { i => () =>
        val task = one(Random(seed + i)).forever
        cancels.addAndGet(canceledAtRandom(deadline, Random(seed + 10 + i))(task)): Unit
      })
      standstill()
      assertEquals(inside.get, 0, name)
      assert(cancels.get > 0 && got.get > 0, s"$name: $cancels cancels, $got got")
      if name == "two" then assert(cache.size.runSync() <= 2)
      for key <- 0 until 4 do
        val last = cache.get(key)(Task.pure(Loaded(key, overtaken = false)))
        assertEquals(last.runSync(), Loaded(key, overtaken = false), name)
  }

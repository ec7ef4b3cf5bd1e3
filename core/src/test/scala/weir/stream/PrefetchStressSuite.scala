package weir
package stream

import java.util.concurrent.atomic.AtomicInteger
import scala.util.Random

/** The hand-over of each form of prefetch under load, to its end, dropped half-way, and cancelled
  * at any moment.
  *
  * `-Dweir.stress.seconds=60` for so long, `-Dweir.stress.seed=` with the seed that a failure
  * prints.
  */
class PrefetchStressSuite extends StreamTests, StressTests:

  private val forms = List[(String, Stream[Int] => Stream[Int])](
    "prefetchStrict" -> (_.prefetchStrict),
    "prefetchN(1)" -> (_.prefetchN(1)),
    "prefetchN(3)" -> (_.prefetchN(3)),
    "prefetchBytes(10)" -> (_.prefetchBytes(10)(i => i % 23))
  )

  /** Runs `body` again and again. */
  private def rounds(name: String)(body: Random => Unit): Unit = stress(name) { (seed, deadline) =>
    val random = Random(seed)
    while deadline.hasTimeLeft() do body(random)
  }

  private def pause(kind: Int): Task[Unit] = kind match
    case 0 => Task.cede
    case 1 => Task(for _ <- 1 to 200 do Thread.onSpinWait())
    case 2 => Task(Thread.`yield`())
    case _ => Task.unit

  for (name, make) <- forms do
    rounds(s"$name: all elements in order, the source closed once after the last use") { random =>
      val n = 1 + random.nextInt(300)
      val upstream, downstream = random.nextInt(8)
      val stop = random.nextInt(2 * n)
      val inUse, released = AtomicInteger()
      val source = Stream
        .bracket(Task.unit)(_ => Task(assertEquals(released.incrementAndGet() + inUse.get, 1)))
        .flatMap(_ => Stream.emits(1 to n).evalTap(i => pause((i + upstream) % 8)))
      val used = make(source)
        .evalMap(i =>
          Task(inUse.set(1))
            .andThen(pause((i * 7 + downstream) % 8))
            .andThen(Task(inUse.set(0)))
            .as(i)
        )
      val expected = (1 to math.min(n, stop)).toList
      val taken = if random.nextBoolean() then used.take(stop) else used.takeWhile(_ <= stop)
      val result = taken.toList
      // On the caller's own thread, or on a worker.
      val list =
        if random.nextBoolean() then result.runSync()
        else result.start.flatMap(_.joinOrFail).runSync()
      assertEquals(list, expected)
      assert(released.get <= 1, s"released ${released.get} times")
      assert(released.get == 1 || stop == 0, "not released")
    }

    rounds(s"$name: cancelled at any moment, the producer is stopped, and then the source closed") {
      random =>
        val opened, closed, late = AtomicInteger()
        val source = Stream
          .bracket(Task(opened.incrementAndGet()))(_ => Task(closed.incrementAndGet()).void)
          .flatMap(_ => Stream.repeatEval(Task(late.addAndGet(closed.get))))
        val upstream, downstream = random.nextInt(8)
        val stream = make(source.evalTap(_ => pause(upstream))).evalTap(_ => pause(downstream))
        val fiber = stream.drain.start.runSync()
        val until = System.nanoTime() + random.nextInt(100_000)
        while System.nanoTime() < until do Thread.onSpinWait()
        fiber.cancel.runSync()
        assertEquals(fiber.join.runSync(), Outcome.Canceled)
        assertEquals((closed.get, late.get), (opened.get, 0))
    }

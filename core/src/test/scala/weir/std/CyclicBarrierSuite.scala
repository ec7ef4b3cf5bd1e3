package weir.std

import java.util.concurrent.atomic.AtomicInteger
import weir.{Outcome, StreamTests, Task, WeirRuntime}

class CyclicBarrierSuite extends StreamTests:

  for parties <- List(1, 2, 100) do
    test(s"no fiber passes before $parties have come, and then all do, again and again"):
      val barrier = CyclicBarrier(parties).runSync()
      val arrived = AtomicInteger()
      val rounds = 50
      def each: Task[Unit] = Task.foreach(1 to rounds) { round =>
        Task(arrived.incrementAndGet()).andThen(barrier.await).map { _ =>
          val now = arrived.get
          assert(now >= round * parties, s"passed in round $round, when $now had come")
        }
      }
      Task.parForeachN(parties)(1 to parties)(_ => each).runSync()
      assertEquals(arrived.get, rounds * parties)
      assertEquals(barrier.missing.runSync(), parties)

  test("one that is cancelled while it waits has not come"):
    given WeirRuntime = smallRuntime()
    val barrier = CyclicBarrier.unsafe(3)
    val first = parked(barrier.await)
    val second = parked(barrier.await)
    assertEquals(barrier.missing.runSync(), 1)
    first.cancel.runSync()
    assertEquals(barrier.missing.runSync(), 2)
    assertEquals(barrier.awaitedAs, "CyclicBarrier(3), for which 2 fibers are missing")
    val third = parked(barrier.await)
    assert(!ended(second) && !ended(third))
    barrier.await.runSync()
    second.joinOrFail.runSync()
    third.joinOrFail.runSync()
    assertEquals(barrier.missing.runSync(), 3)

  test("cancelled before it begins, await has not come"):
    val barrier = CyclicBarrier.unsafe(2)
    val fiber = Task.uncancelable(poll => Task.canceled.andThen(poll(barrier.await))).start
    assertEquals(fiber.flatMap(_.join).runSync(), Outcome.Canceled)
    assertEquals(barrier.missing.runSync(), 2)

  test("fewer than one party is refused with its value and the rule"):
    for n <- List(0, -1) do
      val error = intercept[IllegalArgumentException](CyclicBarrier(n).runSync())
      assert(error.getMessage.contains(s"was $n. It must be at least 1."), error.getMessage)

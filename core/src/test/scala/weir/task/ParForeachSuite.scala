package weir
package task

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import scala.collection.View

class ParForeachSuite extends ParallelTests:

  def run(parallelism: Int, items: Iterable[Int])(f: Int => Task[Int]): Task[Any] =
    Task.parForeachN(parallelism)(items)(f)

  test("a million items are taken one by one, not ahead of the children"):
    for n <- List(1, 8) do
      val taken, ended, ahead = AtomicInteger()
      val items = View.fromIteratorProvider(() =>
        Iterator.range(0, 1_000_000).map { i =>
          val open = taken.incrementAndGet() - ended.get
          ahead.accumulateAndGet(open, math.max): Unit
          i
        }
      )
      Task.parForeachN(n)(items)(_ => Task(ended.incrementAndGet())).runSync()
      assertEquals((taken.get, ended.get), (1_000_000, 1_000_000))
      assert(ahead.get <= n + 1, s"${ahead.get} items were taken and not ended")

  test("an endless iterator is fine, until a child fails or the whole is cancelled"):
    val runs = AtomicInteger()
    val endless = View.fromIteratorProvider(() => Iterator.from(1))
    val failing = Task.parForeachN(4)(endless)(i =>
      Task(runs.incrementAndGet()).andThen(if i == 1000 then Task.fail(Boom()) else Task.cede)
    )
    intercept[Boom](failing.runSync())
    // Up to four were running, and a carrier that the system has put aside lets the others run on
    // for a while.
    assert(runs.get > 990, s"${runs.get} runs")
    val reached = CountDownLatch(1000)
    val fiber = Task.parForeachN(4)(endless)(_ => Task(reached.countDown())).start.runSync()
    await(reached)
    fiber.cancel.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("the iterator is never asked by two fibers at once"):
    val gauge = Gauge()
    val items = View.fromIteratorProvider(() =>
      Iterator.range(0, 100_000).map { i =>
        gauge.enter(): Unit
        gauge.leave()
        i
      }
    )
    Task.parForeachN(16)(items)(i => if i % 5 == 0 then Task.cede else Task.unit).runSync()
    assertEquals(gauge.peak, 1)

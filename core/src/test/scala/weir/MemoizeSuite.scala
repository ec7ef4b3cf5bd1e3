package weir

import java.util.concurrent.atomic.AtomicInteger

/** `memoize`: one run for all who ask. */
class MemoizeSuite extends WeirSuite:

  private final class Counted(result: Int => Task[Int]):
    val runs: AtomicInteger = AtomicInteger()
    val memoized: Task[Int] = Task.defer(result(runs.incrementAndGet())).memoize.runSync()

  test("the task runs once, when the first asks, and all get its value"):
    val counted = Counted(Task.pure)
    assertEquals(counted.runs.get, 0)
    assertEquals(
      Task.parTraverse(List.fill(100)(()))(_ => counted.memoized).runSync().toSet,
      Set(1)
    )
    assertEquals(counted.memoized.runSync(), 1)
    assertEquals(counted.runs.get, 1)

  test("its error is kept as well"):
    val boom = Boom()
    val counted = Counted(_ => Task.fail(boom))
    for _ <- 1 to 3 do assertEquals(intercept[Boom](counted.memoized.runSync(): Unit), boom)
    assertEquals(counted.runs.get, 1)

  test("each use of the outer task is a memory of its own"):
    val runs = AtomicInteger()
    val outer = Task(runs.incrementAndGet()).memoize
    val (a, b) = (outer.runSync(), outer.runSync())
    assertEquals((a.runSync(), a.runSync(), b.runSync()), (1, 1, 2))

  test("a cancel of one who waits harms nobody"):
    val gate = Deferred.unsafe[Unit]
    val counted = Counted(n => gate.get.as(n))
    val fibers = List.fill(3)(counted.memoized.start.runSync())
    eventually("it runs")(counted.runs.get == 1)
    fibers.head.cancel.runSync()
    assertEquals(fibers.head.join.runSync(), Outcome.Canceled)
    gate.complete(()).runSync(): Unit
    assertEquals(fibers.tail.map(_.joinOrFail.runSync()), List(1, 1))
    assertEquals(counted.runs.get, 1)

  test(
    "the cancel of the last who waits cancels it, finalizers included, and the next runs it anew"
  ):
    val cleaned = AtomicInteger()
    val counted = Counted(n =>
      if n == 1 then Task.never.onCancel(Task(cleaned.incrementAndGet()).void) else Task.pure(n)
    )
    val fibers = List.fill(2)(counted.memoized.start.runSync())
    eventually("it runs")(counted.runs.get == 1)
    fibers.foreach(_.cancel.runSync())
    assertEquals(cleaned.get, 1)
    assertEquals(counted.memoized.runSync(), 2)
    assertEquals(counted.memoized.runSync(), 2)

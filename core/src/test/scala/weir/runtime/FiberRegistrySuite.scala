package weir.runtime

import weir.*
import weir.fiber.TaskFiber

/** Which fibers the registry lists. */
class FiberRegistrySuite extends WeirSuite:
  private def fiber(): TaskFiber = TaskFiber(WeirRuntime.default, Task.unit)

  test("fibers are listed from add to remove, whatever the order in which they are removed"):
    val registry = FiberRegistry(4)
    val fibers = Vector.fill(1000)(fiber())
    val entries = fibers.zipWithIndex.map((fiber, i) => registry.add(fiber, i % 7))
    assertEquals(registry.fibers.toSet, fibers.toSet)
    val (removed, staying) = scala.util.Random(1).shuffle((0 until 1000).toVector).splitAt(700)
    removed.foreach(i => registry.remove(entries(i)))
    assertEquals(registry.fibers.toSet, staying.map(fibers).toSet)
    staying.foreach(i => registry.remove(entries(i)))
    assertEquals(registry.size, 0)

  test("entries of fibers that were collected are used again"):
    val registry = FiberRegistry(4)
    val kept = Vector.fill(20)(fiber())
    kept.foreach(registry.add(_, 0))
    eventually("a sweep has found room") {
      for _ <- 1 to 100_000 do registry.add(fiber(), 0): Unit
      System.gc()
      for _ <- 1 to 100_000 do registry.add(fiber(), 0): Unit
      registry.size < 150_000
    }
    assertEquals(registry.fibers.filter(kept.contains).toSet, kept.toSet)

  test("a fiber that the registry has no memory for waits, and gets the value that it waits for"):
    val refused = java.util.concurrent.atomic.AtomicInteger()
    val full = new FiberRegistry(2):
      override def add(registered: Registered, preferredShard: Int): FiberRegistry.Entry =
        refused.incrementAndGet(): Unit
        throw OutOfMemoryError("a test's own")
    val scheduler = new Scheduler(2, 16):
      override val fiberRegistry: FiberRegistry = full
    given WeirRuntime = WeirRuntime(scheduler, SystemTimers(), null)
    val queue = Queue.unsafe[Int](1)
    val taking = queue.take.start.runSync()
    eventually("it waits")(refused.get == 1)
    queue.offer(1).runSync(): Unit
    assertEquals(taking.join.runSync(), Outcome.Succeeded(1))

  test("a fiber is added at its first wait that only user code can end, and removed when it ends"):
    val runtime = WeirRuntime.make(2, 64)
    val registry = runtime.scheduler.fiberRegistry
    val gate = Deferred.unsafe[Unit]
    val waiting = gate.get.andThen(Task.cede).andThen(gate.get).start.runSync()(using runtime)
    eventually("it is there")(registry.fibers.contains(waiting))
    assertEquals(registry.size, 1)
    gate.complete(()).runSync(): Unit
    waiting.join.runSync()(using runtime): Unit
    eventually("it is gone")(registry.size == 0)

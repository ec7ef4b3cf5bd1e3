package weir

import java.util.concurrent.ConcurrentLinkedQueue
import scala.jdk.CollectionConverters.*
import weir.fiber.{CallbackJoin, FiberCore}
import weir.task.RunAsync

/** The methods of a fiber's handle. */
class FiberSuite extends WeirSuite:

  test("poll is how the fiber ended, and does not wait for that"):
    val go = Deferred.unsafe[Int]
    val fiber = go.get.start.runSync()
    assertEquals(fiber.poll.runSync(), None)
    go.complete(7).runSync(): Unit
    fiber.join.runSync(): Unit
    assertEquals(fiber.poll.runSync(), Some(Outcome.Succeeded(7)))

  test("all who join a fiber get its outcome"):
    val go = Deferred.unsafe[Int]
    val fiber = go.get.start.runSync()
    val joiners = List.fill(3)(fiber.join.start.runSync())
    eventually("they wait")(joiners.forall(isWaiting))
    go.complete(7).runSync(): Unit
    assertEquals(joiners.map(_.joinOrFail.runSync()), List.fill(3)(Outcome.Succeeded(7)))

  test("the callback of a runAsync is called once, whether others join its fiber or not"):
    val runtime = summon[WeirRuntime]
    for joins <- 0 to 2 do
      val go = Deferred.unsafe[Int]
      val told = ConcurrentLinkedQueue[Outcome[Int]]()
      val fiber = RunAsync.newFiber(go.get, told.add(_): Unit, runtime)
      runtime.scheduler.submit(fiber)
      val joiners = List.fill(joins)(fiber.join.start.runSync())
      eventually("they wait")(joiners.forall(isWaiting))
      go.complete(7).runSync(): Unit
      assertEquals(joiners.map(_.joinOrFail.runSync()), List.fill(joins)(Outcome.Succeeded(7)))
      eventually("the callback has been called")(told.size > 0)
      assertEquals(told.asScala.toList, List(Outcome.Succeeded(7)))

  test("who joins as the fiber ends gets its outcome"):
    val go = Deferred.unsafe[Int]
    val fiber = go.get.start.runSync()
    val first = fiber.join.start.runSync()
    eventually("it waits")(isWaiting(first))
    val core = fiber.asInstanceOf[FiberCore]
    var tries = 0
    val registered = core.register { (list, lock) =>
      tries += 1
      go.complete(7).runSync(): Unit
      eventually("the fiber has ended")(core.outcome ne null)
      first.join.runSync(): Unit
      CallbackJoin(_ => (), core.runtime, list, lock)
    }
    assertEquals((registered, tries), (Outcome.Succeeded(7), 1))

  test("poll of a fiber that failed or was cancelled"):
    val boom = Boom()
    val failed = Task.fail(boom).start.runSync()
    failed.join.runSync(): Unit
    assertEquals(failed.poll.runSync(), Some(Outcome.Failed(boom)))
    val cancelled = Task.never.start.runSync()
    cancelled.cancel.runSync()
    assertEquals(cancelled.poll.runSync(), Some(Outcome.Canceled))

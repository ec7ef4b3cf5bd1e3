package weir

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import scala.util.Random

class DeferredSuite extends StreamTests:

  test("get gives the value, before and after it is set, and tryGet tells whether it is"):
    given WeirRuntime = smallRuntime()
    val deferred = Deferred[Int].runSync()
    assertEquals(deferred.tryGet.runSync(), None)
    val waiting = parked(deferred.get)
    assert(deferred.complete(1).runSync())
    assertEquals(waiting.joinOrFail.runSync(), 1)
    assertEquals(deferred.get.runSync(), 1)
    assertEquals(deferred.tryGet.runSync(), Some(1))

  test("null and unit are values too"):
    val nothing = Deferred.unsafe[String | Null]
    assert(nothing.complete(null).runSync())
    assertEquals(nothing.tryGet.runSync(), Some(null))
    assertEquals(nothing.get.runSync(), null)

  test("the first complete counts, of any number at once"):
    for _ <- 1 to 100 do
      val deferred = Deferred.unsafe[Int]
      val set = Task.parTraverse(1 to 8)(i => Task.cede.andThen(deferred.complete(i))).runSync()
      assertEquals(set.count(identity), 1)
      assertEquals(deferred.get.runSync(), set.indexOf(true) + 1)

  for n <- List(1, 2, 100_000) do
    test(s"complete wakes all of $n fibers that wait"):
      given WeirRuntime = smallRuntime()
      val deferred = Deferred.unsafe[Int]
      val fibers = List.fill(n)(deferred.get.start.runSync())
      standstill()
      assert(deferred.complete(7).runSync())
      assertEquals(Task.traverse(fibers)(_.joinOrFail).runSync().count(_ == 7), n)

  test("a thread that is no fiber may wait too"):
    val deferred = Deferred.unsafe[Int]
    val thread = Thread.ofPlatform().start(() => deferred.complete(1).runSync(): Unit)
    assertEquals(deferred.get.runSync(), 1)
    thread.join()

  test("a get cancelled while waiting stops, and the others go on waiting"):
    given WeirRuntime = smallRuntime()
    val deferred = Deferred.unsafe[Int]
    val fibers = List.fill(5)(parked(deferred.get))
    for i <- List(0, 2, 4) do
      fibers(i).cancel.runSync()
      assertEquals(fibers(i).join.runSync(), Outcome.Canceled)
    assert(deferred.complete(1).runSync())
    assertEquals(List(1, 3).map(fibers(_).joinOrFail.runSync()), List(1, 1))

  test("cancelled before it begins, get does not wait, and complete does not set"):
    val deferred = Deferred.unsafe[Int]
    for task <- List[Task[Any]](deferred.get, deferred.complete(1)) do
      val fiber = Task.uncancelable(poll => Task.canceled.andThen(poll(task))).start
      assertEquals(fiber.flatMap(_.join).runSync(), Outcome.Canceled)
    assertEquals(deferred.tryGet.runSync(), None)

  test("a masked get goes on through a cancel, until the value comes"):
    given WeirRuntime = smallRuntime()
    val deferred = Deferred.unsafe[Int]
    val got = AtomicInteger()
    val fiber = parked(Task.uncancelable(_ => deferred.get.map(got.set)))
    val cancel = parked(fiber.cancel)
    assertEquals(got.get, 0)
    deferred.complete(3).runSync(): Unit
    cancel.joinOrFail.runSync()
    assertEquals(got.get, 3)

  test("a cancel that meets complete ends in one of the two, and never hangs"):
    val random = Random(11)
    for _ <- 1 to Tier(500, 2000) do
      val deferred = Deferred.unsafe[Int]
      val fiber = deferred.get.start.runSync()
      val go = CountDownLatch(1)
      val cancel = Task(go.await()).andThen(fiber.cancel).start.runSync()
      go.countDown()
      val until = System.nanoTime() + random.nextInt(20_000)
      while System.nanoTime() < until do Thread.onSpinWait()
      assert(deferred.complete(1).runSync())
      cancel.joinOrFail.runSync()
      fiber.join.runSync() match
        case Outcome.Succeeded(1) | Outcome.Canceled => ()
        case other => fail(s"ended with $other")

  /** Twice twenty to fifty rounds of a thousand fibers that wait in `task` and are cancelled. */
  private def assertNoLeak(task: Task[Any]): Unit =
    given WeirRuntime = smallRuntime()
    def round() =
      val fibers = List.fill(1000)(task.start.runSync())
      standstill()
      Task.foreach(fibers)(_.cancel).runSync()
    val grown = growth(for _ <- 1 to Tier(20, 50) do round())
    assert(grown < megabyte / 2, s"grew by $grown bytes")

  test("a hundred thousand cancelled gets leave nothing behind"):
    val deferred = Deferred.unsafe[Int]
    assertNoLeak(deferred.get)
    assert(deferred.complete(1).runSync())

  test("a hundred thousand cancelled joins leave nothing behind"):
    val fiber = Task.never.start.runSync()
    assertNoLeak(fiber.join)
    fiber.cancel.runSync()

  test("very many lost races for one value leave nothing behind"):
    val deferred = Deferred.unsafe[Int]
    val race = Task.race(deferred.get, Task.cede)
    val grown = growth(for _ <- 1 to Tier(15_000, 50_000) do race.runSync())
    assert(grown < megabyte, s"grew by $grown bytes")
    assert(deferred.complete(1).runSync())

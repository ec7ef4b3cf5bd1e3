package weir.std

import java.lang.ref.WeakReference
import java.time.Instant
import java.util.concurrent.CancellationException
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}
import scala.concurrent.duration.*
import weir.runtime.{Alarm, Scheduler, SystemTimers, Timers}
import weir.{
  Deferred,
  Fiber,
  HandTimers,
  Outcome,
  RefusingScheduler,
  StreamTests,
  Task,
  Tier,
  WeirRuntime
}

class CacheSuite extends StreamTests:

  /** Loads that wait until `finish`, with the numbers of those that have begun and that were
    * cancelled.
    */
  private final class Loads:
    val begun, canceled = AtomicInteger()
    val go: Deferred[Unit] = Deferred.unsafe[Unit]

    /** The number of the load. */
    val waiting: Task[Int] = Task(begun.incrementAndGet()).flatMap(number =>
      go.get.as(number).onCancel(Task(canceled.incrementAndGet()).void)
    )
    val ready: Task[Int] = Task(begun.incrementAndGet())
    def finish(): Unit = go.complete(()).runSync(): Unit

  test("the first get loads, the next ones have the value"):
    val cache = Cache[String, Int]().runSync()
    val loads = Loads()
    assertEquals(cache.getIfPresent("a").runSync(), None)
    for _ <- 1 to 3 do assertEquals(cache.get("a")(loads.ready).runSync(), 1)
    assertEquals(cache.getIfPresent("a").runSync(), Some(1))
    assertEquals(cache.get("b")(loads.ready).runSync(), 2)
    assertEquals((loads.begun.get, cache.size.runSync()), (2, 2))

  test("null is a value too"):
    val cache = Cache.unsafe[Int, String | Null]()
    assertEquals(cache.get(1)(Task.pure(null)).runSync(), null)
    assertEquals(cache.get(1)(Task.pure("no")).runSync(), null)
    assertEquals(cache.getIfPresent(1).runSync(), Some(null))

  for callers <- List(1, 2, 1000) do
    test(s"$callers callers at once share one load"):
      given WeirRuntime = smallRuntime()
      val cache = Cache.unsafe[String, Int]()
      val loads = Loads()
      val fibers = List.fill(callers)(cache.get("a")(loads.waiting).start.runSync())
      standstill()
      assertEquals(loads.begun.get, 1)
      assertEquals(cache.getIfPresent("a").runSync(), None)
      loads.finish()
      assertEquals(fibers.map(_.joinOrFail.runSync()), List.fill(callers)(1))

  test("loads of different keys run at once"):
    val cache = Cache.unsafe[Int, Int]()
    val crowd = Crowd(50)
    val all = Task.parTraverse(1 to 50)(i => cache.get(i)(crowd.meet(false).as(i)))
    assertEquals(all.runSync(), (1 to 50))

  test("a failed load fails all who wait for it, and is not kept"):
    given WeirRuntime = smallRuntime()
    val cache = Cache.unsafe[String, Int]()
    val loads = Loads()
    val boom = Boom()
    val failing = loads.waiting.andThen(Task.fail(boom))
    val fibers = List.fill(3)(parked(cache.get("a")(failing)))
    loads.finish()
    for fiber <- fibers do assertEquals(fiber.join.runSync(), Outcome.Failed(boom))
    assertEquals(cache.size.runSync(), 0)
    assertEquals(cache.get("a")(loads.ready).runSync(), 2)

  test("a cancelled caller leaves the load to the others"):
    given WeirRuntime = smallRuntime()
    val cache = Cache.unsafe[String, Int]()
    val loads = Loads()
    val fibers = List.fill(3)(parked(cache.get("a")(loads.waiting)))
    for fiber <- fibers.take(2) do
      fiber.cancel.runSync()
      assertEquals(fiber.join.runSync(), Outcome.Canceled)
    assertEquals(loads.canceled.get, 0)
    loads.finish()
    assertEquals(fibers.last.joinOrFail.runSync(), 1)
    assertEquals(cache.getIfPresent("a").runSync(), Some(1))

  for callers <- List(1, 2, 3) do
    test(
      s"the last of $callers callers to be cancelled cancels the load, and waits for its finalizers"
    ):
      given WeirRuntime = smallRuntime()
      val cache = Cache.unsafe[String, Int]()
      val finish = Deferred.unsafe[Unit]
      val load = Task.never.onCancel(finish.get)
      val fibers = List.fill(callers)(parked(cache.get("a")(load)))
      for fiber <- fibers.init do fiber.cancel.runSync()
      val cancel = canceling(fibers.last)
      standstill()
      assertEquals(cancel.asInstanceOf[weir.fiber.FiberCore].outcome, null)
      // Nobody joins the load that is being cancelled.
      assertEquals(cache.get("a")(Task.pure(7)).runSync(), 7)
      finish.complete(()).runSync(): Unit
      cancel.joinOrFail.runSync()
      assertEquals(fibers.last.join.runSync(), Outcome.Canceled)
      assertEquals(cache.getIfPresent("a").runSync(), Some(7))

  test("cancelled before it begins, get loads nothing"):
    val cache = Cache.unsafe[String, Int]()
    val loads = Loads()
    val get = cache.get("a")(loads.ready)
    val fiber = Task.uncancelable(poll => Task.canceled.andThen(poll(get))).start
    assertEquals(fiber.flatMap(_.join).runSync(), Outcome.Canceled)
    assertEquals((loads.begun.get, cache.size.runSync()), (0, 0))

  test("a masked caller keeps its load through a cancel"):
    given WeirRuntime = smallRuntime()
    val cache = Cache.unsafe[String, Int]()
    val loads = Loads()
    val fiber = parked(Task.uncancelable(_ => cache.get("a")(loads.waiting)))
    val cancel = parked(fiber.cancel)
    assertEquals(loads.canceled.get, 0)
    loads.finish()
    cancel.joinOrFail.runSync()
    assertEquals(cache.getIfPresent("a").runSync(), Some(1))

  test("a load that cancels itself fails its callers, and is not kept"):
    val cache = Cache.unsafe[String, Int]()
    val error = intercept[CancellationException](
      cache.get("a")(Task.canceled.andThen(Task.never)).runSync()
    )
    assert(error.getMessage.contains("the load of the key a has cancelled itself"))
    assertEquals(cache.get("a")(Task.pure(1)).runSync(), 1)

  test("invalidate lets go of a value, and of no other"):
    val cache = Cache.unsafe[Int, Int](maxSize = 10)
    for i <- 1 to 3 do cache.get(i)(Task.pure(i)).runSync(): Unit
    cache.invalidate(2).runSync()
    assertEquals(List(1, 2, 3).map(cache.getIfPresent(_).runSync()), List(Some(1), None, Some(3)))
    cache.invalidateAll.runSync()
    assertEquals(List(1, 2, 3).flatMap(cache.getIfPresent(_).runSync()), Nil)
    assertEquals(cache.size.runSync(), 0)

  test("a load that is invalidated reaches those who wait for it, and the next caller loads again"):
    given WeirRuntime = smallRuntime()
    for all <- List(false, true) do
      val cache = Cache.unsafe[String, Int]()
      val loads = Loads()
      val first = parked(cache.get("a")(loads.waiting))
      (if all then cache.invalidateAll else cache.invalidate("a")).runSync()
      assertEquals(cache.get("a")(loads.ready).runSync(), 2)
      loads.finish()
      assertEquals(first.joinOrFail.runSync(), 1)
      assertEquals(cache.getIfPresent("a").runSync(), Some(2))

  test("an invalidated load whose callers are cancelled takes no newer value with it"):
    given WeirRuntime = smallRuntime()
    val cache = Cache.unsafe[String, Int]()
    val loads = Loads()
    val first = parked(cache.get("a")(loads.waiting))
    cache.invalidate("a").runSync()
    assertEquals(cache.get("a")(Task.pure(5)).runSync(), 5)
    first.cancel.runSync()
    assertEquals(loads.canceled.get, 1)
    assertEquals(cache.getIfPresent("a").runSync(), Some(5))

  test("a value is kept for its time from the end of its load, and then loaded again"):
    val clock = HandTimers(this)
    import clock.given
    val cache = Cache.unsafe[String, Int](expireAfter = 10.seconds)
    val loads = Loads()
    val first = cache.get("a")(loads.waiting).start.runSync()
    clock.still()
    clock.pass(1.minute)
    loads.finish()
    assertEquals(first.joinOrFail.runSync(), 1)
    clock.pass(10.seconds - 1.nano)
    assertEquals(cache.get("a")(loads.ready).runSync(), 1)
    clock.pass(1.nano)
    assertEquals(cache.getIfPresent("a").runSync(), None)
    assertEquals(cache.get("a")(loads.ready).runSync(), 2)
    clock.pass(10.seconds - 1.nano)
    assertEquals(cache.getIfPresent("a").runSync(), Some(2))

  test("values whose time is over are let go when another one is loaded"):
    val clock = HandTimers(this)
    import clock.given
    val cache = Cache.unsafe[Int, Int](expireAfter = 10.seconds)
    for i <- 1 to 100 do
      cache.get(i)(Task.pure(i)).runSync(): Unit
      clock.pass(1.second)
    assertEquals(cache.size.runSync(), 9)

  test("with no time at all a value is not kept, and loads at once are shared"):
    given WeirRuntime = smallRuntime()
    val cache = Cache.unsafe[String, Int](expireAfter = Duration.Zero)
    val loads = Loads()
    val fibers = List.fill(3)(parked(cache.get("a")(loads.waiting)))
    loads.finish()
    assertEquals(fibers.map(_.joinOrFail.runSync()), List(1, 1, 1))
    assertEquals(cache.get("a")(loads.ready).runSync(), 2)
    assertEquals(cache.size.runSync(), 0)

  for maxSize <- List(1, 2, 3, 100) do
    test(s"of more than $maxSize values, those go that were not used for longest"):
      val cache = Cache.unsafe[Int, Int](maxSize = maxSize)
      val random = scala.util.Random(maxSize)
      var model = List.empty[Int] // the last used first
      for _ <- 1 to 5000 do
        val key = random.nextInt(maxSize * 2)
        random.nextInt(10) match
          case 0 =>
            cache.invalidate(key).runSync()
            model = model.filter(_ != key)
          case 1 =>
            val present = cache.getIfPresent(key).runSync().isDefined
            assertEquals(present, model.contains(key))
            if present then model = key :: model.filter(_ != key)
          case _ =>
            var loaded = false
            cache.get(key)(Task { loaded = true; key }).runSync(): Unit
            assertEquals(loaded, !model.contains(key))
            model = (key :: model.filter(_ != key)).take(maxSize)
      assertEquals(cache.size.runSync(), model.size)

  test("settings that make no sense are refused with the rule"):
    for make <- List(
        () => Cache.unsafe[Int, Int](expireAfter = -1.second),
        () => Cache.unsafe[Int, Int](maxSize = 0)
      )
    do
      val error = intercept[IllegalArgumentException](make())
      assert(error.getMessage.contains("They must be at least 0 and 1"), error.getMessage)

  test("a fiber that waits names the key, and the fiber that loads"):
    given WeirRuntime = smallRuntime()
    val cache = Cache.unsafe[String, Int]()
    val loads = Loads()
    val fiber = parked(cache.get("a")(loads.waiting))
    val awaited = weir.fiber.Waits.of(fiber)
    assertEquals(awaited.awaitedAs, "Cache.get, for the load of the key a")
    assertEquals(awaited.holders.size, 1)
    loads.finish()
    fiber.joinOrFail.runSync(): Unit

  test("tens of thousands of keys, and thousands of cancelled callers, leave nothing behind"):
    given WeirRuntime = smallRuntime()
    val bounded = Cache.unsafe[Long, Long](maxSize = 100)
    val key = AtomicLong()
    val load = Task.defer {
      val next = key.incrementAndGet()
      bounded.get(next)(Task.pure(next))
    }
    val waiting = Cache.unsafe[Long, Long]()
    def cancelAll() =
      val fibers = (1 to 1000).map(i => waiting.get(i.toLong)(Task.never).start.runSync())
      eventually("all load")(summon[WeirRuntime].isQuiet)
      Task.parForeachN(8)(fibers)(_.cancel).runSync()
    val grown = growth {
      Task.foreach(1 to Tier(40_000, 100_000))(_ => load).runSync()
      for _ <- 1 to 5 do cancelAll()
    }
    assert(grown < megabyte, s"grew by $grown bytes")
    assertEquals((bounded.size.runSync(), waiting.size.runSync()), (100, 0))

  test("a value whose time is over before its load has ended is not held"):
    val clock = HandTimers(this)
    // each look at the clock takes a second
    val slow = new Timers:
      def nanoTime: Long =
        clock.pass(1.second)
        clock.nanoTime
      def realTime: Instant = clock.realTime
      def add(alarm: Alarm): Unit = clock.add(alarm)
      def remove(alarm: Alarm): Boolean = clock.remove(alarm)
      def size: Int = clock.size
    given WeirRuntime = WeirRuntime(Scheduler(2, 4), slow, null)
    val cache = Cache.unsafe[String, AnyRef](expireAfter = 1.nano, maxSize = 10)
    val value = WeakReference(cache.get("a")(Task(Object())).runSync())
    assertEquals(cache.size.runSync(), 0)
    eventually("the value is let go"):
      System.gc()
      value.get eq null

  test("a caller that is cancelled while its load ends leaves the value that was loaded"):
    for _ <- 1 to 20 do
      val caller = Deferred.unsafe[Fiber[Int]]
      // The end of the load calls the key's `hashCode`, and the caller is cancelled then.
      final class Key:
        @volatile var isLoaded = false
        override def hashCode: Int =
          if isLoaded then
            isLoaded = false
            startCancel(caller.get.runSync()): Unit
          1
      val cache = Cache.unsafe[Key, Int]()
      val key = Key()
      val fiber = cache.get(key)(caller.get >> Task { key.isLoaded = true; 7 }).start.runSync()
      eventually("the caller waits")(isWaiting(fiber))
      caller.complete(fiber).runSync(): Unit
      fiber.join.runSync(): Unit
      assertEquals(cache.getIfPresent(key).runSync(), Some(7))

  test("where the load gets no fiber, the caller fails, and the next one loads"):
    val scheduler = RefusingScheduler()
    given WeirRuntime = WeirRuntime(scheduler, SystemTimers(), null)
    val cache = Cache.unsafe[String, Int]()
    val refused = Task { scheduler.refuseAfter(0) } >> cache.get("a")(Task.pure(1))
    intercept[RefusingScheduler.Refused](refused.runSync()): Unit
    assertEquals(cache.get("a")(Task.pure(2)).runSync(), 2)

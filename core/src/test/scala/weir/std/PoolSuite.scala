package weir.std

import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.{Deferred, Outcome, Resource, Task, WeirSuite}

/** `Pool`: resources that are used again. */
class PoolSuite extends WeirSuite:

  /** A resource that counts how often it was made, how many are open, and the largest number that
    * were open.
    */
  private final class Made:
    val made: AtomicInteger = AtomicInteger()
    val open: AtomicInteger = AtomicInteger()
    val mostOpen: AtomicInteger = AtomicInteger()
    val resource: Resource[Int] = Resource.make(Task {
      mostOpen.accumulateAndGet(open.incrementAndGet(), math.max(_, _)): Unit
      made.incrementAndGet()
    })(_ => Task(open.decrementAndGet(): Unit))

  test("one that has been given back is used again, the last one first"):
    val made = Made()
    Pool(made.resource, maxSize = 3)
      .use { pool =>
        for
          first <- pool.use(Task.pure)
          again <- pool.use(Task.pure)
          both <- pool.resource.flatMap(a => pool.resource.map(b => (a, b))).use(Task.pure)
          idle <- pool.idle
        yield assertEquals((first, again, both, idle), (1, 1, (1, 2), 2))
      }
      .runSync()
    assertEquals((made.made.get, made.open.get), (2, 0))

  test("there are never more than its size, and those who wait are served"):
    val made = Made()
    val sum = Pool(made.resource, maxSize = 4)
      .use(pool => Task.parTraverse(1 to 1000)(_ => pool.use(_ => Task.cede.as(1))).map(_.sum))
      .runSync()
    assertEquals(sum, 1000)
    assert(made.mostOpen.get <= 4, made.mostOpen.get)
    assertEquals(made.open.get, 0)

  test("one whose use has failed or was cancelled is released; isReusable may keep it"):
    for reuse <- List(Pool.succeeded, (_: Outcome[Unit]) => true) do
      val made = Made()
      Pool(made.resource, maxSize = 1, isReusable = reuse)
        .use(pool =>
          pool.use(_ => Task.never.timeout(1.milli)).attempt >> pool.use(Task.pure).map { next =>
            assertEquals(next, if reuse == Pool.succeeded then 2 else 1)
          }
        )
        .runSync()
      assertEquals(made.open.get, 0)

  test("one whose use was cancelled is released where isReusable does not keep it"):
    val made = Made()
    Pool(made.resource, maxSize = 1, isReusable = _ != Outcome.Canceled)
      .use { pool =>
        for
          failed <- pool.use(_ => Task.fail(Boom())).attempt
          kept <- pool.use(Task.pure)
          started <- Deferred[Unit]
          fiber <- pool.use(_ => started.complete(()) >> Task.never).start
          _ <- started.get >> fiber.cancel
          next <- pool.use(Task.pure)
        yield
          assert(failed.isLeft)
          assertEquals((kept, next), (1, 2))
      }
      .runSync()
    assertEquals(made.open.get, 0)

  test("one that is not healthy, or whose check fails, is released, and another taken"):
    val made = Made()
    Pool(
      made.resource,
      maxSize = 2,
      isHealthy = n => if n == 1 then Task.fail(Boom()) else Task.pure(n > 2)
    ).use { pool =>
      for
        _ <- pool.resource.flatMap(_ => pool.resource).use(_ => Task.unit) // 1 and 2 are idle
        next <- pool.use(Task.pure)
      yield assertEquals((next, made.open.get), (3, 1))
    }.runSync()
    assertEquals(made.open.get, 0)

  test("one whose check throws, or is cancelled, is released"):
    val checking = CountDownLatch.unsafe(1)
    val checks = List[Int => Task[Boolean]](
      _ => throw Boom(),
      _ => checking.release >> Task.never
    )
    for check <- checks do
      val made = Made()
      Pool(made.resource, maxSize = 1, isHealthy = check)
        .use { pool =>
          for
            _ <- pool.use(_ => Task.unit)
            fiber <- pool.use(Task.pure).start
            _ <- Task.when(check eq checks.last)(checking.await >> fiber.cancel)
            _ <- fiber.join
            used <- pool.inUse
          yield assertEquals(used, 0)
        }
        .runSync()
      assertEquals((made.open.get, made.mostOpen.get), (0, 1))

  test("one that is being evicted counts until its release has ended"):
    val open, most = AtomicInteger()
    val releasing, go = CountDownLatch.unsafe(1)
    val slow = Resource.make(Task {
      most.accumulateAndGet(open.incrementAndGet(), math.max(_, _)): Unit
    })(_ => releasing.release >> go.await >> Task(open.decrementAndGet(): Unit))
    Pool(slow, maxSize = 1, maxIdle = 1.milli)
      .use { pool =>
        for
          _ <- pool.use(_ => Task.unit)
          _ <- releasing.await
          next <- pool.use(_ => Task.unit).start
          _ <- Task(eventually("it waits")(isWaiting(next)))
          _ <- go.release >> next.joinOrFail
        yield ()
      }
      .runSync()
    assertEquals((open.get, most.get), (0, 1))

  test("an error of acquiring is the caller's, and its place is free again"):
    val broken = AtomicInteger(1)
    val resource = Resource.eval(Task(if broken.getAndDecrement() > 0 then throw Boom() else 7))
    Pool(resource, maxSize = 1)
      .use(pool => pool.use(Task.pure).attempt.both(Task.unit) >> pool.use(Task.pure))
      .map(value => assertEquals(value, 7))
      .runSync()

  test("a cancel of one who waits, or acquires, takes nothing"):
    val never = Resource.eval(Task.never)
    Pool(never, maxSize = 1)
      .use { pool =>
        for
          acquires <- pool.use(Task.pure).start
          waits <- pool.use(Task.pure).start
          _ <- Task(eventually("both wait")(isWaiting(acquires) && isWaiting(waits)))
          _ <- waits.cancel >> acquires.cancel
          used <- pool.inUse
        yield assertEquals(used, 0)
      }
      .runSync()

  test("one that has been idle for too long is released"):
    val made = Made()
    Pool(made.resource, maxSize = 3, maxIdle = 20.millis)
      .use { pool =>
        for
          _ <- pool.resource.flatMap(_ => pool.resource).use(_ => Task.unit)
          _ <- Task(eventually("both are released")(made.open.get == 0))
          idle <- pool.idle
          next <- pool.use(Task.pure)
        yield assertEquals((idle, next), (0, 3))
      }
      .runSync()
    assertEquals(made.open.get, 0)

  test("the end releases what is idle, and what is in use when it is given back"):
    val made = Made()
    val go = Deferred.unsafe[Unit]
    val (pool, user) = Pool(made.resource, maxSize = 2)
      .use { pool =>
        for
          started <- Deferred[Unit]
          user <- pool.use(_ => started.complete(()) >> go.get).start
          _ <- started.get >> pool.use(_ => Task.unit)
        yield (pool, user)
      }
      .runSync()
    assertEquals(made.open.get, 1)
    intercept[IllegalStateException](pool.use(Task.pure).runSync(): Unit): Unit
    (go.complete(()) >> user.joinOrFail).runSync()
    assertEquals(made.open.get, 0)

  test("errors of releasing at the end are thrown, the later ones under the first"):
    val count = AtomicInteger()
    val resource = Resource.make(Task(count.incrementAndGet()))(n => Task.fail(Boom(s"$n")))
    val thrown = intercept[Boom](
      Pool(resource, maxSize = 2)
        .use(pool => pool.resource.flatMap(_ => pool.resource).use(_ => Task.unit))
        .runSync()
    )
    assertEquals(thrown.getSuppressed.length, 1)

  test("a size below one and a time that is not positive are refused"):
    intercept[IllegalArgumentException](Pool(Resource.unit, maxSize = 0)): Unit
    intercept[IllegalArgumentException](Pool(Resource.unit, 1, maxIdle = Duration.Zero)): Unit

  test("one for which isReusable throws is released, and its use fails with that error"):
    val made = Made()
    val odd, boom = Boom()
    val (good, bad) = Pool(made.resource, maxSize = 1, isReusable = _ => throw odd)
      .use(pool =>
        pool.use(Task.pure).attempt.flatMap { good =>
          assertEquals(made.open.get, 0)
          pool.use(_ => Task.fail(boom)).attempt.map(bad => (good, bad))
        }
      )
      .runSync()
    assertEquals((good, bad), (Left(odd), Left(boom)))
    assertEquals(boom.getSuppressed.toList, List(odd))
    assertEquals((made.made.get, made.open.get), (2, 0))

package weir.orders

import weir.orders.OrdersSuite.{Kept, together}
import weir.std.{KeyedMutex, KeyedSemaphore}
import weir.{Mutex, Ref, Semaphore, Task}

/** Permits and locks in every order: none is lost, and none is given twice. */
class PermitOrdersSuite extends OrdersSuite:
  private val inPermits = Seq("weir.Semaphore", "weir.Mutex", "weir.sync.", "weir.fiber.WaitList")
  private val inKeyed = Seq("weir.std.Keyed", "weir.sync.", "weir.fiber.WaitList")

  /** Fails if it is run by two fibers at the same time. */
  private def alone(inside: Ref[Int]): Task[Unit] =
    for
      n <- inside.updateAndGet(_ + 1)
      _ = assertEquals(n, 1)
      _ <- inside.update(_ - 1)
    yield ()

  orders("a semaphore lets one in at a time, beside a cancel")(inPermits*) {
    for
      semaphore <- Semaphore(1)
      inside <- Ref.of(0)
      use = semaphore.withPermit(Task.uncancelable(_ => alone(inside)))
      first <- use.start
      _ <- together(use, first.cancel)
      free <- semaphore.available
    yield assertEquals(free, 1L)
  }

  orders("permits that are granted as the acquire is cancelled go on to the next")(inPermits*) {
    for
      semaphore <- Semaphore(0)
      first <- Kept.start(semaphore.acquire)
      second <- Kept.start(semaphore.acquire)
      _ <- together(semaphore.release, first.cancel)
      taken <- first.get
      _ <- Task.when(taken.nonEmpty)(semaphore.release)
      _ <- second.get.map(last => assertEquals(last, Some(())))
      free <- semaphore.count
    yield assertEquals(free, 0L)
  }

  orders("an acquire of two takes both or none")(inPermits*) {
    for
      semaphore <- Semaphore(1)
      two <- Kept.start(semaphore.acquireN(2))
      one <- Kept.start(semaphore.acquire)
      _ <- together(semaphore.release, two.cancel)
      hasTwo <- two.get
      _ <- Task.when(hasTwo.nonEmpty)(semaphore.release)
      _ <- one.get
      free <- semaphore.count
    yield assertEquals(free, if hasTwo.nonEmpty then 0L else 1L)
  }

  orders("tryAcquire takes no permit that is another's")(inPermits*) {
    for
      semaphore <- Semaphore(1)
      first <- Kept.start(semaphore.tryAcquire)
      second <- Kept.start(semaphore.tryAcquire)
      a <- first.get
      b <- second.get
    yield assertEquals(List(a, b).flatten.count(identity), 1)
  }

  orders("tryAcquire while one waits for two gets none")(inPermits*) {
    for
      semaphore <- Semaphore(1)
      two <- Kept.start(semaphore.acquireN(2))
      look <- Kept.start(semaphore.count.flatMap {
        case -1 => semaphore.tryAcquire // and nothing is given back before the end
        case _ => Task.pure(false)
      })
      taken <- look.get
      _ <- two.cancel
    yield assertEquals(taken, Some(false))
  }

  orders("a mutex is held by one, beside a cancel")(inPermits*) {
    for
      mutex <- Mutex()
      inside <- Ref.of(0)
      use = mutex.withLock(Task.uncancelable(_ => alone(inside)))
      first <- use.start
      _ <- together(use, first.cancel)
      isLocked <- mutex.isLocked
    yield assert(!isLocked)
  }

  orders("a keyed mutex is held by one for each key, and forgets the key")(inKeyed*) {
    for
      mutex <- KeyedMutex[String]()
      inside <- Ref.of(0)
      use = mutex.withLock("key")(Task.uncancelable(_ => alone(inside)))
      first <- use.start
      _ <- together(use, first.cancel)
      keys <- mutex.size
    yield assertEquals(keys, 0)
  }

  orders("a keyed semaphore lets one in for each key, and forgets the key")(inKeyed*) {
    for
      semaphore <- KeyedSemaphore[String](1)
      inside <- Ref.of(0)
      use = semaphore.withPermit("key")(Task.uncancelable(_ => alone(inside)))
      first <- use.start
      _ <- together(use, use, first.cancel)
      keys <- semaphore.size
    yield assertEquals(keys, 0)
  }

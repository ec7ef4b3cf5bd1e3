package weir.orders

import scala.concurrent.duration.*
import weir.orders.OrdersSuite.{Kept, opened, together}
import weir.std.{
  AtomicCell,
  Cache,
  CircuitBreaker,
  CountDownLatch,
  CyclicBarrier,
  Hotswap,
  KeyedQueue,
  Pool,
  RateLimiter,
  Signal,
  Topic
}
import weir.{Deferred, Ref, Task}

/** The objects that fibers share, in every order, in the presence of cancels. */
class SharedOrdersSuite extends OrdersSuite:
  private val inOneShot = Seq("weir.Deferred", "weir.std.CountDownLatch", "weir.sync.")
  private val inCache = Seq("weir.std.Cache", "weir.fiber.WaitList")
  private val inSignal = Seq("weir.std.Signal", "weir.std.Topic")

  orders("a deferred value is set once, and seen by all")(inOneShot*) {
    for
      value <- Deferred[Int]
      first <- Kept.start(value.complete(1))
      second <- Kept.start(value.complete(2))
      seen <- value.get
      a <- first.get
      b <- second.get
    yield assertEquals((a, b), (Some(seen == 1), Some(seen == 2)))
  }

  orders("a wait for a deferred value that is cancelled disturbs no other")(inOneShot*) {
    for
      value <- Deferred[Int]
      first <- value.get.start
      second <- Kept.start(value.get)
      _ <- together(value.complete(1), first.cancel)
      seen <- second.get
    yield assertEquals(seen, Some(1))
  }

  orders("a latch opens after its last release")(inOneShot*) {
    for
      latch <- CountDownLatch(2)
      done <- Ref.of(0)
      worker = done.update(_ + 1).andThen(latch.release)
      wait = latch.await.andThen(done.get).map(assertEquals(_, 2))
      _ <- together(worker, worker, wait)
    yield ()
  }

  orders("a barrier lets all through, round after round")(
    "weir.std.CyclicBarrier",
    "weir.sync."
  ) {
    CyclicBarrier(2).flatMap(barrier =>
      together(barrier.await.andThen(barrier.await), barrier.await.andThen(barrier.await))
    )
  }

  orders("one that leaves a barrier is not counted")(
    "weir.std.CyclicBarrier",
    "weir.sync."
  ) {
    for
      barrier <- CyclicBarrier(2)
      first <- Kept.start(barrier.await)
      second <- Kept.start(barrier.await)
      _ <- first.cancel
      // Unless the cancel was ordered after the second one's coming.
      _ <- Task.race(barrier.await, second.get)
      last <- second.get
      missing <- barrier.missing
    yield assertEquals((last, missing), (Some(()), 2))
  }

  orders("a memoized task is run again after a cancel, and once otherwise")(inCache*) {
    for
      runs <- Ref.of(0)
      memo <- runs.updateAndGet(_ + 1).flatMap(n => Task.cede.as(n)).memoize
      first <- Kept.start(memo)
      second <- Kept.start(memo)
      _ <- first.cancel
      one <- first.get
      two <- second.get
      count <- runs.get
    yield
      assert(two.exists(_ <= count), (two, count))
      assert(one.isEmpty || one == two && count == 1, (one, two, count))
  }

  orders("a cache loads a key once, and again after an invalidation")(inCache*) {
    for
      loads <- Ref.of(0)
      cache <- Cache[Int, Int]()
      get = cache.get(1)(loads.updateAndGet(_ + 1))
      _ <- together(get, cache.invalidate(1), get)
      count <- loads.get
    yield assert(count == 1 || count == 2)
  }

  orders("what a cache was loading when it was invalidated does not stay")(inCache*) {
    for
      stored <- Ref.of("old")
      cache <- Cache[Int, String]()
      get = cache.get(1)(stored.get)
      _ <- together(get, stored.set("new").andThen(cache.invalidate(1)))
      now <- get
    yield assertEquals(now, "new")
  }

  orders("a failed load is for those who wait for it, and is not kept")(inCache*) {
    for
      cache <- Cache[Int, Int]()
      failing = cache.get(1)(Task.fail(IllegalStateException("expected"))).attempt
      _ <- together(failing, failing)
      value <- cache.get(1)(Task.pure(3))
    yield assertEquals(value, 3)
  }

  orders("who waits for a value of a signal sees it, or a later one")(inSignal*) {
    for
      signal <- Signal.of(0)
      _ <- together(
        signal.waitUntil(_ >= 2),
        signal.update(_ + 1),
        signal.update(_ + 1)
      )
      end <- signal.get
    yield assertEquals(end, 2)
  }

  orders("a stream of a signal's values ends with the last")(inSignal*) {
    for
      signal <- Signal.of(0)
      seen = signal.discrete.takeThrough(_ < 2).toList
      _ <- together(seen.map(all => assertEquals(all, all.sorted)), signal.set(2))
    yield ()
  }

  orders("a change that is cancelled is told, or not made")(inSignal*) {
    for
      signal <- Signal.of(0)
      waiter <- Kept.start(signal.waitUntil(_ == 1))
      changer <- signal.set(1).start
      _ <- changer.cancel
      now <- signal.get
      _ <- Task.when(now == 0)(waiter.cancel)
      seen <- waiter.get
    yield assertEquals(seen, Option.when(now == 1)(1))
  }

  orders("a close that is cancelled ends each subscriber's stream, or is none")(inSignal*) {
    Topic[Int].flatMap(topic =>
      topic
        .subscription(1)
        .use(values =>
          for
            subscriber <- Kept.start(values.toList)
            closer <- topic.close.start
            _ <- closer.cancel
            _ <- topic.publish(1).flatMap(isOpen => Task.when(isOpen)(topic.close))
            _ <- subscriber.get
          yield ()
        )
    )
  }

  orders("two subscribers get the values of two publishers in one order")(inSignal*) {
    Topic[Int].flatMap(topic =>
      topic
        .subscription(2)
        .both(topic.subscription(2))
        .use((a, b) =>
          for
            _ <- together(topic.publish(1), topic.publish(2))
            _ <- topic.close
            ofA <- a.toList
            ofB <- b.toList
          yield assertEquals(ofA, ofB)
        )
    )
  }

  orders("who subscribes as the topic closes sees the end")(inSignal*) {
    Topic[Int].flatMap(topic => together(topic.subscribe(1).drain, topic.close))
  }

  orders("a subscriber has each value that is published after its subscription")(inSignal*) {
    Topic[Int].flatMap(topic =>
      topic
        .subscription(1)
        .use(values =>
          together(
            values.toList.map(assertEquals(_, List(1, 2))),
            topic.publish(1).andThen(topic.publish(2)).andThen(topic.close)
          )
        )
    )
  }

  orders("a subscriber that leaves does not hold up the publisher")(inSignal*) {
    for
      topic <- Topic[Int]
      slow <- topic.subscribe(1).take(1).drain.start
      _ <- together(topic.publish(1).andThen(topic.publish(2)), slow.cancel)
      count <- topic.subscriberCount
    yield assertEquals(count, 0)
  }

  orders("a cell is changed by one at a time")("weir.std.AtomicCell", "weir.Mutex", "weir.sync.") {
    for
      cell <- AtomicCell.of(0)
      add = cell.evalUpdate(n => Task.pure(n + 1))
      first <- add.start
      _ <- together(add, first.cancel)
      n <- cell.get
    yield assert(n == 1 || n == 2)
  }

  orders("what is set in a cell is not lost to a change")(
    "weir.std.AtomicCell",
    "weir.Mutex",
    "weir.sync."
  ) {
    for
      cell <- AtomicCell.of(0)
      _ <- together(cell.evalUpdate(n => Task.pure(n + 1)), cell.set(10))
      n <- cell.get
    yield assert(n == 10 || n == 11, n)
  }

  orders("an update of a cell is not lost to a change")("weir.std.AtomicCell", "weir.sync.") {
    for
      cell <- AtomicCell.of(0)
      _ <- together(cell.evalUpdate(n => Task.pure(n + 1)), cell.update(_ + 1))
      n <- cell.get
    yield assertEquals(n, 2)
  }

  orders("a pool opens no more than it may, and closes them all")("weir.std.Pool") {
    for
      open <- Ref.of(0)
      _ <- Pool(opened(open), maxSize = 1).use(pool =>
        for
          first <- pool.use(_ => open.get.map(assertEquals(_, 1))).start
          _ <- together(pool.use(_ => open.get.map(assertEquals(_, 1))), first.cancel)
        yield ()
      )
      left <- open.get
    yield assertEquals(left, 0)
  }

  orders("a resource whose check is cancelled is not left open")("weir.std.Pool") {
    for
      open <- Ref.of(0)
      _ <- Pool(opened(open), maxSize = 1, isHealthy = _ => Task.cede.as(true)).use(pool =>
        for
          _ <- pool.use(_ => Task.unit)
          second <- pool.use(_ => Task.unit).start
          _ <- second.cancel
        yield ()
      )
      left <- open.get
    yield assertEquals(left, 0)
  }

  orders("a resource that is given back to a closed pool is released")("weir.std.Pool") {
    for
      open <- Ref.of(0)
      allocated <- Pool(opened(open), maxSize = 1).allocated
      (pool, close) = allocated
      _ <- together(pool.use(_ => Task.unit).attempt, close)
      left <- open.get
    yield assertEquals(left, 0)
  }

  orders("a hot swap has one resource, which is open while it is used")("weir.std.Hotswap") {
    for
      open <- Ref.of(0)
      _ <- Hotswap(opened(open)).use(swap =>
        for
          user <- swap.get
            .use(present => open.get.map(n => assert(present.isEmpty || n >= 1, n)))
            .start
          swapper <- swap.swap(opened(open)).start
          _ <- together(swap.clear, swapper.cancel)
          _ <- user.joinOrFail
        yield ()
      )
      left <- open.get
    yield assertEquals(left, 0)
  }

  orders("a rate limiter gives a permit at a time, and none to who has left")(
    "weir.std.RateLimiter"
  ) {
    for
      limiter <- RateLimiter(1, 1.second)
      start <- Task.monotonic
      first <- Kept.start(limiter.acquire)
      second <- Kept.start(limiter.acquire)
      _ <- first.cancel
      one <- first.get
      _ <- second.get
      end <- Task.monotonic
    yield assert(end - start <= (if one.isEmpty then 0.seconds else 1.second), (one, end - start))
  }

  orders("a rate limiter gives its one permit to one of two")("weir.std.RateLimiter") {
    for
      limiter <- RateLimiter(1, 1.second)
      first <- Kept.start(limiter.tryAcquire)
      second <- Kept.start(limiter.tryAcquire)
      a <- first.get
      b <- second.get
    yield assertEquals(List(a, b).flatten.count(identity), 1)
  }

  orders("a circuit breaker sends one probe")("weir.std.CircuitBreaker") {
    for
      breaker <- CircuitBreaker(maxFailures = 1, resetAfter = 1.second)
      _ <- breaker.protect(Task.fail(IllegalStateException("expected"))).attempt
      _ <- Task.sleep(2.seconds)
      running <- Ref.of(0)
      most <- Ref.of(0)
      probe = Task.uncancelable(_ =>
        for
          n <- running.updateAndGet(_ + 1)
          _ <- most.update(math.max(_, n))
          _ <- running.update(_ - 1)
        yield ()
      )
      _ <- together(breaker.protect(probe).attempt, breaker.protect(probe).attempt)
      n <- most.get
    yield assertEquals(n, 1)
  }

  orders("a circuit breaker counts each failure")("weir.std.CircuitBreaker") {
    for
      breaker <- CircuitBreaker(maxFailures = 2, resetAfter = 1.second)
      call = breaker.protect(Task.fail(IllegalStateException("expected"))).attempt
      _ <- together(call, call)
      state <- breaker.currentState
    yield assertEquals(state, CircuitBreaker.State.Open)
  }

  orders("a keyed queue does one item of a key at a time")("weir.std.KeyedQueue") {
    for
      queue <- KeyedQueue[Int, Int](2, key = _ => 1, perKey = _ => 1)
      running <- Ref.of(0)
      work = queue.process(2)(n =>
        for
          before <- running.updateAndGet(_ + 1)
          _ = assertEquals(before, 1)
          _ <- running.update(_ - 1)
        yield KeyedQueue.Next.Done(n)
      )
      _ <- together(
        work.toList.map(all => assertEquals(all, List(1, 2))),
        queue.offer(1).andThen(queue.offer(2)).andThen(queue.close)
      )
    yield ()
  }

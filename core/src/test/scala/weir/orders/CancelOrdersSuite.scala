package weir.orders

import scala.concurrent.duration.*
import weir.orders.OrdersSuite.{Kept, counted, opened, together}
import weir.std.{
  AtomicCell,
  Cache,
  CircuitBreaker,
  CountDownLatch,
  CyclicBarrier,
  Hotswap,
  KeyedMutex,
  KeyedQueue,
  KeyedSemaphore,
  Pool,
  RateLimiter,
  Signal,
  Topic
}
import weir.{Channel, Deferred, Mutex, Queue, Ref, Semaphore, Task}

/** A fiber that uses a primitive is cancelled before each of its steps, while it waits, and after
  * its end: nothing is lost, and the others go on.
  */
class CancelOrdersSuite extends OrdersSuite:
  private val inQueue = Seq("weir.Queue", "weir.sync.Guarded", "weir.fiber.WaitList")
  private val inChannel = Seq("weir.Channel", "weir.sync.", "weir.fiber.WaitList")
  private val inPermits = Seq("weir.Semaphore", "weir.Mutex", "weir.sync.", "weir.fiber.WaitList")
  private val inOneShot = Seq("weir.Deferred", "weir.std.CountDownLatch", "weir.sync.")

  // ---- queues and channels ----

  private val queues = List(
    "a synchronous queue" -> Queue.synchronous[Int],
    "a queue of 1" -> Queue.bounded[Int](1),
    "a queue of 2" -> Queue.bounded[Int](2)
  )

  for (name, make) <- queues do
    cancels(s"$name: a take that is cancelled leaves the value to the next")(inQueue*) {
      cancelled =>
        for
          queue <- make
          offer <- queue.offer(1).start
          taken <- Ref.of(0)
          _ <- cancelled(counted(taken)(queue.take))
          n <- taken.get
          _ <- Task.when(n == 0)(queue.take.map(assertEquals(_, 1)))
          _ <- offer.joinOrFail
          left <- queue.tryTake
        yield assertEquals(left, None)
    }

    cancels(s"$name: an offer that is cancelled is in the queue, or never was")(inQueue*) {
      cancelled =>
        for
          queue <- make
          taker <- Kept.start(queue.take)
          offered <- Ref.of(0)
          _ <- cancelled(counted(offered)(queue.offer(1)).andThen(counted(offered)(queue.offer(2))))
          _ <- taker.cancel
          taken <- taker.get
          left <- queue.takeAll
          n <- offered.get
        yield assertEquals(taken.toList ++ left, List(1, 2).take(n))
    }

  cancels("takeN puts back what it has when it is cancelled")(inQueue*) { cancelled =>
    for
      queue <- Queue.bounded[Int](2)
      offer <- queue.offer(1).andThen(queue.offer(2)).start
      taken <- Ref.of(List.empty[Int])
      _ <- cancelled(Task.uncancelable(poll => poll(queue.takeN(2)).flatMap(taken.set)))
      _ <- offer.joinOrFail
      mine <- taken.get
      left <- queue.takeAll
    yield assertEquals(mine ++ left, List(1, 2))
  }

  for capacity <- List(0, 1) do
    cancels(s"a channel of $capacity: a receive that is cancelled leaves the value")(inChannel*) {
      cancelled =>
        for
          channel <- Channel.bounded[Int](capacity)
          sender <- channel.send(1).start
          received <- Ref.of(0)
          _ <- cancelled(counted(received)(channel.receive))
          n <- received.get
          _ <- Task.when(n == 0)(channel.receive.map(assertEquals(_, 1)))
          _ <- sender.joinOrFail
          left <- channel.tryReceive
        yield assertEquals(left, None)
    }

    cancels(s"a channel of $capacity: a send that is cancelled is received, or never was")(
      inChannel*
    ) { cancelled =>
      for
        channel <- Channel.bounded[Int](capacity)
        receiver <- channel.stream.toList.start
        sent <- Ref.of(0)
        _ <- cancelled(counted(sent)(channel.send(1)).andThen(counted(sent)(channel.send(2))))
        _ <- channel.close
        received <- receiver.joinOrFail
        n <- sent.get
      yield assertEquals(received, List(1, 2).take(n))
    }

  cancels("a select that is cancelled loses no value")(inChannel*) { cancelled =>
    for
      a <- Channel.bounded[Int](0)
      b <- Channel.bounded[Int](1)
      senders <- together(a.send(1), b.send(2)).start
      taken <- Ref.of[Any](())
      select = Channel.select(a.receiveClause, b.receiveClause)
      _ <- cancelled(Task.uncancelable(poll => poll(select).flatMap(taken.set)))
      mine <- taken.get
      _ <- Task.unless(mine == a.Received(1))(a.receive)
      _ <- Task.unless(mine == b.Received(2))(b.receive)
      _ <- senders.joinOrFail
    yield ()
  }

  cancels("a keyed queue: what was under way when it was cancelled is done later, once")(
    "weir.std.KeyedQueue"
  ) { cancelled =>
    for
      queue <- KeyedQueue[Int, Int](2, key = _ % 2, perKey = _ => 1)
      done <- Ref.of(List.empty[Int])
      work = queue
        .process(1)(n => done.update(n :: _).as(KeyedQueue.Next.Done[Int, Int](n)))
        .drain
      _ <- queue.offerAll(List(1, 2))
      _ <- queue.close
      _ <- cancelled(work)
      _ <- work
      all <- done.get
    yield assertEquals(all.sorted.distinct, List(1, 2))
  }

  // ---- permits and locks ----

  cancels("a semaphore: a permit is given back")(inPermits*) { cancelled =>
    for
      semaphore <- Semaphore(1)
      other <- semaphore.withPermit(Task.unit).start
      _ <- cancelled(semaphore.withPermit(Task.cede))
      _ <- other.joinOrFail
      free <- semaphore.available
    yield assertEquals(free, 1L)
  }

  cancels("a semaphore: who waits for two permits keeps none when it is cancelled")(inPermits*) {
    cancelled =>
      for
        semaphore <- Semaphore(1)
        giver <- semaphore.release.start
        taken <- Ref.of(0)
        _ <- cancelled(counted(taken)(semaphore.acquireN(2)))
        _ <- giver.joinOrFail
        n <- taken.get
        free <- semaphore.count
      yield assertEquals(free, if n == 1 then 0L else 2L)
  }

  cancels("a mutex is free again")(inPermits*) { cancelled =>
    for
      mutex <- Mutex()
      other <- mutex.withLock(Task.unit).start
      _ <- cancelled(mutex.withLock(Task.cede))
      _ <- other.joinOrFail
      isLocked <- mutex.isLocked
      _ <- mutex.withLock(Task.unit)
    yield assert(!isLocked)
  }

  cancels("a keyed mutex is free again, and forgets its key")("weir.std.KeyedMutex", "weir.sync.") {
    cancelled =>
      for
        mutex <- KeyedMutex[Int]()
        other <- mutex.withLock(1)(Task.unit).start
        _ <- cancelled(mutex.withLock(1)(Task.cede))
        _ <- other.joinOrFail
        _ <- mutex.withLock(1)(Task.unit)
        keys <- mutex.size
      yield assertEquals(keys, 0)
  }

  cancels("a keyed semaphore is free again, and forgets its key")(
    "weir.std.KeyedSemaphore",
    "weir.sync."
  ) { cancelled =>
    for
      semaphore <- KeyedSemaphore[Int](1)
      other <- semaphore.withPermit(1)(Task.unit).start
      _ <- cancelled(semaphore.withPermit(1)(Task.cede))
      _ <- other.joinOrFail
      _ <- semaphore.withPermit(1)(Task.unit)
      keys <- semaphore.size
    yield assertEquals(keys, 0)
  }

  cancels("a rate limiter: who is cancelled leaves its permit to the next")(
    "weir.std.RateLimiter"
  ) { cancelled =>
    for
      limiter <- RateLimiter(1, 1.second)
      _ <- limiter.acquire
      taken <- Ref.of(0)
      _ <- cancelled(counted(taken)(limiter.acquire))
      n <- taken.get
      _ <- limiter.acquire
      end <- Task.monotonic
      start = n.seconds + 1.second
    yield assert(end <= start + 1.second, (n, end))
  }

  cancels("a circuit breaker: a probe that is cancelled does not keep it half open")(
    "weir.std.CircuitBreaker"
  ) { cancelled =>
    for
      breaker <- CircuitBreaker(maxFailures = 1, resetAfter = 1.second)
      _ <- breaker.protect(Task.fail(IllegalStateException("expected"))).attempt
      _ <- Task.sleep(1.second)
      _ <- cancelled(breaker.protect(Task.cede))
      _ <- Task.sleep(1.minute)
      _ <- breaker.protect(Task.unit)
      state <- breaker.currentState
    yield assertEquals(state, CircuitBreaker.State.Closed)
  }

  // ---- values ----

  cancels("a deferred value reaches the others who wait")(inOneShot*) { cancelled =>
    for
      value <- Deferred[Int]
      other <- Kept.start(value.get)
      setter <- value.complete(1).start
      _ <- cancelled(value.get)
      _ <- setter.joinOrFail
      seen <- other.get
    yield assertEquals(seen, Some(1))
  }

  cancels("a latch opens for the others who wait")(inOneShot*) { cancelled =>
    for
      latch <- CountDownLatch(1)
      other <- latch.await.start
      releaser <- latch.release.start
      _ <- cancelled(latch.await)
      _ <- releaser.joinOrFail
      _ <- other.joinOrFail
    yield ()
  }

  cancels("a barrier does not count one that was cancelled")(
    "weir.std.CyclicBarrier",
    "weir.sync."
  ) { cancelled =>
    for
      barrier <- CyclicBarrier(2)
      passed <- Ref.of(0)
      other <- barrier.await.start
      _ <- cancelled(counted(passed)(barrier.await))
      n <- passed.get
      _ <- Task.when(n == 0)(Task.race(barrier.await, other.joinOrFail))
      _ <- other.joinOrFail
      missing <- barrier.missing
    yield assertEquals(missing, 2)
  }

  cancels("a memoized task is run again where its run was cancelled")("weir.std.Cache") {
    cancelled =>
      for
        runs <- Ref.of(0)
        memo <- runs.updateAndGet(_ + 1).flatMap(n => Task.cede.as(n)).memoize
        other <- memo.start
        _ <- cancelled(memo)
        seen <- other.joinOrFail
        again <- memo
      yield assertEquals(again, seen)
  }

  cancels("a cache loads for the others who wait, and forgets no value")("weir.std.Cache") {
    cancelled =>
      for
        cache <- Cache[Int, Int]()
        get = cache.get(1)(Task.cede.as(1))
        other <- get.start
        _ <- cancelled(get)
        seen <- other.joinOrFail
        size <- cache.size
      yield assertEquals((seen, size), (1, 1))
  }

  cancels("a signal: a change is made and told, or not made")("weir.std.Signal") { cancelled =>
    for
      signal <- Signal.of(0)
      waiter <- Kept.start(signal.waitUntil(_ == 1))
      _ <- cancelled(signal.update(_ + 1))
      now <- signal.get
      _ <- Task.when(now == 0)(signal.set(1))
      seen <- waiter.get
    yield assertEquals(seen, Some(1))
  }

  cancels("a signal: who watches disturbs no other")("weir.std.Signal") { cancelled =>
    for
      signal <- Signal.of(0)
      other <- signal.discrete.takeThrough(_ < 1).toList.start
      setter <- signal.set(1).start
      _ <- cancelled(signal.discrete.takeThrough(_ < 1).toList)
      _ <- setter.joinOrFail
      seen <- other.joinOrFail
    yield assertEquals(seen.last, 1)
  }

  cancels("a topic: a publisher that is cancelled lets the next one publish")("weir.std.Topic") {
    cancelled =>
      Topic[Int].flatMap(topic =>
        topic
          .subscription(1)
          .use(values =>
            for
              subscriber <- values.toList.start
              _ <- cancelled(topic.publish(1).andThen(topic.publish(2)))
              _ <- topic.publish(3)
              _ <- topic.close
              seen <- subscriber.joinOrFail
            yield assert(Set(List(3), List(1, 3), List(1, 2, 3))(seen), seen)
          )
      )
  }

  cancels("a topic: a subscriber that is cancelled has left")("weir.std.Topic") { cancelled =>
    for
      topic <- Topic[Int]
      publisher <- topic.publish(1).andThen(topic.publish(2)).start
      _ <- cancelled(topic.subscribe(1).take(1).drain.timeoutTo(1.second, Task.unit))
      _ <- publisher.joinOrFail
      count <- topic.subscriberCount
    yield assertEquals(count, 0)
  }

  cancels("a topic: a close that is cancelled ends each subscriber, or is none")("weir.std.Topic") {
    cancelled =>
      Topic[Int].flatMap(topic =>
        topic
          .subscription(1)
          .use(values =>
            for
              subscriber <- values.toList.start
              _ <- cancelled(topic.close)
              isOpen <- topic.publish(1)
              _ <- Task.when(isOpen)(topic.close)
              _ <- subscriber.joinOrFail
            yield ()
          )
      )
  }

  cancels("an atomic cell is changed or not, and free again")("weir.std.AtomicCell") { cancelled =>
    for
      cell <- AtomicCell.of(0)
      other <- cell.evalUpdate(n => Task.pure(n + 10)).start
      _ <- cancelled(cell.evalUpdate(n => Task.cede.as(n + 1)))
      _ <- other.joinOrFail
      n <- cell.get
    yield assert(n == 10 || n == 11, n)
  }

  // ---- resources that are shared ----

  cancels("a pool has its resource back, or has closed it")("weir.std.Pool") { cancelled =>
    for
      open <- Ref.of(0)
      _ <- Pool(opened(open), maxSize = 1, isHealthy = _ => Task.cede.as(true)).use(pool =>
        for
          other <- pool.use(_ => Task.unit).start
          _ <- cancelled(pool.use(_ => open.get.map(assertEquals(_, 1))))
          _ <- other.joinOrFail
          _ <- pool.use(_ => open.get.map(assertEquals(_, 1)))
          inUse <- pool.inUse
        yield assertEquals(inUse, 0)
      )
      left <- open.get
    yield assertEquals(left, 0)
  }

  cancels("a pool that is cancelled as it closes has closed all")("weir.std.Pool") { cancelled =>
    for
      open <- Ref.of(0)
      _ <- cancelled(
        Pool(opened(open), maxSize = 2).use(pool =>
          Task.both(pool.use(_ => Task.unit), pool.use(_ => Task.unit))
        )
      )
      left <- open.get
    yield assertEquals(left, 0)
  }

  cancels("a hot swap that is cancelled has one resource, which is released once")(
    "weir.std.Hotswap"
  ) { cancelled =>
    for
      open <- Ref.of(0)
      _ <- Hotswap(opened(open)).use(swap =>
        for
          user <- swap.get.use(_ => open.get.map(n => assert(n >= 1, n))).start
          _ <- cancelled(swap.swap(opened(open)))
          _ <- user.joinOrFail
          n <- open.get
        yield assertEquals(n, 1)
      )
      left <- open.get
    yield assertEquals(left, 0)
  }

  cancels("who uses a hot swap and is cancelled does not hold up the next swap")(
    "weir.std.Hotswap"
  ) { cancelled =>
    for
      open <- Ref.of(0)
      _ <- Hotswap(opened(open)).use(swap =>
        for
          swapper <- swap.swap(opened(open)).start
          _ <- cancelled(swap.get.use(_ => Task.cede))
          _ <- swapper.joinOrFail
          n <- open.get
        yield assertEquals(n, 1)
      )
      left <- open.get
    yield assertEquals(left, 0)
  }

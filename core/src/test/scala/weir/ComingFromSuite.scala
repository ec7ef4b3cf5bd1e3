package weir

import java.io.IOException
import java.util.concurrent.{CancellationException, TimeoutException}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.{Await, Future}
import scala.concurrent.duration.*
import weir.std.{CountDownLatch, CyclicBarrier, RateLimiter, Supervisor}
import weir.testkit.TestRuntime

/** The counterparts in the pages docs/coming-from-*.md: each row of their tables that does
  * something.
  */
class ComingFromSuite extends StreamTests:
  private val boom = Boom()
  private val failing: Task[Int] = Task.fail(boom)

  /** Runs a task on virtual time, and returns its value or its error. */
  private def ends[A](task: Task[A]): Either[Throwable, A] = TestRuntime.run(task.attempt)

  // ---- Cats Effect ----

  test("IO(code), pure, raiseError, defer, async_, async"):
    assertEquals(Task(1).runSync(), 1)
    assertEquals(Task.uninterruptible(1).runSync(), 1)
    assertEquals(Task.pure(1).runSync(), 1)
    assertEquals(Task.fail(boom).attempt.runSync(), Left(boom))
    assertEquals(Task.defer(Task.pure(1)).runSync(), 1)
    assertEquals(Task.async[Int](_(Right(1))).runSync(), 1)
    val stopped = AtomicInteger()
    val waits =
      Task.asyncCancelable[Int](_ => Task(stopped.incrementAndGet()).void).timeout(1.second)
    assert(ends(waits).left.exists(_.isInstanceOf[TimeoutException]))
    assertEquals(stopped.get, 1)

  test(">>, flatTap, as, void, attempt, handleErrorWith, handleError, recover, recoverWith"):
    assertEquals(Task(1).andThen(Task(2)).runSync(), 2)
    assertEquals(Task(1).flatTap(_ => Task(2)).runSync(), 1)
    assertEquals((Task(1).as(2).runSync(), Task(1).void.runSync()), (2, ()))
    assertEquals(failing.attempt.runSync(), Left(boom))
    assertEquals(failing.handleErrorWith(_ => Task(2)).runSync(), 2)
    assertEquals(failing.handleError(_ => 2).runSync(), 2)
    assertEquals(failing.recover { case _: Boom => 2 }.runSync(), 2)
    assertEquals(
      failing.recoverWith { case _: IOException => Task(2) }.attempt.runSync(),
      Left(boom)
    )

  test("guarantee, guaranteeCase, onCancel, bracket, uncancelable, canceled"):
    val log = Log()
    Task.unit.guarantee(log("guarantee")).runSync()
    failing
      .guaranteeCase { case Outcome.Failed(_) => log("failed"); case _ => log("wrong") }
      .attempt
      .runSync(): Unit
    val canceled = Task.canceled.onCancel(log("onCancel")).start.flatMap(_.join).runSync()
    assertEquals(canceled, Outcome.Canceled)
    assertEquals(Task(1).bracket(i => Task(i + 1))(i => log(s"release $i")).runSync(), 2)
    assertEquals(Task.uncancelable(poll => poll(Task(3))).runSync(), 3)
    assertEquals(log.lines, List("guarantee", "failed", "onCancel", "release 1"))

  test("timeout, timeoutTo, timeoutAndForget"):
    assert(ends(Task.never.timeout(1.second)).left.exists(_.isInstanceOf[TimeoutException]))
    assertEquals(ends(Task.never.timeoutTo(1.second, Task(1))), Right(1))
    assert(ends(Task.never.timeoutAbandon(1.second)).left.exists(_.isInstanceOf[TimeoutException]))

  test(
    "start, join, cancel; joinOrFail fails with a CancellationException where joinWithNever waits"
  ):
    assertEquals(Task(1).start.flatMap(_.join).runSync(), Outcome.Succeeded(1))
    assertEquals(Task(1).start.flatMap(_.joinOrFail).runSync(), 1)
    val canceled = Task.never.start.flatMap(fiber => fiber.cancel.andThen(fiber.joinOrFail))
    assert(canceled.attempt.runSync().left.exists(_.isInstanceOf[CancellationException]))
    assertEquals(Task(1).background.use(_.joinOrFail).runSync(), 1)

  test("race, both, parTraverse, parTraverseN; sleep, cede, monotonic, realTimeInstant"):
    assertEquals(Task.race(Task(1), Task.never).runSync(), Left(1))
    assertEquals(Task.both(Task(1), Task("a")).runSync(), (1, "a"))
    assertEquals(Task.parTraverse(Vector(1, 2))(i => Task(i + 1)).runSync(), Vector(2, 3))
    assertEquals(Task.parTraverseN(8)(List(1, 2))(i => Task(i + 1)).runSync(), List(2, 3))
    assertEquals(TestRuntime.timed(Task.sleep(1.hour))._1, 1.hour)
    Task.cede.andThen(Task.monotonic).flatMap(_ => Task.realTime).runSync(): Unit

  test("unsafeRunAsync, unsafeToFuture"):
    val seen = java.util.concurrent.CompletableFuture[Outcome[Int]]()
    val cancel: () => Unit = Task(1).runAsync(outcome => seen.complete(outcome): Unit)
    assertEquals(seen.get, Outcome.Succeeded(1))
    cancel()
    assertEquals(Await.result(Task(1).toFuture(), 10.seconds), 1)

  test("IOLocal, Ref, Deferred, Semaphore, Mutex, CountDownLatch, CyclicBarrier"):
    val local = TaskLocal.of(1).flatMap(local => local.set(2).flatMap(_ => local.get))
    assertEquals(local.runSync(), 2)
    val ref = Ref
      .of(1)
      .flatMap(ref =>
        ref
          .update(_ + 1)
          .andThen(ref.modify(i => (i + 1, i)))
          .flatMap(i => ref.updateAndGet(_ + i).flatMap(j => ref.getAndSet(0).map((i, j, _))))
      )
    assertEquals(ref.runSync(), (2, 5, 5))
    val deferred = Deferred[Int].flatMap(d =>
      d.complete(1).andThen(d.complete(2)).flatMap(b => d.get.map((b, _)))
    )
    assertEquals(deferred.runSync(), (false, 1))
    assertEquals(Semaphore(1).flatMap(_.withPermit(Task(1))).runSync(), 1)
    assertEquals(Mutex().flatMap(_.withLock(Task(1))).runSync(), 1)
    CountDownLatch(1).flatMap(latch => latch.release.andThen(latch.await)).runSync()
    CyclicBarrier(1).flatMap(_.await).runSync()

  test("Queue.bounded, unbounded, dropping, circularBuffer, synchronous"):
    def last(queue: Task[Queue[Int]]): Option[Int] =
      queue.flatMap(q => q.tryOffer(1).andThen(q.tryOffer(2)).andThen(q.tryTake)).runSync()
    assertEquals(last(Queue.bounded(1)), Some(1))
    assertEquals(last(Queue.unbounded), Some(1))
    assertEquals(last(Queue.dropping(1)), Some(1))
    assertEquals(last(Queue.sliding(1)), Some(2))
    assertEquals(last(Queue.synchronous), None)

  test("Resource, Supervisor, Schedule"):
    val resource = Resource.make(Task(1))(_ => Task.unit)
    assertEquals(Resource.both(resource, resource).use(Task.pure).runSync(), (1, 1))
    assertEquals(
      Resource.parSequence(List(resource, resource)).use(Task.pure).runSync(),
      List(1, 1)
    )
    assertEquals(Supervisor().use(_.supervise(Task(1)).flatMap(_.joinOrFail)).runSync(), 1)
    assertEquals(ends(failing.retry(Schedule.exponential(1.second).times(3))), Left(boom))

  // ---- fs2 ----

  test("fs2: metered is a rate limiter, through is a function, repeat is forever recursion"):
    val times = RateLimiter(1, 1.second).flatMap { limiter =>
      Stream.emits(1 to 3).evalTap(_ => limiter.acquire).evalMap(_ => Task.monotonic).toList
    }
    val List(a, b, c) = TestRuntime.run(times): @unchecked
    assertEquals((b - a, c - b), (1.second, 1.second))
    val pipe: Stream[Int] => Stream[Int] = _.map(_ + 1)
    assertEquals(pipe(Stream.emit(1)).toList.runSync(), List(2))
    def repeat(stream: Stream[Int]): Stream[Int] = stream ++ repeat(stream)
    assertEquals(repeat(Stream.emit(1)).take(3).toList.runSync(), List(1, 1, 1))

  test("fs2: what is said to stand for further operators does what they do"):
    val s = Stream.emits(1 to 4)
    assertEquals(s.map(_ => 0).toList.runSync(), List(0, 0, 0, 0)) // as
    assertEquals(s.filter(_ > 2).take(1).toList.runSync(), List(3)) // find
    assertEquals(s.take(1).toList.runSync(), List(1)) // head
    assertEquals(s.drop(1).toList.runSync(), List(2, 3, 4)) // tail
    assertEquals(
      s.flatMap(i => if i > 2 then Stream.emit(s"$i") else Stream.empty).toList.runSync(),
      List("3", "4") // collect, mapFilter
    )
    assertEquals(
      s.zip(Stream.unfold(0L)(i => Some((i, i + 1)))).count.runSync(),
      4L
    ) // zipWithIndex
    assertEquals(s.fold(None: Option[Int])((_, i) => Some(i)).runSync(), Some(4)) // compile.last
    assertEquals(
      (s ++ Stream
        .fail(boom)).map(Right(_)).handleErrorWith(e => Stream.emit(Left(e))).count.runSync(),
      5L // attempt
    )
    // awakeEvery, fixedDelay
    val ticks = Stream.repeatEval(Task.sleep(1.second).andThen(Task.monotonic)).take(2).toList
    val List(a, b) = TestRuntime.run(ticks): @unchecked
    assertEquals(b - a, 1.second)
    assertEquals(
      ends(Stream.never.drain.timeoutTo(1.second, Task.unit)),
      Right(())
    ) // interruptAfter

  /** The form that coming-from-cats-effect.md gives for fs2's `concurrently`, as a task. */
  private def concurrently(stream: Stream[Int], background: Task[Any]): Task[Any] =
    Task.race(background.andThen(Task.never), stream.drain)

  test("fs2: concurrently: the end of the stream cancels what runs beside it"):
    val log = Log()
    val background = log("begun").andThen(Task.never).onCancel(log("canceled"))
    val stream = Stream.eval(Task.sleep(1.second)).map(_ => 1)
    TestRuntime.run(concurrently(stream, background)): Unit
    assertEquals(log.lines, List("begun", "canceled"))

  test("fs2: concurrently: an error beside the stream fails it, an end does not end it"):
    val log = Log()
    val endless = Stream.eval(Task.never).onFinalize(log("finalized"))
    val fails = Task.sleep(1.second).andThen(Task.fail(boom))
    assertEquals(ends(concurrently(endless, fails)), Left(boom))
    assertEquals(log.lines, List("finalized"))
    val stream = Stream.eval(Task.sleep(2.seconds).andThen(log("element"))).map(_ => 1)
    TestRuntime.run(concurrently(stream, Task.unit)): Unit
    assertEquals(log.lines, List("finalized", "element"))

  // ---- ZIO ----

  test("ZIO: catchSome, orElse, ensuring, timeoutFail, timeout, retry"):
    assertEquals(failing.recoverWith { case _: Boom => Task(1) }.runSync(), 1)
    assertEquals(failing.handleErrorWith(_ => Task(1)).runSync(), 1)
    assertEquals(ends(Task.never.timeoutTo(1.second, Task.fail(boom))), Left(boom))
    assertEquals(ends(Task(1).map(Option(_)).timeoutTo(1.second, Task.pure(None))), Right(Some(1)))
    assertEquals(
      ends(Task.never.map(Option(_)).timeoutTo(1.second, Task.pure(None))),
      Right(None)
    )
    val runs = AtomicInteger()
    val task = Task(runs.incrementAndGet()).andThen(failing)
    assertEquals(
      ends(task.retry(Schedule.exponential(1.second).and(Schedule.recurs(3)))),
      Left(boom)
    )
    assertEquals(runs.get, 4)

  test("ZIO: race is firstSuccess, raceFirst is race, raceAll is firstSuccess"):
    assertEquals(Task.firstSuccess(List(failing, Task(1))).runSync(), 1)
    assertEquals(ends(Task.race(failing, Task.sleep(1.second))), Left(boom))

  test("ZIO: forkDaemon, forkScoped; what a child sets in a local stays in the child"):
    assertEquals(Task(1).startDaemon.flatMap(_.joinOrFail).runSync(), 1)
    assertEquals(Scope.run(_.fork(Task(1)).flatMap(_.joinOrFail)).runSync(), 1)
    val local = TaskLocal.unsafe(1)
    assertEquals(local.set(2).start.flatMap(_.join).andThen(local.get).runSync(), 1)

  // ---- Future ----

  test("Future: recover, transform, zip, sequence, firstCompletedOf, Await, Promise, after"):
    assertEquals(failing.recover { case _: Boom => 1 }.runSync(), 1)
    assertEquals(failing.attempt.map(_.isLeft).runSync(), true)
    assertEquals(Task.both(Task(1), Task(2)).runSync(), (1, 2))
    assertEquals(Task.parSequence(List(Task(1), Task(2))).runSync(), List(1, 2))
    assertEquals(Task.race(Task.never, Task(2)).map(_.merge).runSync(), 2)
    assertEquals(Task(1).timeout(5.seconds).runSync(), 1)
    assertEquals(Task.fromFuture(Future.failed(boom)).attempt.runSync(), Left(boom))
    val promise = Deferred[Either[Throwable, Int]].flatMap { promise =>
      promise.complete(Left(boom)).andThen(promise.get).flatMap(_.fold(Task.fail, Task.pure))
    }
    assertEquals(promise.attempt.runSync(), Left(boom))
    assertEquals(TestRuntime.timed(Task.sleep(1.second).andThen(Task(1))), (1.second, 1))

  test("Future: onComplete is runAsync, async is direct"):
    assertEquals(Task.direct { Task(1).await + 1 }.runSync(), 2)

  // ---- limits.md ----

  /** The form that limits.md gives for effects of a stream that keep the order of each key. */
  private def inOrderByKey[A](stream: Stream[A], lanes: Int)(key: A => Any)(f: A => Task[Any]) =
    Task.traverse(1 to lanes)(_ => Channel.bounded[A](16)).map(_.toVector).flatMap { channels =>
      def channel(a: A) = channels(Math.floorMod(key(a).hashCode, lanes))
      val feed = stream
        .evalMap(a => channel(a).send(a))
        .drain
        .guarantee(Task.foreach(channels)(_.close))
      Task.parSequence(feed :: channels.map(_.stream.evalMap(f).drain).toList).void
    }

  test("a channel for each lane keeps the order of each key, and runs the lanes at once"):
    val last = Array.fill(50)(-1)
    val wrong = AtomicInteger()
    val task = inOrderByKey(Stream.emits(0 until 20_000), 4)(_ % 50) { i =>
      Task.cede.andThen(Task {
        if last(i % 50) != -1 && last(i % 50) != i - 50 then wrong.incrementAndGet(): Unit
        last(i % 50) = i
      })
    }
    task.runSync()
    assertEquals(wrong.get, 0)
    assertEquals(last.toList.sorted, (19_950 until 20_000).toList)
    val crowd = Crowd(4)
    inOrderByKey(Stream.emits(0 until 4), 4)(identity)(_ => crowd.meet(false)).runSync()
    assertEquals(crowd.peak, 4)

  test("an effect that fails in a lane fails all of it, and so does the stream"):
    val endless = Stream.unfold(0)(i => Some((i, i + 1)))
    val effect = inOrderByKey(endless, 4)(identity)(i => if i == 100 then failing else Task.unit)
    assertEquals(effect.attempt.runSync(), Left(boom))
    val source = inOrderByKey(Stream.emits(1 to 9) ++ Stream.fail(boom), 4)(identity)(Task.pure)
    assertEquals(source.attempt.runSync(), Left(boom))

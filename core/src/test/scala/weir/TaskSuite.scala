package weir

import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import scala.collection.mutable.ListBuffer
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.testkit.TestRuntime

class TaskSuite extends WeirSuite:

  test("making a task does nothing, and each run does its work anew"):
    val runs = AtomicInteger()
    val task = Task.delay(runs.incrementAndGet()).map(_ * 10)
    assertEquals(runs.get, 0)
    assertEquals((task.runSync(), task.runSync()), (10, 20))

  test("pure, unit, delay, apply and defer return their values"):
    assertEquals(Task.pure(1).runSync(), 1)
    assertEquals(Task.unit.runSync(), ())
    assertEquals(Task.delay(2).runSync(), 2)
    assertEquals(Task(3).runSync(), 3)
    assertEquals(Task.defer(Task.pure(4)).runSync(), 4)
    assertEquals(Task.pure(null: String | Null).map(_ == null).runSync(), true)

  test("the second of two tasks runs after the first"):
    val log = ListBuffer[String]()
    val a = Task.delay(log += "a").void
    val b = Task.delay(log += "b").void
    (for
      _ <- a
      _ <- b
      _ <- a.andThen(b).as(1).void
      n <- Task.pure(7).flatTap(n => Task.delay(log += n.toString))
    yield assertEquals(n, 7)).runSync()
    assertEquals(log.toList, List("a", "b", "a", "b", "7"))

  test("what map, flatMap, defer, delay, attempt and handleErrorWith are given may throw"):
    val boom = Boom()
    val failing = List[Task[Any]](
      Task.fail(boom),
      Task.delay(throw boom),
      Task.defer(throw boom),
      Task.pure(1).map(_ => throw boom),
      Task.delay(1).map(_ => throw boom),
      Task.cede.map(_ => throw boom),
      Task.pure(1).flatMap(_ => throw boom),
      Task.delay(1).flatMap(_ => throw boom),
      Task.cede.flatMap(_ => throw boom),
      Task.fail(Boom("first")).handleErrorWith(_ => throw boom),
      Task.fail(Boom("first")).handleErrorWith(_ => Task.fail(boom)),
      Task.uncancelable(_ => throw boom),
      Task.async(_ => throw boom),
      Task.async(_(Left(boom))),
      Task.traverse(List(1))(_ => throw boom),
      Task.foreach(List(1))(_ => throw boom),
      Task.delay(throw boom).forever,
      Task.cede.andThen(Task.fail(boom)).forever
    )
    for (task, i) <- failing.zipWithIndex do
      assertEquals(task.attempt.runSync(), Left(boom), s"attempt of task $i")
      assertEquals(intercept[Boom](task.runSync()), boom, s"task $i")
      assertEquals(task.handleError(_ => 5).runSync(), 5, s"handleError of task $i")

  test("a failure skips maps and flatMaps until the handler, which runs once"):
    val skipped, handled = AtomicInteger()
    val task = Task
      .fail(Boom())
      .map(_ => skipped.incrementAndGet())
      .flatMap(_ => Task.delay(skipped.incrementAndGet()))
      .handleErrorWith(_ => Task.delay(handled.incrementAndGet()))
      .handleErrorWith(_ => Task.delay(handled.incrementAndGet()))
    assertEquals((task.runSync(), skipped.get, handled.get), (1, 0, 1))

  test("a handler does not see the failures of what follows it"):
    val task =
      Task.unit.handleErrorWith(_ => Task.unit).andThen(Task.fail(Boom("later"))).attempt.attempt
    assertEquals(task.runSync().flatMap(_.left.map(_.getMessage).swap), Right("later"))

  test("a fatal error in a task reaches the caller and does not kill the worker"):
    for error <- List(StackOverflowError("mine"), AssertionError("mine"), NoSuchMethodError("mine"))
    do
      val task = Task.cede.andThen(Task.delay(throw error))
      for _ <- 1 to 10 do
        assertEquals(task.attempt.runSync(), Left(error))
        assertEquals(task.start.flatMap(_.join).runSync(), Outcome.Failed(error))

  test("async takes the first call of its callback and ignores the others"):
    val task = Task.async[Int] { callback =>
      callback(Right(1))
      callback(Right(2))
      callback(Left(Boom()))
    }
    assertEquals(task.map(_ + 10).runSync(), 11)

  test("async waits for a callback from another thread"):
    for _ <- 1 to 1000 do
      val task =
        Task.async[Int](callback => Thread.startVirtualThread(() => callback(Right(3))): Unit)
      assertEquals(task.flatMap(n => task.map(_ + n)).runSync(), 6)

  test("sleep takes as long as it says, and none if that is not positive"):
    assertEquals(TestRuntime.timed(Task.sleep(50.millis))._1, 50.millis)
    val not = Task.foreach(1 to 1000)(_ => Task.sleep(-1.hour).andThen(Task.sleep(0.hours)))
    assertEquals(TestRuntime.timed(not)._1, 0.millis)
    val (_, slept) = timed(Task.sleep(50.millis).runSync())
    assert(slept >= 50.millis, s"slept $slept by the machine's clock")

  test("sleepers wake in the order of their times"):
    val woken = java.util.concurrent.ConcurrentLinkedQueue[Int]()
    val times = scala.util.Random(1).shuffle((1 to 10).toList)
    TestRuntime.run(
      Task.parTraverse(times)(n => Task.sleep(n.nanos).andThen(Task(woken.add(n))))
    ): Unit
    assertEquals(woken.asScala.toList, (1 to 10).toList)

  test("sequence, traverse and foreach run in order and keep order"):
    val log = ListBuffer[Int]()
    def logged(n: Int) = Task.delay(log += n).as(n * 2)
    assertEquals(Task.sequence((1 to 5).map(logged)).runSync(), Vector(2, 4, 6, 8, 10))
    assertEquals(
      Task.traverse(6 to 8)(n => Task.cede.andThen(logged(n))).runSync(),
      Vector(12, 14, 16)
    )
    assertEquals(Task.foreach(9 to 10)(logged).runSync(), ())
    assertEquals(log.toList, (1 to 10).toList)
    assertEquals(Task.sequence(Nil).runSync(), Nil)
    assertEquals(Task.traverse(List.empty[Int])(logged).runSync(), Nil)

  test("sequence, traverse and foreach start nothing after the first failure"):
    val begun = AtomicInteger()
    def third(n: Int) =
      Task.delay(if begun.incrementAndGet() == 3 then throw Boom() else n)
    val tasks = List[Task[Any]](
      Task.sequence((1 to 10).map(third)),
      Task.traverse(1 to 10)(third),
      Task.foreach(1 to 10)(third)
    )
    for task <- tasks do
      begun.set(0)
      intercept[Boom](task.runSync())
      assertEquals(begun.get, 3)

  test("in a sequence a child that cedes goes on in its place, whatever comes then"):
    val boom = Boom()
    val all = Right((1 to 100).toList)
    val rests = List[(String, Int => Task[Int], Either[Throwable, List[Int]])](
      ("a thunk", n => Task.delay(n), all),
      ("a value", n => Task.pure(n), all),
      ("a second cede", n => Task.cede.as(n), all),
      ("a wait", n => Task.sleep(1.micro).as(n), all),
      ("a fiber", n => Task.delay(n).start.flatMap(_.joinOrFail), all),
      ("an error", n => if n == 50 then Task.fail(boom) else Task.pure(n), Left(boom)),
      ("a throw", n => if n == 50 then throw boom else Task.pure(n), Left(boom)),
      ("a thunk that throws", n => Task.delay(if n == 50 then throw boom else n), Left(boom))
    )
    for (name, rest, result) <- rests do
      val children = List.range(1, 101).map(n => Task.cede.flatMap(_ => rest(n)))
      val sequence = Task.sequence(children).attempt
      val traverse = Task.traverse(1 to 100)(n => Task.cede.flatMap(_ => rest(n))).attempt
      for task <- List(sequence, traverse) do
        assertEquals(task.runSync(), result, s"$name, on the caller's thread")
        assertEquals(task.start.flatMap(_.joinOrFail).runSync(), result, s"$name, on a worker")

  test("in a sequence a cancel comes before what follows a cede"):
    val ran = AtomicInteger()
    val children = List.range(1, 101).map { n =>
      Task.cede
        .flatMap(_ => if n == 50 then Task.canceled else Task.delay(ran.incrementAndGet()).void)
    }
    val outcome = Task.sequence(children).start.flatMap(_.join).runSync()
    assertEquals(outcome, Outcome.Canceled)
    assertEquals(ran.get, 49)
    val masked = Task.uncancelable(_ => Task.sequence(children)).andThen(Task.cede)
    assertEquals(masked.start.flatMap(_.join).runSync(), Outcome.Canceled)
    assertEquals(ran.get, 49 + 99)

  test("in a sequence a cancel that a thunk after a cede swallows ends the fiber"):
    val begun, goOn = java.util.concurrent.CountDownLatch(1)
    val ran = AtomicInteger()
    val swallows = Task.cede.flatMap(_ =>
      Task.delay {
        begun.countDown()
        try goOn.await()
        catch case _: InterruptedException => ()
      }
    )
    val fiber = Task
      .traverse(1 to 2)(n => if n == 1 then swallows else Task.delay(ran.incrementAndGet()).void)
      .start
      .runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)
    assertEquals(ran.get, 0)

  test("the same sequence runs on many fibers at once, each with a result of its own"):
    val task = Task.traverse(1 to 100)(n => Task.cede.as(n))
    val all = Task.parTraverse(1 to 50)(_ => task).runSync()
    assertEquals(all.distinct, Vector(1 to 100))

  test("forever runs again and again until it fails, in constant memory"):
    val runs = AtomicInteger()
    val stop = Boom()
    val task = Task.delay(if runs.incrementAndGet() == 1_000_000 then throw stop)
    assertEquals(task.forever.attempt.runSync(), Left(stop))
    assertEquals(runs.get, 1_000_000)

  test("cede lets another fiber run on one worker"):
    given WeirRuntime = WeirRuntime.make(1, 2)
    val turns = AtomicReference(List.empty[Char])
    def player(name: Char) =
      Task.foreach(1 to 5)(_ => Task(turns.updateAndGet(name :: _)).andThen(Task.cede)).start
    val both = for
      a <- player('a')
      b <- player('b')
      _ <- a.join
      _ <- b.join
    yield ()
    both.start.flatMap(_.joinOrFail).runSync()
    val changes = turns.get.zip(turns.get.tail).count(_ != _)
    assert(changes >= 4, s"turns were ${turns.get}")

  test("monotonic does not go back, and goes on with a sleep; realTime is the time of day"):
    val (before, after) = (
      for
        before <- Task.monotonic
        _ <- Task.sleep(2.millis)
        after <- Task.monotonic
      yield (before, after)
    ).runSync()
    assert(after - before >= 2.millis, s"from $before to $after")
    val gap = java.time.Duration.between(java.time.Instant.now(), Task.realTime.runSync())
    assert(!gap.isNegative && gap.toSeconds < 5, gap.toString)

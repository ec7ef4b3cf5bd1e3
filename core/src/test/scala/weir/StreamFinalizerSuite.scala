package weir

import java.util.concurrent.CountDownLatch

class StreamFinalizerSuite extends StreamTests:

  private val boom = Boom("boom")
  private val endless: Stream[Int] = Stream.unfold(0)(i => Some((i, i + 1)))
  private val fine: Stream[Int] = Stream.emits(List(1, 2, 3))
  private val failing: Stream[Int] = Stream.emits(List(1, 2)) ++ Stream.fail(boom)

  /** Streams with resources, around a source that may fail. */
  private val shapes = List[(String, (Log, Stream[Int]) => Stream[Any])](
    "a bracket" -> ((log, s) => log.resource("a")(s)),
    "a bracket in a bracket" -> ((log, s) => log.resource("a")(log.resource("b")(s))),
    "the inner stream of a flatMap" -> ((log, s) =>
      log.resource("a")(fine).flatMap(_ => log.resource("b")(s))
    ),
    "++" -> ((log, s) => log.resource("a")(fine) ++ log.resource("b")(s)),
    "both sides of ++, inside of a bracket" -> ((log, s) =>
      log.resource("o")(log.resource("a")(s) ++ log.resource("b")(s) ++ log.resource("c")(s))
    ),
    "zip" -> ((log, s) => log.resource("a")(endless).zip(log.resource("b")(s))),
    "zip in zip" -> ((log, s) =>
      log.resource("a")(endless).zip(log.resource("b")(endless).zip(log.resource("c")(s)))
    ),
    "handleErrorWith" -> ((log, s) =>
      log.resource("a")(failing).handleErrorWith(_ => log.resource("b")(s))
    ),
    "a source that handleErrorWith has not to handle" -> ((log, s) =>
      log.resource("a")(s).handleErrorWith(e => log.resource("b")(Stream.fail(e)))
    ),
    "take and chunkN after each other" -> ((log, s) =>
      log.resource("a")(log.resource("b")(s).chunkN(2).flatMap(Stream.fromIterable).take(2))
    )
  )

  private def stop(stream: Stream[Any], hold: CountDownLatch => Task[Any]): Unit =
    val reached = CountDownLatch(1)
    val fiber = stream.evalTap(_ => hold(reached)).drain.start.runSync()
    await(reached)
    fiber.cancel.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  private val ends = List[(String, Stream[Any] => Unit)](
    "it ends" -> (_.drain.attempt.runSync(): Unit),
    "take(1)" -> (_.take(1).drain.runSync()),
    "take(4)" -> (_.take(4).drain.attempt.runSync(): Unit),
    "an error downstream" -> (s =>
      assertEquals(s.evalMap(_ => Task.fail(boom)).drain.attempt.runSync(), Left(boom))
    ),
    "a function downstream that throws" -> (s =>
      assertEquals(s.map(_ => throw boom).drain.attempt.runSync(), Left(boom))
    ),
    "a cancel" -> (stop(_, reached => Task(reached.countDown()).andThen(Task.never))),
    "a cancel while it blocks" ->
      (stop(_, reached => Task { reached.countDown(); Thread.sleep(3_600_000) }))
  )

  for (shape, make) <- shapes; (end, run) <- ends do
    test(s"finalizers run once, the last one first: $shape, $end"):
      for source <- List(fine, failing) do
        val log = Log()
        run(make(log, source))
        assert(log.lines.nonEmpty)
        log.assertNested(if source eq fine then "fine source" else "failing source")

  test("a zip whose left side ends releases both sides once"):
    val log = Log()
    log.resource("a")(fine).zip(log.resource("b")(endless)).drain.runSync()
    assertEquals(log.lines.sorted, List("+a", "+b", "-a", "-b"))

  test("a finalizer runs as soon as its stream is over: before the next of ++, and of flatMap"):
    val log = Log()
    val parts = log.resource("a")(Stream.emit(1)) ++ log.resource("b")(Stream.emit(2))
    parts.evalTap(i => log(s"use $i")).drain.runSync()
    assertEquals(log.lines, List("+a", "use 1", "-a", "+b", "use 2", "-b"))
    val inner = Log()
    Stream.emits(List("a", "b")).flatMap(n => inner.resource(n)(Stream.emit(n))).drain.runSync()
    assertEquals(inner.lines, List("+a", "-a", "+b", "-b"))

  test("the finalizers of a stream that fails run before the handler's stream starts"):
    val log = Log()
    log.resource("a")(failing).handleErrorWith(_ => log.resource("b")(fine)).drain.runSync()
    assertEquals(log.lines, List("+a", "-a", "+b", "-b"))

  test(
    "onFinalize runs once however it ends, also where nothing was asked of the stream's elements"
  ):
    for (stream, expected) <- List[(Stream[Int], List[String])](
        (fine, List("1", "2")),
        (Stream.empty, List("1", "2")),
        (failing, List("1", "2")),
        (Stream.fail(boom), List("1", "2"))
      )
    do
      val log = Log()
      stream.onFinalize(log("1")).onFinalize(log("2")).drain.attempt.runSync(): Unit
      assertEquals(log.lines, expected)

  /** All errors under this one, near or far. */
  private def suppressed(error: Throwable): List[Throwable] =
    error.getSuppressed.toList.flatMap(e => e :: suppressed(e))

  test("a finalizer's error is suppressed under the first, and thrown if it is the first"):
    val first, second, third = Boom()
    val both = Stream.fail(first).onFinalize(Task.fail(second)).onFinalize(Task.fail(third))
    assertEquals(both.drain.attempt.runSync(), Left(first))
    assertEquals(suppressed(first), List(second, third))
    val fourth, fifth = Boom()
    val ends = fine.onFinalize(Task.fail(fourth)).onFinalize(Task.fail(fifth))
    assertEquals(ends.drain.attempt.runSync(), Left(fourth))
    assertEquals(suppressed(fourth), List(fifth))

  test("a finalizer that fails does not keep the others from running: take, error, cancel"):
    for (end, run) <- ends if end != "take(1)" do
      val log = Log()
      val error = Boom()
      run(log.resource("a")(log.resource("b")(fine).onFinalize(Task.fail(error)))).attempt
      log.assertNested(end)

  extension (unit: => Unit)
    private def attempt: Unit =
      try unit
      catch case _: Throwable => ()

  test("take(1) of a stream whose finalizer fails, fails"):
    val error = Boom()
    assertEquals(fine.onFinalize(Task.fail(error)).take(1).drain.attempt.runSync(), Left(error))

  test("a cancel during acquire waits for it, and then releases"):
    val log = Log()
    val reached, gate = CountDownLatch(1)
    val acquire = Task { reached.countDown(); gate.await() }.andThen(log("+a"))
    val fiber =
      Stream.bracket(acquire)(_ => log("-a")).evalTap(_ => log("use")).drain.start.runSync()
    await(reached)
    val cancel = canceling(fiber)
    gate.countDown()
    cancel.joinOrFail.runSync()
    assertEquals(log.lines, List("+a", "-a"))

  test("a failed acquire has nothing to release, and what is around it is released"):
    val log = Log()
    val inner = Stream.bracket(Task.fail(boom))(_ => log("wrong")).flatMap(_ => fine)
    assertEquals(log.resource("a")(inner).drain.attempt.runSync(), Left(boom))
    assertEquals(log.lines, List("+a", "-a"))

  test("finalizers are masked: a cancel while one runs lets it end, and the others run"):
    val log = Log()
    val reached, gate = CountDownLatch(1)
    val slow = Task { reached.countDown(); gate.await() }.andThen(Task.cede).andThen(log("slow"))
    val fiber = log.resource("a")(fine.onFinalize(slow)).drain.start.runSync()
    await(reached)
    val cancel = canceling(fiber)
    gate.countDown()
    cancel.joinOrFail.runSync()
    assertEquals(log.lines, List("+a", "slow", "-a"))

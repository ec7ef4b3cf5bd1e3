package weir
package stream

import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.testkit.TestRuntime

class ParJoinSuite extends StreamTests:
  override def limit: FiniteDuration =
    30.seconds // twenty thousand streams in the test runtime, on a busy machine

  private val endless: Stream[Int] = Stream.unfold(0)(i => Some((i, i + 1)))

  test("all elements come, those of each inner stream in its order"):
    for n <- List(1, 2, 7, 100) do
      val inner = (k: Int) =>
        Stream.emits(0 until 50).evalTap(i => if (i + k) % 3 == 0 then Task.cede else Task.unit)
      val stream = Stream.emits(0 until 20).map(k => inner(k).map(i => (k, i))).parJoin(n)
      val result = stream.toList.runSync()
      assertEquals(result.size, 1000)
      for k <- 0 until 20 do assertEquals(result.collect { case (`k`, i) => i }, List.range(0, 50))

  test("of one at a time, it is flatMap"):
    val stream = Stream.emits(1 to 100).map(k => Stream.emits(1 to k).evalTap(_ => Task.cede))
    assertEquals(stream.parJoin(1).toList.runSync(), stream.flatMap(identity).toList.runSync())

  test("no inner streams, and empty ones"):
    assertEquals(Stream.emits(List.empty[Stream[Int]]).parJoin(3).toList.runSync(), Nil)
    assertEquals(Stream.emits(1 to 1000).map(_ => Stream.empty).parJoin(3).toList.runSync(), Nil)

  for n <- List(1, 2, 16, 64, 1000); blocking <- List(false, true) do
    test(s"$n inner streams are open, never more${
        if blocking then ", with effects that block" else ""
      }"):
      val crowd = Crowd(n)
      val inner = Stream
        .bracket(crowd.enter)(_ => Task.cede.andThen(crowd.leave))
        .flatMap(_ => Stream.eval(crowd.wait(blocking)))
      Stream.emits(0 until 2 * n + 1).map(_ => inner).parJoin(n).drain.runSync()
      assertEquals((crowd.peak, crowd.now), (n, 0))

  test("a consumer that waits bounds how far the source and the inner streams run"):
    val made, ran = AtomicInteger()
    val inner = Stream.repeatEval(Task(ran.incrementAndGet()))
    val stream = Stream.repeatEval(Task(made.incrementAndGet())).map(_ => inner).parJoin(3)
    val fiber = stream.evalMap(_ => Task.never).drain.start.runSync()
    val count = steady(3)(made.get + ran.get)
    assert(made.get <= 4, s"${made.get} inner streams made")
    // The buffer's 64, one in each hand, and the streams themselves.
    assert(count <= 64 + 1 + 3 + 4, s"${ran.get} effects ran")
    fiber.cancel.runSync()

  private def waits = List(Task.never, Task(Thread.sleep(3_600_000)), Task.cede.forever)

  for where <- List("an inner stream", "the source") do
    test(s"an error of $where cancels the others, and is the one thrown after their finalizers"):
      for wait <- waits do
        val boom = Boom()
        val begun = CountDownLatch(3)
        val released = AtomicInteger()
        val inner = Stream
          .bracket(Task(begun.countDown()))(_ => Task(released.incrementAndGet()).void)
          .evalMap(_ => wait.as(1))
        val error = Task(begun.await()).andThen(Task.fail(boom))
        val last: Stream[Stream[Int]] =
          if where == "the source" then Stream.eval(error) else Stream.emit(Stream.eval(error))
        val stream = (Stream.emits(List(inner, inner, inner)) ++ last).parJoin(4)
        val result = stream.drain.attempt.map(result => (result, released.get)).runSync()
        assertEquals(result, (Left(boom), 3))
        assertEquals(boom.getSuppressed.toList, Nil)

  test("an error comes after the elements of its own inner stream before it"):
    val boom = Boom()
    val inner = Stream.emits(1 to 20) ++ Stream.fail(boom)
    assertEquals(seen(Stream.emit(inner).parJoin(2)).runSync(), (1 to 20).toList :+ boom)

  test("the source's resource is released after those of the inner streams, each once"):
    for take <- List(1, 5, 1000); _ <- 1 to 20 do
      val log = ConcurrentLinkedQueue[String]()
      def resource[A](name: String)(body: Stream[A]) =
        Stream
          .bracket(Task(log.add(s"+$name")))(_ => Task(log.add(s"-$name")).void)
          .flatMap(_ => body)
      val inner = (k: Int) => resource(s"inner $k")(Stream.emits(1 to 10).evalTap(_ => Task.cede))
      resource("source")(Stream.emits(1 to 6).map(inner)).parJoin(3).take(take).drain.runSync()
      val lines = log.asScala.toList
      assertEquals((lines.head, lines.last), ("+source", "-source"))
      for (name, both) <- lines.groupBy(_.drop(1)) do assertEquals(both, List(s"+$name", s"-$name"))

  for (name, sources) <- List[(String, (Stream[Int], Stream[Int]) => Stream[Stream[Int]])](
      "a later one" -> ((holder, waiting) => Stream.emits(List(holder, waiting))),
      "an earlier one" -> ((holder, waiting) => Stream.emits(List(waiting, holder))),
      "the outer stream" -> ((holder, waiting) => Stream.emit(holder) ++ waiting.map(Stream.emit)),
      "a producer in an earlier one" -> ((holder, waiting) =>
        Stream.emits(List(waiting.prefetchN(1), holder))
      ),
      "one in a merge in an earlier one" -> ((holder, waiting) =>
        Stream.emits(List(waiting.merge(Stream.never), holder))
      )
    )
  do
    test(s"what the finalizer of an inner stream gives back ends the masked wait of $name"):
      val taken = Task.direct {
        val items = Queue.bounded[Int](1).await
        val held = Deferred[Unit].await
        items.offer(1).await
        val item = Stream.bracket(items.take)(items.offer)
        val sleep = held.complete(()).andThen(Task.sleep(1.minute))
        val holder = item.flatMap(i => Stream.eval(sleep.as(i)) ++ Stream.eval(Task.never))
        val waiting = Stream.eval(held.get).flatMap(_ => item)
        sources(holder, waiting).parJoin(3).take(1).toList.await
      }
      assertEquals(TestRuntime.run(taken), List(1))

  test(
    "twenty thousand open inner streams are closed, each once, whatever its finalizer throws"
  ):
    val open, closed = AtomicInteger()
    val boom = Boom()
    val inner = (i: Int) =>
      Stream
        .bracket(Task(open.incrementAndGet()))(_ =>
          Task(closed.incrementAndGet()).andThen(if i == 7 then Task.fail(boom) else Task.unit)
        )
        .flatMap(_ => Stream.eval(Task.never))
    val last = Stream.eval(Task.sleep(1.minute)).map(_ => Stream.emit(1))
    val many = Tier(5_000, 20_000)
    val stream = (Stream.emits(1 to many).map(inner) ++ last).parJoin(Int.MaxValue)
    assertEquals(TestRuntime.run(stream.take(1).drain.attempt), Left(boom))
    assertEquals((open.get, closed.get), (many, many))

  test("while inner streams are being closed, no further one is begun"):
    for _ <- 1 to 20 do
      val asked, closing, made = CountDownLatch(1)
      val begun, finalized = AtomicInteger()
      val open = Stream
        .bracket(Task.unit)(_ => Task(closing.countDown()).andThen(Task(made.await())))
        .flatMap(_ => Stream.eval(Task(asked.await()).as(1)) ++ Stream.eval(Task.never))
      val outer = Stream.emits(1 to 2).map {
        case 1 => open
        case _ =>
          asked.countDown()
          while closing.getCount > 0 do Thread.onSpinWait() // an interrupt would end any other wait
          made.countDown()
          Stream
            .eval(Task(begun.incrementAndGet()).andThen(Task.never))
            .onFinalize(Task(finalized.incrementAndGet()).void)
      }
      assertEquals(outer.parJoin(3).take(1).toList.runSync(), List(1))
      assertEquals((begun.get, finalized.get), (0, 1))

  test("a finalizer of an inner stream that cancels itself cancels the consumer, as in any stream"):
    val canceling = Stream
      .bracket(Task.unit)(_ => Task.canceled)
      .flatMap(_ => Stream.emit(1) ++ Stream.eval(Task.never))
    for stream <- List(canceling, Stream.emit(canceling).parJoin(1)) do
      val ended = stream.take(1).drain.andThen(Task.cede).start.flatMap(_.join).runSync()
      assertEquals(ended, Outcome.Canceled)

  test("the error of a finalizer that has cancelled itself before is not lost, as in any stream"):
    val boom = Boom()
    val bad = Stream
      .bracket(Task.unit)(_ => Task.canceled.andThen(Task.fail(boom)))
      .flatMap(_ => Stream.emit(1) ++ Stream.eval(Task.never))
    for stream <- List(bad, Stream.emit(bad).parJoin(1)) do
      var seen: Either[Throwable, Unit] | Null = null
      val masked = Task.uncancelable(_ => stream.take(1).drain.attempt.map(result => seen = result))
      masked.start.flatMap(_.join).runSync(): Unit
      assertEquals(seen, Left(boom))

  test("it nests in itself"):
    def tree(depth: Int): Stream[Int] =
      if depth == 0 then Stream.eval(Task.cede.as(1))
      else Stream.emits(1 to 4).map(_ => tree(depth - 1)).parJoin(2)
    assertEquals(tree(5).count.runSync(), 1024L)

  test("very many inner streams leave nothing behind"):
    val many = Tier(20_000L, 50_000L)
    val stream = endless.map(Stream.emit).parJoin(4).take(many)
    val grown = growth(assertEquals(stream.count.runSync(), many))
    assert(grown < megabyte, s"grew by $grown bytes")

  test("a limit and a buffer of any size are no more than their names say"):
    val inner = Stream.emits(1 to 10)
    assertEquals(
      Stream.emits(1 to 100).map(_ => inner).parJoin(Int.MaxValue).count.runSync(),
      1000L
    )
    val mapped = Stream.emits(1 to 100).parEvalMap(4, buffer = Int.MaxValue)(Task.pure)
    assertEquals(mapped.toList.runSync(), (1 to 100).toList)

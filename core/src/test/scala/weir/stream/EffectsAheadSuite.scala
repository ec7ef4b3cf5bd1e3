package weir
package stream

import java.nio.file.{Files, StandardOpenOption}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.testkit.TestRuntime

/** The number of effects that may have run ahead of the consumer: the table of docs/streams.md,
  * line by line.
  */
class EffectsAheadSuite extends StreamTests:
  override def limit: FiniteDuration = 30.seconds

  /** A form of running ahead, and the largest number of elements that it may be ahead of the one in
    * use.
    */
  private final case class Form(name: String, most: Int, make: Stream[Int] => Stream[Int])

  private val forms = List(
    Form("no prefetch", 0, identity),
    Form("direct", 0, s => Stream.direct(emit => for i <- s do emit(i))),
    Form("prefetchStrict", 1, _.prefetchStrict),
    Form("prefetchN(1)", 2, _.prefetchN(1)),
    Form("prefetchN(2)", 3, _.prefetchN(2)),
    Form("prefetchN(8)", 9, _.prefetchN(8)),
    Form("prefetchBytes(1), elements larger than that", 2, _.prefetchBytes(1)(_ => 1000)),
    Form("prefetchBytes(100), elements of 40", 3, _.prefetchBytes(100)(_ => 40)),
    Form("prefetchBytes(100), elements of 100", 2, _.prefetchBytes(100)(_ => 100)),
    Form("prefetchBytes(5), elements of nothing", 6, _.prefetchBytes(5)(_ => 0))
  )

  private def launches(count: AtomicInteger): Stream[Int] =
    Stream.repeatEval(Task(count.incrementAndGet()))

  for form <- forms do
    test(s"${form.name}: ${form.most} ahead of the first element, and never more"):
      val runtime = TestRuntime(carriers = 1, mayLeak = true)
      val launched, used = AtomicInteger()
      val next = Queue.unsafe[Unit](1)
      val consumer =
        form.make(launches(launched)).evalMap(i => Task(used.set(i)).andThen(next.take)).drain
      val started = runtime.start(consumer)
      for k <- 1 to 30 do
        runtime.awaitQuiet()
        assertEquals(used.get, k)
        val ahead = launched.get - k
        if k == 1 then assertEquals(ahead, form.most)
        assert(ahead <= form.most, s"$ahead ahead of element $k")
        runtime.run(next.offer(()))
      runtime.run(started.fiber.cancel)
      runtime.close()

  for form <- forms.tail do
    test(s"${form.name}: nothing before the first element is asked for, nor for take(0)"):
      val launched = AtomicInteger()
      val stream = form.make(launches(launched))
      assertEquals(TestRuntime.run(stream.take(0).toList), Nil)
      assertEquals(launched.get, 0)

  /** Stages that learn from downstream how many elements it will ask for, with the number that they
    * ask for under take(2).
    */
  private val knowing = List[(String, Int, Stream[Int] => Stream[Any])](
    ("nothing", 2, identity),
    ("map", 2, _.map(-_)),
    ("evalMap", 2, _.evalMap(i => Task.cede.as(i))),
    ("evalTap", 2, _.evalTap(_ => Task.cede)),
    ("takeWhile", 2, _.takeWhile(_ => true)),
    ("a longer take", 2, _.take(7)),
    ("drop", 5, _.drop(3)),
    ("delayBy", 2, _.delayBy(1.milli)),
    ("mapWithResource", 2, _.mapWithResource(Resource.pure(1))(_ + _)),
    ("scan", 1, _.scan(0)(_ + _)),
    ("chunkN", 6, _.chunkN(3)),
    ("zip", 2, _.zip(Stream.emits(1 to 9))),
    ("zipAll", 2, _.zipAll(Stream.emits(1 to 9))(0, 0)),
    ("zip on its right", 2, Stream.emits(1 to 9).zip(_)),
    ("onFinalize", 2, _.onFinalize(Task.unit)),
    ("handleErrorWith", 2, _.handleErrorWith(Stream.fail)),
    ("an error handled", 2, s => Stream.fail(Boom()).handleErrorWith(_ => s)),
    (
      "an error handled half-way",
      1,
      s => (Stream.emit(0) ++ Stream.fail(Boom())).handleErrorWith(_ => s)
    ),
    ("++", 2, _ ++ Stream.emit(0)),
    ("++ before it", 1, Stream.emit(0) ++ _),
    ("a resource", 2, s => Stream.resource(Resource.unit).flatMap(_ => s)),
    ("flatMap", 1, s => Stream.emits(1 to 9).flatMap(i => if i == 1 then Stream.emit(i) else s)),
    ("prefetchN", 2, _.prefetchN(3)),
    ("prefetchBytes", 2, _.prefetchBytes(3)(_ => 1)),
    ("prefetchStrict", 2, _.prefetchStrict)
  )

  for form <- forms; (stage, expected, make) <- knowing do
    test(
      s"take 2 of a stream that launches missiles, ${form.name}, then $stage: $expected launched"
    ):
      TestRuntime.forAllSeeds(5) {
        val launched = AtomicInteger()
        make(form.make(launches(launched))).take(2).count.map { count =>
          assertEquals((count, launched.get), (2L, expected))
        }
      }

  test("a take that does not know is at most as far ahead as the table says"):
    for form <- forms; _ <- 1 to 20 do
      val launched = AtomicInteger()
      val some = form.make(launches(launched)).filter(_ > 1).take(2).toList.runSync()
      assertEquals(some, List(2, 3))
      val count = launched.get
      assert(count >= 3 && count <= 3 + form.most, s"$count launched: $form")

  test("all of several candidates begin, where the first to end is wanted"):
    val candidates = Stream.emits(1 to 3).prefetchN(1)
    val first = candidates.parEvalMapUnordered(3)(i => Task.sleep((4 - i).seconds).as(i)).take(1)
    assertEquals(TestRuntime.timed(first.toList), (1.second, List(3)))

  for form <- forms do
    test(s"${form.name}: producer and consumer append to one file, each line where it may be"):
      val file = Files.createTempFile("weir", ".log")
      def append(line: String): Task[Unit] =
        Task(Files.writeString(file, s"$line\n", StandardOpenOption.APPEND)).void
      try
        val source = Stream.emits(1 to 200).evalTap(i => append(s"p$i"))
        val consumer =
          form
            .make(source)
            .evalTap(i => append(s"c$i").andThen(if i % 3 == 0 then Task.cede else Task.unit))
        consumer.drain.runSync()
        val counts = Files
          .readString(file)
          .linesIterator
          .scanLeft((0, 0)) {
            case ((p, c), s"p$i") =>
              assertEquals(i.toInt, p + 1)
              (p + 1, c)
            case ((p, c), line) =>
              assertEquals(line, s"c${c + 1}")
              (p, c + 1)
          }
          .toList
        assertEquals(counts.last, (200, 200))
        // The consumer may have taken one that it has not yet written.
        for (p, c) <- counts do
          assert(p >= c && p - c <= form.most + 1, s"$p produced, $c consumed")
      finally Files.delete(file)

  for form <- forms.filter(_.most > 0) do
    test(s"${form.name}: delays upstream are kept, and overlap with those downstream"):
      val source = Stream.emits(1 to 5).evalTap(_ => Task.sleep(1.hour))
      assertEquals(TestRuntime.timed(form.make(source).toList), (5.hours, (1 to 5).toList))
      val downstream = form.make(source).evalTap(_ => Task.sleep(1.hour))
      assertEquals(TestRuntime.timed(downstream.toList), (6.hours, (1 to 5).toList))
      val free = form.make(Stream.emits(1 to 5)).evalTap(_ => Task.sleep(1.hour))
      assertEquals(TestRuntime.timed(free.toList), (5.hours, (1 to 5).toList))

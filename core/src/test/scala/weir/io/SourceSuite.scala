package weir.io

import java.io.{BufferedReader, IOException}
import java.nio.file.Files
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import scala.jdk.CollectionConverters.*
import weir.{Heap, Outcome, Stream, StreamTests, Task, Tier}

class SourceSuite extends StreamTests:

  /** The numbers from 1 to `last`. Counts its uses. */
  private final class Numbers(last: Int):
    val opened, asked, closed = AtomicInteger()

    def stream: Stream[Int] = Stream.fromSource(Task {
      opened.incrementAndGet(): Unit
      new Source[Int]:
        private var number = 0
        def next()(using Task.Direct): Int | Source.End =
          asked.incrementAndGet(): Unit
          number += 1
          if number > last then Source.End else number
        override def close()(using Task.Direct): Unit = closed.incrementAndGet(): Unit
    })

    def counts: (Int, Int) = (opened.get, closed.get)

  /** A source of `next`, with the number of times that it was closed. */
  private final class Closed[A](next: Task.Direct ?=> A | Source.End):
    val times = AtomicInteger()
    def source: Source[A] =
      def element(using Task.Direct): A | Source.End = next
      new Source[A]:
        def next()(using Task.Direct): A | Source.End = element
        override def close()(using Task.Direct): Unit = times.incrementAndGet(): Unit
    val stream: Stream[A] = Stream.fromSource(Task(source))

  test("the elements up to the end, after which next is not called again"):
    val numbers = Numbers(3)
    assertEquals(numbers.stream.toList.runSync(), List(1, 2, 3))
    assertEquals((numbers.counts, numbers.asked.get), ((1, 1), 4))
    assertEquals(numbers.stream.prefetchN(8).toList.runSync(), List(1, 2, 3))
    assertEquals((numbers.counts, numbers.asked.get), ((2, 2), 8))

  test("a source without elements, and null as an element"):
    assertEquals(Numbers(0).stream.toList.runSync(), Nil)
    val line = Array[String | Null](null, "a", null).iterator
    val closed = Closed[String | Null](if line.hasNext then line.next() else Source.End)
    assertEquals(closed.stream.toList.runSync(), List(null, "a", null))

  test("the lines of a reader, as the documentation has it"):
    final class Lines(reader: BufferedReader) extends Source[String]:
      def next()(using Task.Direct): String | Source.End =
        val line = reader.readLine()
        if line == null then Source.End else line
      override def close()(using Task.Direct): Unit = reader.close()

    val path = Files.createTempFile("weir", ".txt")
    try
      Files.write(path, List("a", "b").asJava): Unit
      val lines = Stream.fromSource(Task(Lines(Files.newBufferedReader(path))))
      assertEquals(lines.toList.runSync(), List("a", "b"))
    finally Files.delete(path)

  test("it is opened each time the stream runs, and closed once however the stream ends"):
    val boom = Boom()
    val numbers = Numbers(100)
    val stream = numbers.stream
    assertEquals(numbers.opened.get, 0)
    val ends = List[Task[Any]](
      stream.drain,
      stream.take(1).drain,
      stream.takeWhile(_ < 3).drain,
      stream.prefetchN(2).takeWhile(_ < 3).drain,
      stream.prefetchStrict.take(2).drain,
      stream.parEvalMap(2)(Task.pure).take(2).drain,
      stream.merge(Stream.never).take(2).drain,
      stream.evalMap(_ => Task.fail(boom)).drain.attempt,
      stream.evalMap(_ => Task.canceled).drain.start.flatMap(_.join),
      stream.zip(Stream.emit(1)).drain,
      (stream ++ Stream.fail(boom)).drain.attempt,
      Task.direct { for n <- stream do if n == 2 then throw boom }.attempt
    )
    for (end, i) <- ends.zipWithIndex do
      end.runSync(): Unit
      assertEquals(numbers.counts, (i + 1, i + 1))
    stream.take(0).drain.runSync()
    assertEquals(numbers.opened.get, ends.size)

  test("an error of open is that of the stream, and nothing is closed or asked"):
    val boom = Boom()
    val stream = Stream.fromSource(Task.fail(boom))
    assertEquals(stream.drain.attempt.runSync(), Left(boom))
    assertEquals(stream.recover { case _: Boom => 1 }.toList.runSync(), List(1))

  for awaited <- List(false, true) do
    test(s"an error of next${if awaited then ", awaited," else ""} comes after the elements"):
      val boom = Boom()
      def closed =
        var number = 0
        Closed[Int] {
          number += 1
          if number < 3 then number else if awaited then Task.fail(boom).await else throw boom
        }
      for shape <- List[Stream[Int] => Stream[Int]](identity, _.prefetchN(4), _.prefetchStrict) do
        val one = closed
        assertEquals(seen(shape(one.stream)).runSync(), List(1, 2, boom))
        assertEquals(one.times.get, 1)

  test("an error of close is that of the stream, or is suppressed under the one of next"):
    val boom = Boom()
    val later = IOException("close")
    def source(element: => Int | Source.End): Stream[Int] = Stream.fromSource(Task {
      new Source[Int]:
        def next()(using Task.Direct): Int | Source.End = element
        override def close()(using Task.Direct): Unit = throw later
    })
    assertEquals(source(Source.End).drain.attempt.runSync(), Left(later))
    assertEquals(source(1).take(1).drain.attempt.runSync(), Left(later))
    assertEquals(source(throw boom).drain.attempt.runSync(), Left(boom))
    assertEquals(boom.getSuppressed.toList, List[Throwable](later))

  test("open, next and close may await"):
    val log = Log()
    val stream = Stream.fromSource(
      log("open").map(_ =>
        new Source[Int]:
          private var number = 0
          def next()(using Task.Direct): Int | Source.End =
            Task.cede.await
            number += 1
            if number > 3 then Source.End else Task(number).await
          override def close()(using Task.Direct): Unit =
            Task.cede.await
            log("close").await
      )
    )
    assertEquals(stream.toList.runSync(), List(1, 2, 3))
    assertEquals(stream.parEvalMap(2)(n => Task.cede.as(n)).toList.runSync(), List(1, 2, 3))
    assertEquals(stream.prefetchN(1).toList.runSync(), List(1, 2, 3))
    assertEquals(log.lines, List.fill(3)(List("open", "close")).flatten)

  test("cancelled before: nothing is opened"):
    val numbers = Numbers(1)
    val canceled = Task.canceled.andThen(numbers.stream.drain).start.flatMap(_.join)
    assertEquals(canceled.runSync(), Outcome.Canceled)
    assertEquals(numbers.counts, (0, 0))

  test("cancelled while it opens: once open it is closed, and not asked"):
    val begun, goOn = CountDownLatch(1)
    val closed = Closed[Int](fail("It was asked for an element."))
    val open = Task(begun.countDown()).andThen(Task.uninterruptible(goOn.await()))
    val fiber = Stream.fromSource(open.as(closed.source)).drain.start.runSync()
    await(begun)
    val canceling = startCancel(fiber)
    goOn.countDown()
    canceling.join.runSync(): Unit
    assertEquals(fiber.join.runSync(), Outcome.Canceled)
    assertEquals(closed.times.get, 1)

  private val waits = List[(String, Task.Direct ?=> Unit)](
    ("blocks", CountDownLatch(1).await()),
    ("awaits", Task.never.await),
    (
      "wraps the interrupt",
      try CountDownLatch(1).await()
      catch case error: InterruptedException => throw IOException("The read has failed.", error)
    )
  )

  for (how, waiting) <- waits; ahead <- List(false, true) do
    test(s"cancelled while next $how${if ahead then ", on a producer" else ""}: it is closed"):
      val begun = CountDownLatch(1)
      val closed = Closed[Int] {
        begun.countDown()
        waiting
        1
      }
      val handled = AtomicInteger()
      val stream = closed.stream.handleErrorWith { error =>
        handled.incrementAndGet(): Unit
        Stream.fail(error)
      }
      val fiber = (if ahead then stream.prefetchN(1) else stream).drain.start.runSync()
      await(begun)
      fiber.cancel.runSync()
      assertEquals(fiber.join.runSync(), Outcome.Canceled)
      assertEquals((closed.times.get, handled.get), (1, 0))

  test("cancelled while next swallows the interrupt: the stream ends all the same"):
    val begun = CountDownLatch(1)
    val closed = Closed[Int] {
      begun.countDown()
      try CountDownLatch(1).await()
      catch case _: InterruptedException => ()
      1
    }
    val fiber = closed.stream.drain.start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)
    assertEquals(closed.times.get, 1)

  test("cancelled between elements of a source that never waits"):
    val begun = CountDownLatch(1)
    val closed = Closed[Int] {
      begun.countDown()
      1
    }
    val fiber = closed.stream.drain.start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals(closed.times.get, 1)

  test("cancelled after its end: no effect"):
    val numbers = Numbers(2)
    val fiber = numbers.stream.toList.start.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Succeeded(List(1, 2)))
    fiber.cancel.runSync()
    assertEquals(numbers.counts, (1, 1))

  test("the right to await does not outlive the call that it was given to"):
    var kept: Option[Task.Direct] = None
    val closed = Closed[Int] {
      kept = Some(summon[Task.Direct])
      1
    }
    val use = closed.stream.take(1).map(_ => Task.unit.await(using kept.get)).drain
    intercept[IllegalStateException](use.runSync()): Unit
    assertEquals(closed.times.get, 1)

  test("millions of elements keep no memory"):
    val before = Heap.used()
    var most = 0L
    val many = Tier(3_000_000, 10_000_000)
    val stream = Numbers(many).stream.map { n =>
      if n % (many / 2) == 0 then most = math.max(most, Heap.used() - before)
      n
    }
    assertEquals(stream.count.runSync(), many.toLong)
    assert(most < 4 * megabyte, s"$most bytes more")

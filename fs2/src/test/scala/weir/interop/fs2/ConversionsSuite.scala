package weir.interop.fs2

import _root_.cats.effect.kernel.Resource.ExitCase
import _root_.fs2.{Chunk, Stream as Fs2Stream}
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.interop.cats.given
import weir.{Outcome, Stream, Task, WeirSuite}

/** Streams to and from fs2's: elements, errors, cancels, finalizers, chunks; and there and back. */
class ConversionsSuite extends WeirSuite:
  override def limit: FiniteDuration = 30.seconds

  /** A stream of either library, and how its finalizer was called. */
  private final class Log:
    private val all = ConcurrentLinkedQueue[String]()
    def outcomes: List[String] = all.asScala.toList

    def weirs(elements: Stream[Int]): Stream[Int] = elements.onFinalizeCase {
      case Outcome.Succeeded(_) => say("succeeded")
      case Outcome.Failed(error) => say(s"failed: ${error.getMessage}")
      case Outcome.Canceled => say("canceled")
    }

    def fs2s(elements: Fs2Stream[Task, Int]): Fs2Stream[Task, Int] = Fs2Stream
      .bracketCase(Task.unit) {
        case (_, ExitCase.Succeeded) => say("succeeded")
        case (_, ExitCase.Errored(error)) => say(s"failed: ${error.getMessage}")
        case (_, ExitCase.Canceled) => say("canceled")
      }
      .flatMap(_ => elements)

    private def say(outcome: String): Task[Unit] = Task(all.add(outcome)).void

  private val elements = (1 to 1000).toList

  /** A way from a source of `elements`, then of `rest`, to a stream of Weir's. */
  private val ways = List[(String, (Log, Stream[Int]) => Stream[Int])](
    "from fs2" -> ((log, rest) =>
      log.fs2s(Fs2Stream.emits(elements).covary[Task] ++ rest.toFs2).toWeir
    ),
    "to fs2 and back" -> ((log, rest) => log.weirs(Stream.emits(elements) ++ rest).toFs2.toWeir),
    "from fs2, one by one" -> ((log, rest) =>
      log.fs2s(Fs2Stream.emits(elements).covary[Task].evalMap(Task.pure) ++ rest.toFs2).toWeir
    )
  )

  for (name, way) <- ways do
    test(s"$name: all elements, in order, and each run anew"):
      val log = Log()
      val stream = way(log, Stream.empty)
      assertEquals(stream.toList.runSync(), elements)
      assertEquals(stream.toList.runSync(), elements)
      assertEquals(log.outcomes, List("succeeded", "succeeded"))

    test(s"$name: an error comes after the elements before it, and as it is"):
      val log = Log()
      val boom = Boom()
      val seen = way(log, Stream.fail(boom)).attempt.toList.runSync()
      assertEquals(seen, elements.map(Right(_)) :+ Left(boom))
      assertEquals(log.outcomes, List("failed: boom"))

    test(s"$name: not consumed to the end, it is over as a success"):
      for count <- List(0, 1, 999, 1000) do
        val log = Log()
        val taken = way(log, Stream.never).take(count).toList.runSync()
        assertEquals(taken, elements.take(count))
        assertEquals(log.outcomes, if count == 0 then Nil else List("succeeded"), count)

    test(s"$name: an error downstream is what its finalizers are told"):
      val log = Log()
      val boom = Boom("below")
      val failing = way(log, Stream.never).evalMap(n => Task.raiseWhen(n == 7)(boom))
      assertEquals(failing.drain.attempt.runSync(), Left(boom))
      assertEquals(log.outcomes, List("failed: below"))

    test(s"$name: a cancel while it waits, or works, ends it once"):
      for downstream <- List(false, true) do
        val log = Log()
        val begun = CountDownLatch(1)
        val rest = Stream.exec(Task(begun.countDown())) ++ Stream.never
        val waits =
          if downstream then
            way(log, Stream.empty).evalMap(_ => Task(begun.countDown()).flatMap(_ => Task.never))
          else way(log, rest)
        val fiber = waits.drain.start.runSync()
        await(begun)
        fiber.cancel.runSync()
        assertEquals(fiber.join.runSync(), Outcome.Canceled)
        assertEquals(log.outcomes, List("canceled"))

  test("to fs2: all elements; ready ones in chunks of 256; each run anew"):
    val log = Log()
    val there = log.weirs(Stream.emits(elements)).toFs2
    assertEquals(there.compile.toList.runSync(), elements)
    assertEquals(there.chunks.map(_.size).compile.toList.runSync(), List(256, 256, 256, 232))
    assertEquals(log.outcomes, List("succeeded", "succeeded"))

  test("to fs2: an error, an error below, a cancel, an early end"):
    val log = Log()
    val boom = Boom()
    val failing = log.weirs(Stream.emits(elements) ++ Stream.fail(boom)).toFs2
    assertEquals(failing.attempt.compile.last.runSync(), Some(Left(boom)))
    val endless = log.weirs(Stream.emits(elements) ++ Stream.never).toFs2
    assertEquals(endless.evalMap(_ => Task.fail(boom)).compile.drain.attempt.runSync(), Left(boom))
    assertEquals(endless.take(3).compile.toList.runSync(), List(1, 2, 3))
    val begun = CountDownLatch(1)
    val fiber =
      endless
        .evalMap(n => Task.when(n == 1000)(Task(begun.countDown())))
        .compile
        .drain
        .start
        .runSync()
    await(begun)
    fiber.cancel.runSync()
    val interrupted = endless.interruptAfter(20.millis).compile.drain
    interrupted.runSync()
    assertEquals(
      log.outcomes,
      List("failed: boom", "failed: boom", "succeeded", "canceled", "canceled")
    )

  test("from fs2: no chunk is pulled ahead of what is asked for"):
    val pulled = java.util.concurrent.atomic.AtomicInteger()
    val stream = Fs2Stream.repeatEval(Task(pulled.incrementAndGet())).toWeir
    assertEquals(stream.take(3).toList.runSync(), List(1, 2, 3))
    assertEquals(pulled.get, 3)

  test("from fs2: a chunk stays together"):
    val chunks = Fs2Stream.chunk(Chunk.from(1 to 100)) ++ Fs2Stream.chunk(Chunk.from(101 to 120))
    assertEquals(
      chunks.covary[Task].toWeir.chunks().map(_.size).toList.runSync(),
      List(100, 20)
    )

  test("from fs2: an error that only its finalizer throws is the stream's"):
    val boom = Boom()
    val stream = Fs2Stream(1, 2).covary[Task].onFinalize(Task.fail(boom))
    assertEquals(stream.toWeir.drain.attempt.runSync(), Left(boom))
    assertEquals(stream.toWeir.take(1).drain.attempt.runSync(), Left(boom))

  test("from fs2: a stream that cancels itself cancels its consumer"):
    val stream = Fs2Stream.eval(Task.canceled).covary[Task].toWeir
    assertEquals(stream.drain.start.flatMap(_.join).runSync(), Outcome.Canceled)

  test("a cancel at any moment closes both sides once"):
    val random = scala.util.Random(1)
    for round <- 1 to weir.Tier(200, 20_000) do
      val log = Log()
      val stream = ways(round % ways.size)._2(log, Stream.emits(elements).repeat)
      val fiber = stream.drain.start.runSync()
      Thread.sleep(0, random.nextInt(500_000))
      fiber.cancel.runSync()
      assert(log.outcomes == List("canceled") || log.outcomes == Nil, log.outcomes)

package weir
package stream

import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.AtomicInteger
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import scala.jdk.CollectionConverters.*
import weir.io.Source

/** `toSource`, `uncons`, `toIterator`: one run of a stream, asked element by element. */
class StreamSourceSuite extends munit.ScalaCheckSuite, StreamTests:

  private val items = Gen.choose(0, 20).flatMap(n => Gen.listOfN(n, Gen.choose(-3, 3)))

  /** A stream that knows how its finalizer was called. */
  private final class Closed:
    private val all = ConcurrentLinkedQueue[String]()
    def outcomes: List[String] = all.asScala.toList
    def stream[A](body: Stream[A]): Stream[A] = body.onFinalizeCase(outcome =>
      Task(all.add(outcome match
        case Outcome.Succeeded(_) => "succeeded"
        case Outcome.Failed(error) => s"failed: ${error.getMessage}"
        case Outcome.Canceled => "canceled")).void
    )

  private def all[A](source: Source[A])(using Task.Direct): List[A] = source.next() match
    case Source.End => Nil
    case a => a.asInstanceOf[A] :: all(source)

  private val shapes = List[(String, Stream[Int] => Stream[Int])](
    "alone" -> identity,
    "mapped" -> (_.map(identity)),
    "waiting" -> (_.evalTap(_ => Task.cede)),
    "ahead" -> (_.prefetchN(2)),
    "concurrent" -> (_.parEvalMap(3)(Task.pure))
  )

  for (name, shape) <- shapes do
    property(s"$name: the elements, then the end again and again; closed with the resource") {
      forAll(items) { items =>
        val closed = Closed()
        val stream = shape(closed.stream(Stream.emits(items)))
        val used = stream.toSource.use { source =>
          Task.direct {
            val elements = all(source)
            assertEquals((source.next(), source.next()), (Source.End, Source.End))
            assertEquals(all(source), Nil)
            elements
          }
        }
        assertEquals(used.runSync(), items)
        assertEquals(closed.outcomes, List("succeeded"))
        val back = Stream.resource(stream.toSource).flatMap(s => Stream.fromSource(Task.pure(s)))
        assertEquals(back.toList.runSync(), items)
        assertEquals(stream.toIterator.use(i => Task(i.toList)).runSync(), items)
        val halves = stream.uncons.use {
          case None => Task.pure(Nil)
          case Some((head, rest)) => rest.toList.map(head :: _)
        }
        assertEquals(halves.runSync(), items)
        assertEquals(closed.outcomes, List.fill(4)("succeeded"))
      }
    }

    test(s"$name: nothing runs before the first element is asked for, nor more than is"):
      val count = AtomicInteger()
      val stream = shape(Stream.repeatEval(Task(count.incrementAndGet())).take(100))
      stream.toSource.use(_ => Task.unit).runSync()
      stream.toIterator.use(_ => Task.unit).runSync()
      assertEquals(count.get, 0)
      assertEquals(stream.toIterator.use(i => Task((i.next(), i.next()))).runSync(), (1, 2))
      if name == "alone" || name == "mapped" || name == "waiting" then assertEquals(count.get, 2)

    test(s"$name: an error comes in its place, and again"):
      val boom = Boom()
      val closed = Closed()
      val stream = shape(closed.stream(Stream(1, 2) ++ Stream.fail(boom)))
      val errors = stream.toSource.use { source =>
        Task.direct {
          assertEquals((source.next(), source.next()), (1, 2))
          (1 to 2).map(_ => Task.direct(source.next()).attempt.await).toList
        }
      }
      assertEquals(errors.runSync(), List(Left(boom), Left(boom)))
      val iterated = stream.toIterator.use(i => Task(i.toList)).attempt.runSync()
      assertEquals(iterated, Left(boom))
      assertEquals(closed.outcomes.last, "failed: boom")

  test("the release has the outcome of the use"):
    val closed = Closed()
    val stream = closed.stream(Stream(1, 2, 3))
    val failed = stream.uncons.use(_ => Task.fail(Boom())).attempt
    failed.runSync(): Unit
    stream.uncons.use(_ => Task.canceled).start.flatMap(_.join).runSync(): Unit
    assertEquals(closed.outcomes, List("failed: boom", "canceled"))

  test("the rest goes on where another run of it has stopped"):
    val parts = Stream.emits(1 to 6).uncons.use { found =>
      val (head, rest) = found.get
      rest
        .take(2)
        .toList
        .both(Task.pure(head))
        .flatMap((two, one) => rest.toList.map(more => (one, two, more)))
    }
    assertEquals(parts.runSync(), (1, List(2, 3), List(4, 5, 6)))

  test("fibers that share a source each get some of the elements, every one of them once"):
    for _ <- 1 to Tier(20, 500) do
      val stream =
        Stream.emits(0 until 200).evalTap(i => if i % 3 == 0 then Task.cede else Task.unit)
      val parts = stream.toSource.use(source =>
        Task.parTraverse(List(1, 2, 3, 4))(_ => Task.direct(all(source)))
      )
      val got = parts.runSync()
      assertEquals(got.flatten.sorted, (0 until 200).toList)
      assert(got.forall(part => part == part.sorted), got)

  test("after the release, and after a cancel within a next, it fails and says why"):
    val kept = Stream(1, 2).toSource.use(Task.pure).runSync()
    val late = Task.direct(kept.next()).attempt.runSync()
    assert(late.left.exists(_.getMessage.contains("has been released")), late)
    val begun = CountDownLatch(1)
    val waiting = Stream.eval(Task(begun.countDown()).andThen(Task.never))
    val after = waiting.toSource.use { source =>
      val taker = Task.direct(source.next())
      for
        fiber <- taker.start
        _ <- Task(begun.await())
        _ <- fiber.cancel
        result <- taker.attempt
      yield result
    }
    val broken = after.runSync()
    assert(broken.left.exists(_.getMessage.contains("was cancelled while it took")), broken)

  test("a cancel of the use, and an interrupt, end an iterator that waits; the stream is closed"):
    for _ <- 1 to Tier(20, 500) do
      val closed = Closed()
      val begun = CountDownLatch(1)
      val waiting = closed.stream(Stream.eval(Task(begun.countDown()).andThen(Task.never)))
      val fiber = waiting.toIterator.use(i => Task(i.hasNext)).start.runSync()
      await(begun)
      fiber.cancel.runSync()
      assertEquals(closed.outcomes, List("canceled"))

  test("an iterator of a stream with a fiber, on a platform thread"):
    val sum = Stream.emits(1 to 2_000).prefetchN(16).toIterator.allocated.runSync()
    val (elements, release) = sum
    assertEquals(elements.sum, 2_001_000)
    assert(!elements.hasNext)
    intercept[NoSuchElementException](elements.next()): Unit
    release.runSync()

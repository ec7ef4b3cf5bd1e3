package weir.stream

import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import scala.jdk.CollectionConverters.*
import weir.*

class StreamResourceSuite extends WeirSuite:

  private final class Log:
    private val lines = ConcurrentLinkedQueue[String]()
    def say(line: String): Task[Unit] = Task(lines.add(line)).void
    def all: List[String] = lines.asScala.toList

    def resource(name: String): Resource[String] =
      Resource.makeCase(say(s"+$name").as(name)) {
        case (_, Outcome.Succeeded(_)) => say(s"-$name succeeded")
        case (_, Outcome.Failed(error)) => say(s"-$name failed: ${error.getMessage}")
        case (_, Outcome.Canceled) => say(s"-$name canceled")
      }

    val nested: Resource[String] = resource("a").flatMap(a => resource("b").map(a + _))

  private def closed(how: String) = List("+a", "+b", s"-b $how", s"-a $how")

  test("one element, released in reverse order when the stream is over"):
    val log = Log()
    val stream = Stream.resource(log.nested).evalTap(log.say) ++ Stream.eval(log.say("next").as(""))
    assertEquals(stream.toList.runSync(), List("ab", ""))
    assertEquals(
      log.all,
      List("+a", "+b", "ab", "-b succeeded", "-a succeeded", "next")
    )

  /** Streams that hold the resource on this fiber, and on others. */
  private val shapes = List[(String, Stream[String] => Stream[String])](
    "alone" -> identity,
    "flatMap" -> (s => s.flatMap(a => Stream.emits(List(a, a)))),
    "prefetchN" -> (_.flatMap(a => Stream.emits(List(a, a))).prefetchN(1)),
    "prefetchBytes" -> (_.flatMap(a => Stream.emits(List(a, a))).prefetchBytes(1)(_.length)),
    "prefetchStrict" -> (_.flatMap(a => Stream.emits(List(a, a))).prefetchStrict),
    "parEvalMap" -> (_.flatMap(a => Stream.emits(List(a, a))).parEvalMap(2)(Task.pure)),
    "parEvalMap, resized" -> (_.parEvalMap(Signal.unsafe(2), 64)(Task.pure)),
    "zipAll" -> (s => s.zipAll(Stream.empty)("", "").map(_._1)),
    "merge" -> (_.merge(Stream.empty)),
    "inside of parJoin" -> (s => Stream.emits(List(s)).parJoin(2))
  )

  for (shape, make) <- shapes do
    test(s"$shape: the finalizers get a success, a failure downstream, a cancel"):
      val boom = Boom()
      val succeeds, fails, cancels = Log()
      make(Stream.resource(succeeds.nested)).take(1).drain.runSync()
      assertEquals(succeeds.all, closed("succeeded"))
      val failing = make(Stream.resource(fails.nested)).evalMap(_ => Task.fail(boom)).drain
      assertEquals(failing.attempt.runSync(), Left(boom))
      assertEquals(fails.all, closed("failed: boom"))
      val begun = CountDownLatch(1)
      val waiting = make(Stream.resource(cancels.nested))
        .evalMap(_ => Task(begun.countDown()).andThen(Task.never))
      val fiber = waiting.drain.start.runSync()
      await(begun)
      fiber.cancel.runSync()
      assertEquals(cancels.all, closed("canceled"))

    test(s"$shape: what cannot be acquired as a whole is released as far as it was"):
      val log = Log()
      val boom = Boom()
      val half = log.resource("a").evalMap(_ => Task.fail(boom))
      assertEquals(make(Stream.resource(half)).drain.attempt.runSync(), Left(boom))
      assertEquals(log.all, List("+a", "-a failed: boom"))

  test("onFinalizeCase is told a success, a failure here or downstream, a cancel"):
    val log = Log()
    def told(stream: Stream[Int]): Stream[Int] = stream.onFinalizeCase {
      case Outcome.Succeeded(_) => log.say("succeeded")
      case Outcome.Failed(error) => log.say(error.getMessage)
      case Outcome.Canceled => log.say("canceled")
    }
    val boom = Boom()
    told(Stream(1, 2)).drain.runSync()
    told(Stream(1, 2)).take(1).drain.runSync()
    told(Stream(1) ++ Stream.fail(boom)).drain.attempt.runSync(): Unit
    told(Stream(1)).evalMap(_ => Task.fail(Boom("below"))).drain.attempt.runSync(): Unit
    told(Stream(1)).evalMap(_ => Task.canceled).drain.start.flatMap(_.join).runSync(): Unit
    assertEquals(log.all, List("succeeded", "succeeded", "boom", "below", "canceled"))

  test("the finalizers get the error of the stream inside, also where a handler goes on"):
    val log = Log()
    val stream = Stream
      .resource(log.nested)
      .flatMap(_ => Stream.fail(Boom()))
      .handleErrorWith(_ => Stream.eval(log.say("handled").as(1)))
    assertEquals(stream.toList.runSync(), List(1))
    assertEquals(log.all, closed("failed: boom") :+ "handled")

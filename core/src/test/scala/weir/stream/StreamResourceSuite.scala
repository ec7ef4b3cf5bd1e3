package weir.stream

import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.*
import weir.std.Signal

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
    "mapWithResource" -> (_.mapWithResource(Resource.pure("a"))((_, s) => s)),
    "zipAll" -> (s => s.zipAll(Stream.empty)("", "").map(_._1)),
    "merge" -> (_.merge(Stream.empty)),
    "inside of parJoin" -> (s => Stream.emits(List(s)).parJoin(2)),
    "parEvalMapBy" -> (_.parEvalMapBy(2)(identity)(Task.pure)),
    "groupWithin" -> (_.groupWithin(2, 1.hour).mapConcat(identity)),
    "groupWeightedWithin" -> (_.groupWeightedWithin(2, 1.hour)(_ => 1).mapConcat(identity)),
    "debounce" -> (_.debounce(1.nano)),
    "sample" -> (_.sample(1.nano)),
    "conflate" -> (_.conflate(_ + _)),
    "batch" -> (_.batch(1, _ => 1)(identity)(_ + _)),
    "buffer" -> (_.buffer(2, Overflow.DropOldest)),
    "broadcastThrough" -> (_.broadcastThrough(identity[Stream[String]])),
    "balance" -> (_.balance(identity[Stream[String]])),
    "concurrently" -> (_.concurrently(Stream.never)),
    "interruptWhen" -> (_.interruptWhen(Task.never)),
    "idleTimeout" -> (_.idleTimeout(1.hour)),
    "mergePreferred" -> (_.mergePreferred(Stream.empty)),
    "mergeHaltLeft" -> (_.mergeHaltLeft(Stream.never)),
    "mergeHaltRight" -> (Stream.never.mergeHaltRight(_)),
    "mergeHaltBoth" -> (_.mergeHaltBoth(Stream.never)),
    "parZip" -> (_.parZip(Stream.constant(0)).map(_._1)),
    "zipLatest" -> (_.zipLatest(Stream.emit(0)).map(_._1)),
    "expand" -> (_.expand(Iterator(_))),
    "switchMap" -> (_.switchMap(Stream.emit)),
    "inside of switchMap" -> (s => Stream.emit(0).switchMap(_ => s)),
    "partition" -> (s => Stream.resource(s.partition(_ => true)).flatMap(_._1)),
    "toSource" -> (s => Stream.resource(s.toSource).flatMap(x => Stream.fromSource(Task.pure(x)))),
    "sliding" -> (_.sliding(2).mapConcat(identity)),
    "sliding, then flatMap" -> (_.sliding(2).flatMap(Stream.emits))
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

    test(s"$shape: a resource upstream is open while its elements are used downstream"):
      val isOpen = AtomicBoolean()
      val upstream = Stream
        .bracket(Task(isOpen.set(true)))(_ => Task(isOpen.set(false)))
        .flatMap(_ => Stream("a", "b", "c"))
      val used = make(upstream).evalMap(_ => Task.sleep(2.millis).andThen(Task(isOpen.get)))
      assertEquals(used.toList.map(_.distinct).runSync(), List(true))
      assert(!isOpen.get)

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

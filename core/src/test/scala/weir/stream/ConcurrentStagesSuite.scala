package weir
package stream

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.fiber.TaskFiber
import weir.testkit.TestRuntime

/** The stages with fibers, at their edges: a cancel between two elements, a fiber that has not
  * begun, an error that nobody comes to, streams that want no more.
  */
class ConcurrentStagesSuite extends StreamTests:
  override def limit: FiniteDuration = 60.seconds

  private val ready = List[(String, Stream[Int] => Stream[Int])](
    "prefetchN" -> (_.prefetchN(1000)),
    "prefetchBytes" -> (_.prefetchBytes(1000)(_ => 1)),
    "prefetchStrict" -> (_.prefetchStrict),
    "parJoin" -> (s => Stream(s).parJoin(1)),
    "merge" -> (_.merge(Stream.empty)),
    "parEvalMap" -> (_.parEvalMap(16, 1000)(Task.pure)),
    "parEvalMapUnordered" -> (_.parEvalMapUnordered(1, 1000)(Task.pure)),
    "parEvalMapBy" -> (_.parEvalMapBy(1, 1000)(identity)(Task.pure)),
    "buffer" -> (_.buffer(1000, Overflow.DropOldest)),
    "groupWithin" -> (_.groupWithin(1, 1.hour).mapConcat(identity)),
    "groupWeightedWithin" -> (_.groupWeightedWithin(1, 1.hour)(_.toLong).mapConcat(identity)),
    "broadcastThrough" -> (_.broadcastThrough(identity[Stream[Int]])),
    "concurrently" -> (_.concurrently(Stream.never)),
    "mergePreferred" -> (_.mergePreferred(Stream.empty)),
    "direct" -> (s => Stream.direct(emit => for i <- s do emit(i)))
  )

  for (name, make) <- ready do
    test(s"$name: a consumer that is cancelled uses no further element, though many are ready"):
      val used = AtomicInteger()
      val full = CountDownLatch(1)
      val source = Stream.emits(1 to 200) ++ Stream.exec(Task(full.countDown()))
      def pipe(consumer: TaskFiber) = make(source).map { i =>
        if used.incrementAndGet() == 3 then consumer.requestCancel()
        i
      }
      val fiber = ownFiber.flatMap(pipe(_).drain).start.runSync()
      assertEquals(fiber.join.runSync(), Outcome.Canceled)
      assertEquals(used.get, 3)

  for (name, make) <- List[(String, (Stream[Int], Stream[Int] => Stream[Int]) => Stream[Int])](
      "broadcastThrough" -> (_.broadcastThrough(_)),
      "balance" -> (_.balance(_))
    )
  do
    test(s"$name: a pipe that waits, masked, sees the end, though the feeder had not begun"):
      TestRuntime.forAllSeeds(Tier(20, 300)) {
        val begun = Deferred.unsafe[Unit]
        val pipe = (s: Stream[Int]) =>
          Stream.eval(Task.uncancelable(_ => begun.complete(()).andThen(s.count).map(_.toInt)))
        val run = make(Stream.never, pipe).drain
        run.start.flatMap(fiber => begun.get.andThen(fiber.cancel))
      }

  test("broadcastThrough: when all pipes have ended, upstream makes no further element"):
    val made = AtomicInteger()
    val runtime = TestRuntime(carriers = 1, mayLeak = true)
    val source = Stream.repeatEval(Task(made.incrementAndGet())).take(10_000)
    val stream = source.broadcastThrough(_.take(2), _.take(3))
    val started = runtime.start(stream.evalMap(_ => Task.never).drain)
    runtime.awaitQuiet()
    assert(made.get <= 3 + FanOutStage.bufferSize + 1, s"${made.get} made")
    runtime.run(started.fiber.cancel)
    runtime.close()

  test("partition: when both streams are over, the source makes no further element"):
    val made = AtomicInteger()
    val runtime = TestRuntime(carriers = 1, mayLeak = true)
    val source = Stream.repeatEval(Task(made.incrementAndGet())).take(10_000)
    val both = source.partition(_ % 2 == 0).use { (even, odd) =>
      even.take(2).drain.both(odd.take(3).drain).andThen(Task.never)
    }
    val started = runtime.start(both)
    runtime.awaitQuiet()
    assert(made.get <= 3 + 2 * 16 + 2, s"${made.get} made")
    runtime.run(started.fiber.cancel)
    runtime.close()

  test("partition: an error that neither stream comes to is reported, or suppressed"):
    val (boom, first) = (Boom("of the source"), Boom("of the consumer"))
    def use(end: Task[Unit]) =
      val failed = CountDownLatch(1)
      val fails = Task.uncancelable(_ => Task(failed.countDown()).andThen(Task.fail(boom)))
      (Stream(1, 2) ++ Stream.eval(fails))
        .partition(_ == 1)
        .use((odd, _) => odd.take(1).drain.andThen(Task(failed.await())).andThen(end))
        .attempt
    val text = printed(assertEquals(use(Task.unit).runSync(), Right(())))
    assert(text.contains("Boom: of the source"), text)
    assertEquals(printed(assertEquals(use(Task.fail(first)).runSync(), Left(first))), "")
    assertEquals(first.getSuppressed.toList, List(boom))

  test("partition: an error that one of the streams comes to is not reported as well"):
    val boom = Boom()
    val source = Stream(1, 2) ++ Stream.fail(boom)
    val text = printed {
      val got = source.partition(_ == 1).use((odd, _) => seen(odd)).runSync()
      assertEquals(got, List(1, boom))
    }
    assertEquals(text, "")

  test("parEvalMap: when its stream has ended, no runner is still to begin"):
    val runtime = TestRuntime(carriers = 1)
    val stream = Stream.emits(1 to 100).parEvalMap(4, 2)(i => Task.cede.as(i))
    val queued = for
      _ <- stream.take(3).drain
      hasWork <- Task.onRuntime(_.scheduler.hasWork)
    yield hasWork
    for _ <- 1 to 20 do assert(!runtime.run(queued))
    runtime.close()

  test("mergePreferred: elements of this that are ready come before those of that"):
    TestRuntime.forAllSeeds(Tier(20, 500)) {
      val slow = Stream
        .emits(1 to 9)
        .mergePreferred(Stream.emits(11 to 19))
        .evalTap(_ => Task.sleep(1.second))
      slow.toList.map { got =>
        assertEquals(got.sorted, ((1 to 9) ++ (11 to 19)).toList)
        assert(got.indexOf(9) <= 9, got)
      }
    }

package weir
package stream

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import scala.collection.{AbstractIterable, StrictOptimizedIterableOps}
import scala.concurrent.duration.*
import weir.fiber.TaskFiber
import weir.testkit.TestRuntime

/** A producer that gathers, and its consumer: what wakes them, and which errors are kept. */
class AccumulateSuite extends StreamTests:

  override def limit: FiniteDuration = 20.seconds

  test("groupWithin: a producer that waits for room has woken its consumer, though many are ready"):
    val used = CountDownLatch(1)
    @volatile var consumer: Fiber[Any] | Null = null
    val source = Source(
      3,
      () =>
        await(used)
        eventually("the consumer waits")((consumer ne null) && isWaiting(consumer.nn))
    )
    val groups =
      Stream.of[Int](() => source).groupWithin(1, 1.hour).evalTap(_ => Task(used.countDown()))
    consumer = groups.toList.start.runSync()
    val got = consumer.nn.join.runSync().get.asInstanceOf[List[Vector[Int]]]
    assertEquals(got.flatten, List.range(0, 1 + 3 * 64))

  test("groupWithin: what was ready is told of before the producer waits for another element"):
    @volatile var consumer: Fiber[Any] | Null = null
    val source = Source(
      1,
      () => eventually("the consumer waits")((consumer ne null) && isWaiting(consumer.nn)),
      fiber => fiber.await(Task.never)
    )
    val groups = Queue.unsafe[Vector[Int]](8)
    val stream = Stream.of[Int](() => source).groupWithin(20, 1.hour).evalTap(groups.offer)
    consumer = stream.drain.start.runSync()
    within(10.seconds)(Task.foreach(1 to 3)(_ => groups.take).runSync())
    assertEquals(groups.tryTake.runSync(), None)
    consumer.nn.cancel.runSync()

  for (name, operator) <- List[(String, Stream[Int] => Stream[Any])](
      "buffer" -> (_.buffer(9, Overflow.DropOldest)),
      "conflate" -> (_.conflate((_, b) => b)),
      "debounce" -> (_.debounce(1.hour)),
      "sample" -> (_.sample(1.hour))
    )
  do
    test(s"$name: a cancel ends the stream, though the elements of a collection never end"):
      val items = EndlessItems()
      val run = operator(Stream.fromIterable(items)).evalTap(_ => Task.never).drain
      val fiber = run.start.runSync()
      await(items.areUsed)
      try within(10.seconds)(fiber.cancel.runSync())
      finally items.end = true

  /** A collection that counts as one whose elements exist already, as a `Range` does. */
  private final class EndlessItems
      extends AbstractIterable[Int],
        StrictOptimizedIterableOps[Int, Iterable, Iterable[Int]]:
    val areUsed = CountDownLatch(1)
    @volatile var end = false
    def iterator: Iterator[Int] = Iterator.from(0).takeWhile { i =>
      if i == 1000 then areUsed.countDown()
      !end
    }

  /** One element, then `count` times many that are ready, before which it calls `onReady`; then
    * what `after` returns.
    */
  private final class Source(
      count: Int,
      onReady: () => Unit,
      after: TaskFiber => Any = _ => Pull.End
  ) extends PlainSource:
    private var made = 0
    private var left = count
    def next(fiber: TaskFiber): Any =
      if made == 0 then
        made = 1
        0
      else after(fiber)
    override def takeReady(limit: Int): Chunk | Null =
      if left == count then onReady()
      if left == 0 then null
      else
        left -= 1
        made += limit
        Chunk.of(Iterator.range(made - limit, made), limit)(_ => ())

  test("batch: each batch has the whole limit"):
    val made, taken = AtomicInteger()
    val goOn = Queue.unsafe[Unit](1)
    val source = Stream.repeatEval(Task(made.incrementAndGet()))
    val sizes = source.batch(3, _ => 1)(_ => 1)((size, _) => size + 1)
    val runtime = TestRuntime()
    try
      val consumer =
        runtime.start(sizes.evalTap(n => Task(taken.addAndGet(n)).andThen(goOn.take)).drain)
      runtime.awaitQuiet()
      for _ <- 1 to 4 do
        val before = taken.get
        // A full batch waits, and one element for which it has no room.
        assertEquals(made.get, before + 3 + 1)
        runtime.run(goOn.offer(()))
        runtime.awaitQuiet()
        assertEquals(taken.get, before + 3)
      runtime.run(consumer.fiber.cancel)
    finally runtime.close()

  test("groupWithin: a full group removes the alarm for its time"):
    def isSet = WeirRuntime.default.timers.size == 1
    val source = Stream.emits(1 to 2).evalTap {
      case 2 => Task(eventually("the consumer waits for the time of the group")(isSet))
      case _ => Task.unit
    } ++ Stream.exec(Task(eventually("no alarm is left")(!isSet)))
    assertEquals(source.groupWithin(2, 1.hour).toList.runSync(), List(Vector(1, 2)))

  for (form, make) <- List[(String, Stream[Int] => Stream[Any])](
      "groupWithin" -> (_.groupWithin(1, 1.hour)),
      "groupWeightedWithin" -> (_.groupWeightedWithin(1, 1.hour)(_ => 1)),
      "batch" -> (_.batch(1, _ => 1)(identity)((_, i) => i)),
      "conflate" -> (_.conflate((_, i) => i)),
      "buffer" -> (_.buffer(8, Overflow.DropNewest))
    )
  do
    test(s"$form: an error of upstream is suppressed under that of the consumer, which is first"):
      val (ahead, first) = (Boom("ahead"), Boom("the consumer's"))
      val begun, failed = CountDownLatch(1)
      val fails = Task.uncancelable { _ =>
        Task {
          begun.countDown()
          await(failed)
        }.andThen(Task.fail(ahead))
      }
      val stream = make(Stream.emit(1) ++ Stream.eval(fails)).evalMap { _ =>
        Task(await(begun)).andThen(Task.fail(first)).guarantee(Task(failed.countDown()))
      }
      assertEquals(stream.drain.attempt.runSync(), Left(first))
      assertEquals(first.getSuppressed.toList, List[Throwable](ahead))

    test(s"$form: an error that was thrown is not reported, though what uses the stream goes on"):
      val boom = Boom()
      val use = make(Stream.fail(boom)).toPull.use(_.attempt)
      assertEquals(printed(assertEquals(use.runSync(), Left(boom))), "")

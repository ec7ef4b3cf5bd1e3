package weir
package stream

import java.util.concurrent.{CancellationException, ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.fiber.{Suspend, TaskFiber}
import weir.std.Signal
import weir.testkit.TestRuntime

/** A stream whose consumer stops before its end, with each form of running ahead: its producer is
  * stopped, its finalizer has run once, nothing is left, and no error is lost.
  */
class StreamDroppedSuite extends StreamTests:
  override def limit: FiniteDuration = 30.seconds

  private val forms = List[(String, Stream[Int] => Stream[Int])](
    "prefetchN(1)" -> (_.prefetchN(1)),
    "prefetchN(16)" -> (_.prefetchN(16)),
    "prefetchBytes" -> (_.prefetchBytes(100)(i => i % 60)),
    "prefetchStrict" -> (_.prefetchStrict)
  )

  /** Others that run ahead, each with one effect at a time, which keeps the order. */
  private val concurrent = List[(String, Stream[Int] => Stream[Int])](
    "parEvalMap" -> (_.parEvalMap(1)(Task.pure)),
    "parEvalMapUnordered" -> (_.parEvalMapUnordered(1)(Task.pure)),
    "parEvalMap, resized" -> (_.parEvalMap(Signal.unsafe(1), 64)(Task.pure)),
    "merge" -> (_.merge(Stream.empty)),
    "parJoin" -> (stream => Stream.emit(stream).parJoin(1))
  )

  private val boom = Boom("the consumer's")

  private val drops = List[(String, Stream[Int] => Task[Any])](
    "take" -> (_.take(2).drain),
    "takeWhile" -> (_.takeWhile(_ < 3).drain),
    "a shorter zip" -> (_.zip(Stream.emits(1 to 2)).drain),
    "a failure" -> (_.evalMap(i => if i < 3 then Task.unit else Task.fail(boom)).drain.attempt),
    "a throw" -> (_.map(i => if i < 3 then i else throw boom).drain.attempt),
    "a cancel of itself" -> (_.evalMap(i => if i < 3 then Task.unit else Task.canceled).drain.start
      .flatMap(_.join)),
    "a timeout" -> (_.evalMap(i => if i < 3 then Task.unit else Task.never).drain
      .timeout(1.hour)
      .attempt),
    "a loop that is left" -> (s =>
      Task.direct { scala.util.boundary(for i <- s do if i == 3 then scala.util.boundary.break()) }
    )
  )

  /** The work of the producer ahead of where the consumer stops. */
  private val aheads = List[(String, Int => Task[Unit])](
    "goes on" -> (_ => Task.cede),
    "waits" -> (i => if i < 4 then Task.unit else Task.never),
    "sleeps" -> (_ => Task.sleep(1.minute)),
    "blocks" -> (i => Task(if i >= 4 then Thread.sleep(3_600_000_000L)))
  )

  /** The other operators with fibers. */
  private val others = List[(String, Stream[Int] => Stream[Int])](
    "parEvalMapBy" -> (_.parEvalMapBy(1)(_ => 0)(Task.pure)),
    "groupWithin" -> (_.groupWithin(1, 1.hour).mapConcat(identity)),
    "groupWeightedWithin" -> (_.groupWeightedWithin(1, 1.hour)(_ => 1).mapConcat(identity)),
    "batch" -> (_.batch(1, _ => 1)(identity)((_, i) => i)),
    "broadcastThrough" -> (_.broadcastThrough(identity[Stream[Int]])),
    "balance" -> (_.balance(identity[Stream[Int]])),
    "partition" -> (s => Stream.resource(s.partition(_ => true)).flatMap(_._1)),
    "concurrently" -> (_.concurrently(Stream.never)),
    "interruptWhen" -> (_.interruptWhen(Task.never)),
    "timeout" -> (_.timeout(1.day)),
    "idleTimeout" -> (_.idleTimeout(1.day)),
    "keepAlive" -> (_.keepAlive(1.day, 0)),
    "mergePreferred" -> (_.mergePreferred(Stream.empty)),
    "mergeHaltLeft" -> (_.mergeHaltLeft(Stream.never)),
    "parZip" -> (_.parZip(Stream.constant(0)).map(_._1)),
    "expand" -> (_.expand(Iterator(_))),
    "direct" -> (s => Stream.direct(emit => for i <- s do emit(i)))
  )

  /** Those whose producer does not wait for the consumer. With one that goes on for ever nothing
    * would be at rest, so that the clock of a test would not move; one that stops after a few
    * elements may stop after all have been dropped.
    */
  private val dropping = List[(String, Stream[Int] => Stream[Int])](
    "debounce" -> (_.debounce(1.nano)),
    "sample" -> (_.sample(1.nano)),
    "conflate" -> (_.conflate((_, i) => i)),
    "buffer, DropOldest" -> (_.buffer(2, Overflow.DropOldest)),
    "buffer, DropNewest" -> (_.buffer(2, Overflow.DropNewest)),
    "switchMap" -> (_.switchMap(Stream.emit))
  )

  private type Case = (String, Stream[Int] => Stream[Int], (String, Int => Task[Unit]))

  private val cases: List[(Int, Case)] =
    for
      ((form, make), i) <- (forms ++ others ++ dropping).zipWithIndex
      (ahead, k) <- aheads.zipWithIndex
      if !dropping.exists(_._1 == form) || ahead._1 == "sleeps"
    yield (
      if i < forms.size || dropping.exists(_._1 == form) then -1 else i + k,
      (form, make, ahead)
    )

  for
    (number, (form, make, (ahead, effect))) <- cases
    ((drop, run), j) <- drops.zipWithIndex
    if Tier.isLong || number < 0 || (number + j) % aheads.size == 0
  do
    test(
      s"$form, dropped by $drop while its producer $ahead: stopped, finalized once, nothing left"
    ):
      val finalized, late = AtomicInteger()
      val source = Stream
        .unfold(1)(i => Some((i, i + 1)))
        .evalTap(_ => Task(late.addAndGet(finalized.get)))
        .evalTap(effect)
        .onFinalize(Task.cede.andThen(Task(finalized.incrementAndGet()).void))
      // Fails if a fiber is left.
      TestRuntime.run(run(make(source)).andThen(Task {
        assertEquals((finalized.get, late.get), (1, 0))
      }))

  for (form, make) <- forms ++ concurrent ++ others ++ dropping do
    test(s"$form: upstream is closed after a pull that no cancel ends"):
      val log = ConcurrentLinkedQueue[String]()
      def note(event: String) = Task(log.add(event)).void
      val masked = Task.uncancelable(_ => Task.sleep(1.minute).andThen(note("pulled")).as(2))
      val source = (Stream.emit(1) ++ Stream.eval(masked)).onFinalize(note("closed"))
      val fails = make(source).evalMap(_ => Task.sleep(1.second).andThen(Task.fail(boom)))
      assertEquals(TestRuntime.run(fails.drain.attempt), Left(boom))
      // A stage that makes nothing ahead has not come to the second.
      val ends = log.asScala.toList
      assert(ends == List("pulled", "closed") || ends == List("closed"), s"$ends")

  for (form, make) <- forms do
    test(s"$form, dropped thousands of times: no heap is left"):
      val stream = make(Stream.unfold(1)(i => Some((i, i + 1))))
      def times(n: Int): Task[Unit] =
        if n == 0 then Task.unit
        else // all but the timeout, which takes an hour
          Task
            .foreach(drops.filter(_._1 != "a timeout"))((_, run) => run(stream))
            .flatMap(_ => times(n - 1))
      val grown = growth(times(Tier(400, 1_000)).runSync())
      assert(grown < megabyte / 2, s"grew by $grown bytes")

  /** Emits two elements and fails with `error`, after it has opened `thrown`; no cancel comes in
    * between.
    */
  private def failing(error: Throwable, thrown: CountDownLatch): Stream[Int] =
    Stream.emits(1 to 9).evalMap { i =>
      if i < 3 then Task.pure(i)
      else Task.uncancelable(_ => Task(thrown.countDown()).andThen(Task.fail(error)))
    }

  for (form, make) <- forms.tail ++ concurrent
  do // with a size of 1 the producer has not come to the third when the first is used
    // A strict producer makes the third while the second is used.
    val at = if form == "prefetchStrict" then 2 else 1

    for (kind, error) <- List(
        "an error" -> Boom(),
        "a CancellationException" -> CancellationException()
      )
    do
      test(s"$form: $kind ahead of a consumer that fails is suppressed under its error"):
        val first = Boom()
        val thrown = CountDownLatch(1)
        val stream = make(failing(error, thrown)).evalMap { i =>
          if i < at then Task.unit else Task(thrown.await()).andThen(Task.fail(first))
        }
        assertEquals(printed(assertEquals(stream.drain.attempt.runSync(), Left(first))), "")
        assertEquals(first.getSuppressed.toList, List(error))

    for (drop, stop) <- List[(String, Task[Boolean])](
        "stops" -> Task.pure(false),
        "is canceled" -> Task.canceled.as(false)
      )
    do
      test(s"$form: an error ahead of a consumer that $drop is reported, and does not fail it"):
        val error = Boom("ahead")
        val thrown = CountDownLatch(1)
        val stream = make(failing(error, thrown))
          .evalMap(i => if i < at then Task.pure(true) else Task(thrown.await()).andThen(stop))
          .takeWhile(identity)
        val text = printed {
          stream.drain.start.flatMap(_.join).runSync() match
            case Outcome.Failed(other) => fail(s"failed with $other")
            case _ => ()
        }
        assert(text.contains("a stream, ahead of where its consumer stopped, failed"), text)
        assert(text.contains("ahead\n") || text.contains("Boom: ahead"), text)

    test(s"$form: what the cancel's interrupt makes of plain code is not reported"):
      val blocking = CountDownLatch(1)
      val source = Stream.emits(1 to 9).map { i =>
        if i > at then
          blocking.countDown()
          Thread.sleep(3_600_000)
        i
      }
      val stream = make(source)
        .evalMap(i => if i < at then Task.pure(true) else Task(blocking.await()).as(false))
        .takeWhile(identity)
      assertEquals(printed(stream.drain.runSync()), "")

    test(s"$form: an error that the consumer has come to is thrown, and not reported as well"):
      val error = Boom()
      val stream = make(failing(error, CountDownLatch(1)))
      assertEquals(printed(assertEquals(seen(stream).runSync(), List(1, 2, error))), "")
      assertEquals(error.getSuppressed.toList, Nil)

  for (form, make) <- forms.tail ++ concurrent.take(1) do
    test(s"$form: take does not come to the error of an element that it does not take"):
      val stream = make(failing(Boom(), CountDownLatch(1)))
      assertEquals(printed(assertEquals(stream.take(2).toList.runSync(), List(1, 2))), "")

  for (origin, make) <- List[(String, (Int => Task[Int]) => Stream[Int])](
      "an effect of parEvalMap" -> (f => Stream.emits(1 to 9).parEvalMap(4)(f)),
      "an effect of parEvalMapUnordered" -> (f => Stream.emits(1 to 9).parEvalMapUnordered(4)(f)),
      "the outer stream of parJoin" -> (f =>
        Stream.emits(1 to 9).evalMap(f).map(Stream.emit).parJoin(4)
      )
    )
  do
    test(s"the error of $origin, to which the consumer does not come, is reported"):
      val error = Boom("ahead, of an effect")
      val taken, thrown = CountDownLatch(1)
      def fails = Task(taken.await()).andThen(Task(thrown.countDown())).andThen(Task.fail(error))
      val stream = make(i => if i == 1 then Task.pure(i) else Task.uncancelable(_ => fails))
        .evalMap(_ => Task(taken.countDown()).andThen(Task(thrown.await())).as(false))
        .takeWhile(identity)
      val text = printed(stream.drain.runSync())
      assert(text.contains("ahead, of an effect"), text)

  test("parEvalMap: an error of masked code, ended by an effect that cancels itself, is reported"):
    val taken, begun, goOn = CountDownLatch(1)
    var third: TaskFiber | Null = null
    val ownFiber = new Suspend[Unit]:
      def begin(fiber: TaskFiber): Any = third = fiber
    val masked = Task.uncancelable { _ =>
      Task(begun.countDown()).andThen(Task(goOn.await())).andThen(Task.fail(Boom("masked")))
    }
    val stream = Stream
      .emits(1 to 3)
      .parEvalMap(4) {
        case 1 => Task.unit
        case 2 => // the stream fails from here, so the consumer must have the first result
          Task(begun.await()).andThen(Task(taken.await())).andThen(Task.canceled)
        case _ => ownFiber.andThen(masked)
      }
      .evalMap { _ =>
        Task {
          taken.countDown()
          begun.await()
          eventually("the second effect has canceled the third")(third.nn.cancelRequested)
          goOn.countDown()
          false
        }
      }
      .takeWhile(identity)
    val text = printed(stream.drain.runSync())
    assert(text.contains("Boom: masked"), text)

  test("the error of a finalizer is reported where a cancel ends the stream"):
    val begun = CountDownLatch(1)
    val waiting = Stream.eval(Task(begun.countDown()).andThen(Task.never))
    val finalizing = waiting.onFinalize(Task.fail(Boom("of a finalizer")))
    val text = printed {
      finalizing.drain.start.flatMap(fiber => Task(begun.await()).andThen(fiber.cancel)).runSync()
    }
    assert(text.contains("Boom: of a finalizer"), text)

  test("parEvalMap: take launches no more effects than it takes, upstream and in it"):
    val upstream, in = AtomicInteger()
    val stream = Stream
      .unfold(1)(i => Some((i, i + 1)))
      .evalTap(_ => Task(upstream.incrementAndGet()))
      .parEvalMap(8)(i => Task(in.incrementAndGet()).andThen(Task.cede).as(i))
    for n <- 0 to 3; _ <- 1 to 100 do
      upstream.set(0)
      in.set(0)
      assertEquals(stream.take(n).toList.runSync(), (1 to n).toList)
      assertEquals((upstream.get, in.get), (n, n))

  for (form, make) <- forms do
    test(s"$form: an error of masked code, at whose end the producer is canceled, is kept"):
      val error, first = Boom()
      val begun, goOn = CountDownLatch(1)
      var producer: TaskFiber | Null = null
      val ownFiber = new Suspend[Unit]:
        def begin(fiber: TaskFiber): Any = producer = fiber
      val masked = ownFiber.andThen(Task.uncancelable { _ =>
        Task(begun.countDown()).andThen(Task(goOn.await())).andThen(Task.fail(error))
      })
      val consumer = make(Stream.emit(1) ++ Stream.eval(masked))
        .evalMap(_ => Task(begun.await()).andThen(Task.fail(first)))
      val fiber = consumer.drain.attempt.start.runSync()
      await(begun)
      eventually("the consumer cancels its producer")(producer.nn.cancelRequested)
      goOn.countDown()
      assertEquals(fiber.joinOrFail.runSync(), Left(first))
      assertEquals(first.getSuppressed.toList, List(error))

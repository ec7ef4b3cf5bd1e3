package weir
package stream

import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import java.util.concurrent.{CancellationException, ConcurrentLinkedQueue, CountDownLatch, Flow}
import reactor.adapter.JdkFlowAdapter
import scala.jdk.CollectionConverters.*

class ToPublisherSuite extends StreamTests:

  private def subscribe[A](stream: Stream[A], signals: Signals[A]): Signals[A] =
    stream.toPublisher.subscribe(signals)
    signals

  test("all elements, then onComplete; anew for each subscriber"):
    val runs = AtomicInteger()
    val publisher = Stream.suspend {
      runs.incrementAndGet(): Unit
      Stream.range(0, 1_000)
    }.toPublisher
    assertEquals(runs.get, 0)
    for _ <- 1 to 2 do
      val signals = Signals.unbounded[Int]()
      publisher.subscribe(signals)
      await(signals.ended)
      assertEquals(signals.all, List.range(0, 1_000) :+ Signals.Complete)
    assertEquals(runs.get, 2)

  test("nothing is made that is not requested"):
    val made = AtomicInteger()
    val signals = subscribe(Stream.repeatEval(Task(made.incrementAndGet())), Signals[Int]())
    assertEquals(steady(0)(made.get), 0)
    signals.subscription.request(2)
    assertEquals(steady(2)(made.get), 2)
    signals.subscription.request(1)
    assertEquals(steady(3)(made.get), 3)
    signals.subscription.cancel()
    assertEquals(signals.all, List(1, 2, 3))

  test("a collection completes with its last element, other streams with a request for one more"):
    val collection = subscribe(Stream(1, 2), Signals[Int](atFirst = _.request(2)))
    await(collection.ended)
    assertEquals(collection.all, List(1, 2, Signals.Complete))
    val evaluated = subscribe(Stream.range(1, 3), Signals[Int](_.request(2)))
    assertEquals(steady(2)(evaluated.all.size), 2)
    evaluated.subscription.request(1)
    await(evaluated.ended)
    assertEquals(evaluated.all, List(1, 2, Signals.Complete))

  test("empty and failed streams say so without a request"):
    val empty = subscribe(Stream.empty, Signals[Int]())
    await(empty.ended)
    assertEquals(empty.all, List(Signals.Complete))
    val boom = Boom()
    val failed = subscribe(Stream.fail(boom), Signals[Int]())
    await(failed.ended)
    assertEquals(failed.all, List(boom))

  test("a run that cannot begin ends with onError"):
    val scheduler = RefusingScheduler()
    given WeirRuntime = WeirRuntime(scheduler, weir.runtime.SystemTimers(), null)
    scheduler.refuseAfter(0)
    val signals = Signals[Int](_.request(1))
    Stream.range(0, 3).toPublisher.subscribe(signals)
    signals.all match
      case List(error) => assert(error.isInstanceOf[RefusingScheduler.Refused], error)
      case other => fail(s"$other")

  test("finalizers run before onComplete and before onError, once"):
    for end <- List(Stream.empty, Stream.fail(Boom())) do
      val log = Log()
      val signals = Signals[Int](_.request(9), (_, i) => log.write(s"$i"))
      subscribe(log.resource("r")(Stream(1, 2) ++ end), signals)
      await(signals.ended)
      assertEquals(log.lines, List("+r", "1", "2", "-r"))
      assertEquals(signals.all.size, 3)

  test("a cancel inside of onNext is the last signal, and for finalizers a cancel"):
    val outcome = AtomicReference[Any]()
    val over = CountDownLatch(1)
    val stream = Stream.range(0, 100).onFinalizeCase(o => Task { outcome.set(o); over.countDown() })
    val signals = Signals[Int](_.request(50), (s, i) => if i == 4 then s.cancel())
    subscribe(stream, signals)
    await(over)
    assertEquals(signals.all, List.range(0, 5))
    assertEquals(outcome.get, Outcome.Canceled)

  test("a cancel while the stream waits runs its finalizers once; further calls do nothing"):
    val log = Log()
    val begun, over = CountDownLatch(1)
    val stream = log.resource("r")(Stream.exec(Task(begun.countDown())) ++ Stream.never)
    val signals = subscribe(stream.onFinalize(Task(over.countDown())), Signals[Int](_.request(1)))
    await(begun)
    for _ <- 1 to 3 do signals.subscription.cancel()
    signals.subscription.request(1)
    signals.subscription.request(-1)
    await(over)
    assertEquals(log.lines, List("+r", "-r"))
    assertEquals(signals.all, Nil)

  test("a cancel while it waits for a request ends it"):
    val over = CountDownLatch(1)
    val stream = Stream.range(0, 9).evalMap(Task.pure).onFinalize(Task(over.countDown()))
    val signals = subscribe(stream, Signals[Int](_.request(2)))
    eventually("two elements")(signals.all.size == 2)
    signals.subscription.cancel()
    await(over)
    assertEquals(signals.all, List(0, 1))

  test("a cancel inside of onSubscribe runs nothing"):
    val made = AtomicInteger()
    val signals = Signals[Int] { s =>
      s.request(1); s.cancel()
    }
    subscribe(Stream.eval(Task(made.incrementAndGet())), signals)
    assertEquals(steady(0)(made.get), 0)
    assertEquals(signals.all, Nil)

  test("a cancel does not interrupt the subscriber's code"):
    val inside, goOn, over = CountDownLatch(1)
    val interrupted = AtomicReference[Any]()
    val signals = Signals[Int](
      _.request(5),
      (_, _) =>
        inside.countDown()
        goOn.await()
        interrupted.set(Thread.currentThread.isInterrupted)
    )
    subscribe(Stream.range(0, 5).onFinalize(Task(over.countDown())), signals)
    await(inside)
    signals.subscription.cancel()
    goOn.countDown()
    await(over)
    assertEquals((interrupted.get, signals.all), (false: Any, List(0): List[Any]))

  for count <- List(0L, -7L) do
    test(s"a request of $count is an error, in onSubscribe, in onNext and while it waits"):
      val wrong: Flow.Subscription => Unit = _.request(count)
      val places = List(
        Signals[Int](wrong),
        Signals[Int](_.request(3), (s, _) => wrong(s)),
        Signals[Int]()
      )
      for signals <- places do
        val over = CountDownLatch(1)
        subscribe(Stream.range(0, 9).onFinalize(Task(over.countDown())), signals)
        if signals eq places.last then wrong(signals.subscription)
        await(signals.ended)
        signals.all.last match
          case error: IllegalArgumentException =>
            assert(error.getMessage.contains("rule 3.9"), error.getMessage)
            assert(error.getMessage.contains(s"$count elements"), error.getMessage)
          case other => fail(other.toString)
        assertEquals(signals.all.size, if signals eq places(1) then 2 else 1)

  test("a null element is an error"):
    val signals = subscribe(Stream[String | Null]("a", null), Signals.unbounded[String | Null]())
    await(signals.ended)
    signals.all match
      case List("a", error: NullPointerException) =>
        assert(error.getMessage.contains("rule 2.13"), error.getMessage)
      case other => fail(other.toString)

  test("a null subscriber is refused"):
    intercept[NullPointerException](Stream(1).toPublisher.subscribe(null)): Unit

  test("a stream that cancels itself ends with a CancellationException"):
    val signals = subscribe(Stream.eval(Task.canceled), Signals[Unit](_.request(1)))
    await(signals.ended)
    assert(signals.all.head.isInstanceOf[CancellationException], signals.all.toString)

  test("a subscriber that throws gets no more signals, and the stream fails"):
    val boom = Boom()
    val outcome = AtomicReference[Any]()
    val over = CountDownLatch(1)
    val stream = Stream.range(0, 9).onFinalizeCase(o => Task { outcome.set(o); over.countDown() })
    val signals = Signals[Int](_.request(9), (_, i) => if i == 2 then throw boom)
    val printed = java.io.ByteArrayOutputStream()
    val before = System.err
    System.setErr(java.io.PrintStream(printed))
    try
      subscribe(stream, signals)
      await(over)
      eventually("reported")(printed.toString.contains("the subscriber's onNext failed"))
    finally System.setErr(before)
    assertEquals(signals.all, List(0, 1, 2))
    assertEquals(outcome.get, Outcome.Failed(boom))

  test("requests inside of onNext do not recurse"):
    val signals = Signals[Int](_.request(1), (s, _) => s.request(1))
    subscribe(Stream.range(0, 100_000), signals)
    await(signals.ended)
    assertEquals(signals.all.size, 100_001)

  test("a collection is signalled by the thread that requests, before request returns"):
    val here = Thread.currentThread
    val threads = ConcurrentLinkedQueue[Thread]()
    def thread(): Unit = threads.add(Thread.currentThread): Unit
    val signals = Signals[Int](_.request(2), (_, _) => thread())
    subscribe(Stream.fromIterable(List.range(0, 9)), signals)
    assertEquals(signals.all, List(0, 1))
    signals.subscription.request(3)
    assertEquals(signals.all, List(0, 1, 2, 3, 4))
    signals.subscription.request(99)
    assertEquals(signals.all, List.range(0, 9) :+ Signals.Complete)
    assertEquals(threads.asScala.toSet, Set(here))

  test("onSubscribe returns before the first element, also where it requests"):
    val log = Log()
    val signals = Signals[Int](
      s =>
        s.request(2)
        log.write("returns")
      ,
      (_, i) => log.write(s"$i")
    )
    subscribe(Stream.fromIterable(List(1, 2)), signals)
    assertEquals(log.lines, List("returns", "1", "2"))

  test("a request of a long collection returns while the subscriber still waits in onNext"):
    val goOn = CountDownLatch(1)
    val signals =
      Signals[Int](_.request(Long.MaxValue), (_, i) => if i == 1_000 then await(goOn))
    subscribe(Stream.fromIterable(List.range(0, 2_000)), signals)
    goOn.countDown()
    await(signals.ended)
    assertEquals(signals.all, List.range(0, 2_000) :+ Signals.Complete)

  test("a request that code of the stream's serves does not run that code"):
    val goOn = CountDownLatch(1)
    val signals = Signals[Int](_.request(1))
    subscribe(
      Stream.fromIterable(List(1)).map { i =>
        await(goOn); i
      },
      signals
    )
    goOn.countDown()
    await(signals.ended)
    assertEquals(signals.all, List(1, Signals.Complete))
    val lazily = CountDownLatch(1)
    val others = Signals[Int](_.request(2))
    subscribe(
      Stream.fromIterable(LazyList(1).map { i =>
        await(lazily); i
      }),
      others
    )
    lazily.countDown()
    await(others.ended)
    assertEquals(others.all, List(1, Signals.Complete))

  test("a cancel while a collection waits for a request: nothing follows, no request is answered"):
    val signals = subscribe(Stream.fromIterable(List.range(0, 9)), Signals[Int](_.request(1)))
    signals.subscription.cancel()
    signals.subscription.request(1)
    signals.subscription.request(-1)
    assertEquals(signals.all, List(0))

  test("a collection: a cancel and a wrong request inside of onNext, each the last signal"):
    val cancels = Signals[Int](_.request(9), (s, i) => if i == 2 then s.cancel())
    subscribe(Stream.fromIterable(List.range(0, 9)), cancels)
    assertEquals(cancels.all, List(0, 1, 2))
    val first = Signals[Int](_.request(-1))
    subscribe(Stream.fromIterable(List.range(0, 9)), first)
    assert(first.all.head.isInstanceOf[IllegalArgumentException], first.all.toString)
    for first <- List(9L, 1L) do
      val wrong = Signals[Int](_.request(first), (s, _) => s.request(-1))
      subscribe(Stream.fromIterable(List.range(0, 9)), wrong)
      assert(wrong.all.last.isInstanceOf[IllegalArgumentException], wrong.all.toString)
    val idle = subscribe(Stream.fromIterable(List.range(0, 9)), Signals[Int](_.request(1)))
    idle.subscription.request(0)
    assert(idle.all.last.isInstanceOf[IllegalArgumentException], idle.all.toString)
    idle.subscription.request(1)
    assertEquals(idle.all.size, 2)

  test("a collection: a subscriber that throws gets no more, and request returns normally"):
    val boom = Boom()
    val signals = Signals[Int](each = (_, i) => if i == 1 then throw boom)
    subscribe(Stream.fromIterable(List.range(0, 9)), signals)
    val printed = java.io.ByteArrayOutputStream()
    val before = System.err
    System.setErr(java.io.PrintStream(printed))
    try signals.subscription.request(5)
    finally System.setErr(before)
    signals.subscription.request(5)
    assertEquals(signals.all, List(0, 1))
    assert(printed.toString.contains("the subscriber's onNext failed"), printed.toString)

  test("a collection: requests one by one inside of onNext do not recurse, and all comes"):
    val signals = Signals[Int](_.request(1), (s, _) => s.request(1))
    subscribe(Stream.fromIterable(List.range(0, 100_000)), signals)
    await(signals.ended)
    assertEquals(signals.all.size, 100_001)

  test("Reactor reads a stream, and a stream reads what Reactor makes of another"):
    val numbers = Stream.range(0, 10_000).map(Int.box)
    val flux = JdkFlowAdapter.flowPublisherToFlux(numbers.toPublisher)
    val list = flux.map(i => i + 1).collectList().block().nn
    assertEquals(list.asScala.toList.map(_.intValue), List.range(1, 10_001))
    assertEquals(flux.take(3).collectList().block().nn.toString, "[0, 1, 2]")
    val even = flux.filter(_ % 2 == 0)
    val back = Stream.fromPublisher(JdkFlowAdapter.publisherToFlowPublisher(even))
    assertEquals(back.count.runSync(), 5_000L)

  test("a publisher made of a stream can be a stream again"):
    val stream = Stream.range(0, 10_000).parEvalMap(4)(i => Task.cede.as(i))
    val there = Stream.fromPublisher(Stream.fromPublisher(stream.toPublisher, 7).toPublisher, 3)
    assertEquals(there.toList.runSync(), List.range(0, 10_000))

  // ---- processors ----

  test("a processor puts elements through its pipe, and passes the error on"):
    val boom = Boom()
    for end <- List(Stream.empty -> Signals.Complete, Stream.fail(boom) -> boom) do
      val processor = Stream.processor[Int, String](_.parEvalMap(4)(i => Task.cede.as(s"$i")), 8)
      (Stream.range(0, 100) ++ end._1).toPublisher.subscribe(processor)
      val signals = Signals.unbounded[String]()
      processor.subscribe(signals)
      await(signals.ended)
      assertEquals(signals.all.last, end._2)
      // parEvalMap cancels what is running when an error comes
      if end._2 == Signals.Complete then
        assertEquals(signals.all.init, List.range(0, 100).map(_.toString))

  test("a subscriber's cancel passes through a processor, also if the pipe never asks"):
    for pipe <- List[Stream[Int] => Stream[Int]](identity, _ => Stream.repeatEval(Task.pure(1))) do
      val cancelled = CountDownLatch(1)
      val processor = Stream.processor(pipe)
      processor.onSubscribe(new Flow.Subscription:
        def request(n: Long): Unit = ()
        def cancel(): Unit = cancelled.countDown())
      val signals = Signals[Int](_.request(1))
      processor.subscribe(signals)
      signals.subscription.cancel()
      await(cancelled)

  test("a processor has one subscriber"):
    val processor = Stream.processor[Int, Int](identity)
    val first, second = Signals.unbounded[Int]()
    processor.subscribe(first)
    processor.subscribe(second)
    await(second.ended)
    assert(second.all.head.toString.contains("it has a subscriber already"), second.all.toString)
    Stream(1, 2).toPublisher.subscribe(processor)
    await(first.ended)
    assertEquals(first.all, List(1, 2, Signals.Complete))

  test("a pipe may open the elements of a processor once"):
    val processor = Stream.processor[Int, Int](s => s ++ s)
    val signals = Signals.unbounded[Int]()
    processor.subscribe(signals)
    Stream(1, 2).toPublisher.subscribe(processor)
    await(signals.ended)
    signals.all match
      case List(1, 2, error: IllegalStateException) =>
        assert(error.getMessage.contains("has run its input twice"), error.getMessage)
      case other => fail(other.toString)

  test("the release of toPublisherResource cancels the runs that have not ended"):
    val log = Log()
    val first, second = Signals[Int](_.request(2))
    val waiting = log.resource("r")(Stream(1) ++ Stream.exec(Task.never))
    waiting
      .toPublisherResource[Int]
      .use(publisher =>
        Task {
          for signals <- List(first, second) do publisher.subscribe(signals)
          eventually("both wait")(first.all.size + second.all.size == 2)
        }
      )
      .runSync()
    eventually("both are closed")(log.lines.count(_ == "-r") == 2)
    for signals <- List(first, second) do
      await(signals.ended)
      signals.all match
        case List(1, _: IllegalStateException) => ()
        case other => fail(s"$other")

  test("a subscriber after the release of toPublisherResource gets an error"):
    val publisher = Stream(1).toPublisherResource[Int].use(Task.pure).runSync()
    val signals = Signals[Int](_.request(1))
    publisher.subscribe(signals)
    await(signals.ended)
    signals.all match
      case List(error: IllegalStateException) =>
        assert(error.getMessage.contains("within it"), error)
      case other => fail(s"$other")

package weir
package fiber

import java.util.concurrent.{ConcurrentLinkedQueue, Executors, RejectedExecutionException}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.concurrent.{BlockContext, CanAwait, ExecutionContext, Future}
import scala.jdk.CollectionConverters.*
import scala.util.Random
import weir.std.{CountDownLatch, KeyedQueue, Signal}

/** Streams in an `evalOn`: none keeps a thread of the context while it waits. */
class RunsApartSuite extends WeirSuite:
  override def limit: FiniteDuration = 60.seconds

  private def threads(count: Int): ExecutionContext = ExecutionContext.fromExecutor(
    Executors.newFixedThreadPool(count, Thread.ofPlatform().daemon().name("on-", 1).factory())
  )
  private val one = threads(1)
  private val two = threads(2)

  private val count = 12

  private val forms = List[(String, Stream[Int] => Stream[Int])](
    "no fiber of its own" -> identity,
    "prefetchN" -> (_.prefetchN(1)),
    "prefetchBytes" -> (_.prefetchBytes(2)(_ => 1)),
    "prefetchStrict" -> (_.prefetchStrict),
    "buffer" -> (_.buffer(count, Overflow.Fail)),
    "merge" -> (s => s.take(6).merge(s.drop(6))),
    "mergePreferred" -> (_.mergePreferred(Stream.empty)),
    "mergeHaltLeft" -> (_.mergeHaltLeft(Stream.never)),
    "parJoin" -> (s => Stream(s.take(6), s.drop(6)).parJoin(2)),
    "parEvalMap" -> (_.parEvalMap(2)(waits)),
    "parEvalMapUnordered" -> (_.parEvalMapUnordered(2)(waits)),
    "parEvalMap, resized" -> (_.parEvalMap(Signal.unsafe(2), 64)(waits)),
    "parEvalMapBy" -> (_.parEvalMapBy(2)(_ % 2)(waits)),
    "groupWithin" -> (_.groupWithin(5, 1.milli).mapConcat(identity)),
    "groupWeightedWithin" ->
      (_.groupWeightedWithin(9, 1.milli)(_.toLong).mapConcat(identity)),
    "batch" -> (_.batch(3, _ => 1)(Vector(_))(_ :+ _).mapConcat(identity)),
    "broadcastThrough" -> (_.broadcastThrough(_.evalMap(waits), _.filter(_ < 0))),
    "balance" -> (_.balance(_.evalMap(waits), _.evalMap(waits))),
    "partition" -> (s => Stream.resource(s.partition(_ % 2 == 0)).flatMap(_.merge(_))),
    "concurrently" -> (_.concurrently(Stream.repeatEval(Task.sleep(1.milli)))),
    "interruptWhen" -> (_.interruptWhen(Task.never)),
    "interruptWhenTrue" -> (_.interruptWhenTrue(Signal.unsafe(false))),
    "timeout" -> (_.timeout(1.day)),
    "idleTimeout" -> (_.idleTimeout(1.day)),
    "keepAlive" -> (_.keepAlive(1.day, 0)),
    "parZip" -> (s => s.parZip(s.evalMap(waits)).map(_._1)),
    "expand" -> (_.expand(Iterator(_))),
    "conflate" -> (_.map(Vector(_)).conflate(_ ++ _).mapConcat(identity)),
    "hold" -> (s => s.hold(0)(last => s.evalTap(_ => last.get))),
    "metered" -> (_.metered(10.micros)),
    "throttle" -> (_.throttle(1, 10.micros)),
    "switchMap" -> (s => Stream(1).switchMap(_ => s)),
    "direct" -> (s => Stream.direct(emit => for i <- s do emit(waits(i).await))),
    "toSource" -> (s => Stream.resource(s.toSource).flatMap(s => Stream.fromSource(Task(s)))),
    "toPull" -> (s =>
      Stream
        .resource(s.toPull)
        .flatMap(next => Stream.repeatEval(next).takeWhile(_.isDefined).unNone)
    ),
    "uncons" -> (s =>
      Stream.resource(s.uncons).flatMap {
        case Some((first, rest)) => Stream.emit(first) ++ rest
        case None => Stream.empty
      }
    ),
    "a queue" -> (s =>
      Stream.eval(Queue.bounded[Option[Int]](1)).flatMap { queue =>
        Stream
          .unfoldEval(())(_ => queue.take.map(_.map((_, ()))))
          .concurrently(s.map(Option(_)).evalMap(queue.offer) ++ Stream.exec(queue.offer(None)))
      }
    ),
    "a stream in an effect" -> (_.evalMap(i =>
      Stream(i).evalMap(waits).prefetchN(1).toList.map(_.head)
    ))
  )

  private val names = ConcurrentLinkedQueue[String]()

  private def waits(i: Int): Task[Int] =
    Task(names.add(Thread.currentThread.getName)) >>
      (if i % 3 == 0 then Task.sleep(10.micros) else Task.cede) >>
      Task { names.add(Thread.currentThread.getName); i }

  private val source = Stream.emits(1 to count).evalMap(waits)

  for (name, form) <- forms do
    test(s"on one thread, $name: ends, and its effects run on that thread"):
      names.clear()
      val got = form(source).toList.evalOn(one).runSync()
      assertEquals(got.sorted, List.range(1, count + 1))
      assertEquals(names.asScala.toList.filterNot(_.startsWith("on-")).distinct, Nil)

    test(s"two on two threads, $name: each ends"):
      val run = form(source).toList.evalOn(two)
      val (a, b) = Task.both(run, run).runSync()
      for got <- List(a, b) do assertEquals(got.sorted, List.range(1, count + 1))

  test("two streams on one thread exchange elements through a queue"):
    val run = Queue.bounded[Int](1).flatMap { queue =>
      val takes = Stream.repeatEval(queue.take).take(count).toList
      Task.both(takes, Stream.emits(1 to count).evalMap(queue.offer).drain).map(_._1)
    }
    assertEquals(run.evalOn(one).runSync(), List.range(1, count + 1))

  test("fromPublisher on one thread ends"):
    val publisher = source.toPublisher
    val got = Stream.fromPublisher(publisher).evalMap(waits).toList.evalOn(one).runSync()
    assertEquals(got, List.range(1, count + 1))

  test("an effect waits for a future of the same thread"):
    val future = Task.fromFuture(Future(Thread.currentThread.getName)(using one))
    val got = Stream.repeatEval(future).take(3).toList.evalOn(one).runSync()
    assertEquals(got.filterNot(_.startsWith("on-")), Nil)

  test("functions and the end of a stream without effects stay on the context"):
    def name = Thread.currentThread.getName
    for stream <- List(Stream(1, 2).map(_ => name), Stream.unfold(0)(i => Some((name, i))).take(3))
    do
      val got = stream.toList.flatMap(seen => Task(name :: seen)).evalOn(one).runSync()
      assertEquals(got.filterNot(_.startsWith("on-")), Nil)

  test("the task after a stream is on the context, also after a failure and a cancel"):
    val name = Task(Thread.currentThread.getName)
    val effects = Stream(1).evalMap(waits)
    val fails = effects.evalMap(_ => Task.fail(Boom())).drain.attempt
    for stream <- List(effects.toList, fails) do
      assert((stream >> name).evalOn(one).runSync().startsWith("on-"))
    @volatile var finalized = ""
    val canceled = effects
      .evalMap(_ => Task.canceled)
      .drain
      .onCancel(name.map(finalized = _))
      .evalOn(one)
    assertEquals(canceled.start.flatMap(_.join).runSync(), Outcome.Canceled)
    assert(finalized.startsWith("on-"), finalized)

  test("what a stage starts has the context, and locals and masks go through"):
    val local = TaskLocal.unsafe(0)
    val inside = Stream(1).evalMap(_ => Task.executionContext).prefetchN(1).toList
    assertEquals(inside.evalOn(one).runSync(), List(one))
    val locals = Stream(1, 2).evalMap(i => local.update(_ + i)).drain >> local.get
    assertEquals((local.set(1) >> locals).evalOn(one).runSync(), 4)
    val masked =
      Task.uncancelable(_ => Task.canceled >> Stream(1).evalMap(waits).prefetchN(1).toList)
    val outcome = masked.evalOn(one).start.flatMap(_.join).runSync()
    assertEquals(outcome, Outcome.Succeeded(List(1)))

  test("thunks of a fused run, and those of parEvalMap, run on the context"):
    def name(i: Int) = Task(s"${Thread.currentThread.getName} for $i")
    val streams = List[() => Task[List[String]]](
      () => Stream.range(0, 3).evalMap(name).toList,
      () => Stream.range(0, 3).parEvalMap(2)(name).toList
    )
    for stream <- streams do
      val got = stream().evalOn(one).replicate(100).map(_.flatten).runSync()
      assertEquals(got.filterNot(_.startsWith("on-")).distinct, Nil)

  test("code of a Task.direct that waits there does not keep others from a pool that can grow"):
    val pool = ExecutionContext.global
    val count = 2 * java.lang.Runtime.getRuntime.availableProcessors
    val latch = Deferred.unsafe[Unit]
    val begun = CountDownLatch.unsafe(count)
    val code = Task.direct {
      val fiber = latch.get.start.await
      begun.release.await
      fiber.join.await
    }
    val release = begun.await >> latch.complete(())
    val all = Task.parTraverse(1 to count)(_ => code).both(release)
    all.evalOn(pool).runSync(): Unit

  test("a pool that throws instead of adding a thread ends no wait of a Task.direct"):
    val refuses = new BlockContext:
      def blockOn[A](thunk: => A)(implicit permission: CanAwait): A =
        throw RejectedExecutionException("no other thread")
    val pool = ExecutionContext.fromExecutor(command =>
      one.execute(() => BlockContext.withBlockContext(refuses)(command.run()))
    )
    val code = Task.direct {
      Task.sleep(1.milli).await
      Task.pure(Thread.currentThread.getName).await
    }
    assertEquals(code.evalOn(pool).runSync(), "on-1")

  test("the hook of a cancel runs on the context"):
    val begun = Deferred.unsafe[Unit]
    names.clear()
    val waits = (begun.complete(()) >> Task.never).cancelable(
      Task(names.add(Thread.currentThread.getName)).void
    )
    val fiber = Stream(1).evalMap(_ => waits).drain.evalOn(one).start
    fiber.flatMap(fiber => begun.get >> fiber.cancel).runSync()
    assertEquals(names.asScala.toList, List("on-1"))

  test("functions and lazy collections that a task reads as it begins to wait run on the context"):
    val local = TaskLocal.unsafe(0)
    def here = Task.pure(names.add(Thread.currentThread.getName))
    def lazily = List(0).view.map(_ => here)
    val queue = KeyedQueue.unsafe[Int, Int](1, i => if here == null then 0 else i, _ => 1)
    val tasks = List[(String, Task[Any])](
      "KeyedQueue.offer" -> queue.offer(1),
      "update" -> local.update(i => if here == null then 0 else i),
      "modify" -> local.modify(i => (i, here)),
      "parSequenceUnordered" -> Task.parSequenceUnordered(lazily),
      "parForeach" -> Task.parForeach(lazily)(Task.pure),
      "firstSuccess" -> Task.firstSuccess(lazily)
    )
    for (what, task) <- tasks do
      names.clear()
      Stream(1).evalMap(_ => task).drain.evalOn(one).runSync()
      assertEquals(names.asScala.toList, List("on-1"), what)

  test("a fiber that cannot be queued as it leaves the context, or comes back, fails"):
    for others <- 0 to 12 do
      val scheduler = RefusingScheduler()
      given WeirRuntime = WeirRuntime(scheduler, weir.runtime.SystemTimers(), null)
      val closed = AtomicInteger()
      val stream = Stream(1, 2)
        .evalMap(Task.pure)
        .evalMap(waits)
        .onFinalize(Task(closed.incrementAndGet()).void)
        .toList
        .evalOn(one)
      scheduler.refuseAfter(others)
      val got = stream.attempt.timeout(20.seconds).runSync()
      got match
        case Right(all) => assertEquals(all, List(1, 2))
        case Left(error) => assert(error.isInstanceOf[RefusingScheduler.Refused], error)
      assert(closed.get <= 1)
      scheduler.refuseAfter(-1)
      assertEquals(Task(Thread.currentThread.getName).evalOn(one).runSync(), "on-1")

  private val seconds = Integer.getInteger("weir.stress.seconds", Tier(2, 60)).intValue
  private val seed = java.lang.Long.getLong("weir.stress.seed", System.nanoTime()).longValue

  test(s"random cancels: each resource is released once, and the thread is free (seed $seed)"):
    val random = Random(seed)
    val end = System.nanoTime() + seconds.seconds.toNanos
    var runs = 0
    while System.nanoTime() < end do
      val (name, form) = forms(random.nextInt(forms.size))
      val opened, closed = AtomicInteger()
      val resource = Resource.make(Task(opened.incrementAndGet()))(_ =>
        Task.cede >> Task(closed.incrementAndGet()).void
      )
      val stream = Stream.resource(resource).flatMap(_ => source)
      val stop = form(stream).drain.evalOn(one).start.flatMap { fiber =>
        val wait = random.nextInt(4) match
          case 0 => Task.unit
          case 1 => Task.cede
          case _ => Task.sleep(random.nextInt(600).micros)
        wait >> fiber.cancel >> fiber.join
      }
      val outcome = stop.timeout(20.seconds).runSync()
      runs += 1
      assert(!outcome.isInstanceOf[Outcome.Failed[?]], s"$name: $outcome, run $runs")
      assertEquals(closed.get, opened.get, s"$name, run $runs")
      assert(Task(Thread.currentThread.getName).evalOn(one).runSync().startsWith("on-"))
    assert(runs > 0)

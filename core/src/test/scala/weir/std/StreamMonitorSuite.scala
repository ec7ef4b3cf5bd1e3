package weir
package std

import java.util.concurrent.CountDownLatch
import scala.concurrent.duration.*
import weir.stream.{Observation, Staged}
import weir.testkit.TestRuntime

class StreamMonitorSuite extends StreamTests:

  private def waiting(time: FiniteDuration): Stream[Int] => Stream[Int] =
    _.evalMap(i => Task.sleep(time).as(i))

  private def pipe(producer: FiniteDuration, consumer: FiniteDuration): Stream[Int] =
    val read = waiting(producer)(Stream.emits(1 to 20)).named("read")
    waiting(consumer)(read.prefetchN(2)).named("store")

  private def observed(stream: Stream[Any]): StreamMonitor.Snapshot =
    val monitor = StreamMonitor.unsafe()
    TestRuntime.run(stream.observed(monitor).drain)
    monitor.snapshot

  test("a slow producer is never waiting, and its consumer waits for input"):
    val snapshot = observed(pipe(10.millis, 1.millis))
    val List(read, store) = snapshot.stretches.toList: @unchecked
    assertEquals(snapshot.bottleneck.map(_.name), Some("read"))
    assertEquals((read.name, read.elements, read.worked), ("read", 20L, 200.millis))
    assertEquals(read.waitedForRoom, Duration.Zero)
    assertEquals((store.name, store.elements, store.worked), ("store", 20L, 20.millis))
    assertEquals(store.waitedForInput, 181.millis)
    assertEquals(snapshot.observed, 201.millis)
    assert(math.abs(read.perSecond - 20 / 0.201) < 0.001, read.perSecond)

  test("a slow consumer is never waiting, and its producer waits for room"):
    val snapshot = observed(pipe(1.millis, 10.millis))
    val List(read, store) = snapshot.stretches.toList: @unchecked
    assertEquals(snapshot.bottleneck.map(_.name), Some("store"))
    assertEquals((read.worked, store.worked), (20.millis, 200.millis))
    assertEquals(store.waitedForInput, 1.milli)
    assert(read.waitedForRoom > 100.millis, read)

  test("a consumer with a name: what is done between two elements, here in a loop"):
    val monitor = StreamMonitor.unsafe()
    TestRuntime.run(Task.direct {
      val read = waiting(1.milli)(Stream.emits(1 to 20)).named("read").prefetchN(2)
      for i <- read.observed(monitor, Some("loop")) do Task.sleep(i.millis).await
    })
    val List(read, loop) = monitor.snapshot.stretches.toList: @unchecked
    assertEquals((read.elements, loop.elements), (20L, 20L))
    assertEquals((read.worked, loop.worked, loop.waitedForInput), (20.millis, 210.millis, 1.milli))
    assertEquals(monitor.snapshot.bottleneck.map(_.name), Some("loop"))

  test("stretches on one fiber: what one does is not counted for the other"):
    val one = waiting(3.millis)(Stream.emits(1 to 5)).named("a")
    val snapshot = observed(waiting(1.milli)(one.map(_ + 1)).named("b").filter(_ % 2 == 0))
    val List(a, b) = snapshot.stretches.toList: @unchecked
    assertEquals((a.worked, a.elements, b.worked, b.elements), (15.millis, 5L, 5.millis, 5L))

  test("effects that run at the same time: their sum, and what their number allows"):
    for ordered <- List(true, false) do
      val source = waiting(1.milli)(Stream.emits(1 to 40)).named("source")
      val f = (i: Int) => Task.sleep(20.millis).as(i)
      val calls =
        (if ordered then source.parEvalMap(4)(f) else source.parEvalMapUnordered(4)(f))
          .named("call")
      val snapshot = observed(calls)
      val List(read, call) = snapshot.stretches.toList: @unchecked
      assertEquals(snapshot.bottleneck.map(_.name), Some("call"))
      assertEquals((call.worked, call.elements, call.parallelism), (800.millis, 40L, 4))
      assert(call.busy > 0.9 && call.busy <= 1, call)
      assertEquals(read.worked, 40.millis)

  test("the other stages with fibers: their consumer waits for input"):
    val stages = List[(String, Stream[Int] => Stream[Int])](
      "prefetchStrict" -> (_.prefetchStrict),
      "prefetchBytes" -> (_.prefetchBytes(10)(_ => 1)),
      "merge" -> (_.merge(Stream.empty)),
      "concurrently" -> (_.concurrently(Stream.never)),
      "direct" -> (s => Stream.direct(emit => for i <- s do emit(i))),
      "buffer" -> (_.buffer(30, Overflow.Fail))
    )
    for (name, stage) <- stages do
      val read = waiting(10.millis)(Stream.emits(1 to 20)).named("read")
      val snapshot = observed(waiting(1.milli)(stage(read)).named("store"))
      assertEquals(snapshot.bottleneck.map(_.name), Some("read"), name)
      val store = snapshot.stretches.last
      assert(store.worked == 20.millis && store.waitedForInput >= 150.millis, (name, store))

  test("the other stages with fibers: what feeds them waits for room"):
    val stages = List[(String, Stream[Int] => Stream[Int])](
      "prefetchStrict" -> (_.prefetchStrict),
      "groupWithin" -> (_.groupWithin(1, 1.hour).mapConcat(identity)),
      "groupWeightedWithin" -> (_.groupWeightedWithin(2, 1.hour)(_ => 2).mapConcat(identity)),
      "batch" -> (_.batch(1, _ => 1)(identity)(_ + _)),
      "broadcastThrough" -> (_.broadcastThrough(identity[Stream[Int]])),
      "balance" -> (_.balance(identity[Stream[Int]])),
      "concurrently" -> (_.concurrently(Stream.never)),
      "mergePreferred" -> (_.mergePreferred(Stream.empty))
    )
    for (name, stage) <- stages do
      val read = Stream.emits(1 to 150).named("read")
      val snapshot = observed(waiting(10.millis)(stage(read)).named("store"))
      assertEquals(snapshot.bottleneck.map(_.name), Some("store"), name)
      assert(snapshot.stretches.head.waitedForRoom >= 500.millis, (name, snapshot.stretches.head))

  test("live: how many elements wait in the buffer, and what has been done by now"):
    val monitor = StreamMonitor.unsafe()
    val reached, goOn = CountDownLatch(1)
    val stream = Stream.emits(1 to 9).map(_ + 1).named("read").prefetchN(4).evalMap { _ =>
      Task {
        reached.countDown()
        goOn.await()
      }
    }
    val fiber = stream.named("store").observed(monitor).drain.start.runSync()
    await(reached)
    eventually("a full buffer")(monitor.snapshot.stretches.last.queued.exists(_ >= 3))
    val live = monitor.snapshot
    assert(live.stretches.head.elements >= 4 && live.observed > Duration.Zero, live)
    goOn.countDown()
    fiber.joinOrFail.runSync()
    assertEquals(monitor.snapshot.stretches.map(_.elements), Vector(9L, 9L))
    assertEquals(monitor.snapshot.stretches.last.queued, Some(0))
    assertEquals(monitor.snapshot.observed, monitor.snapshot.observed) // it is over

  test("an error and a cancel leave the counts, and end the observation"):
    val monitor = StreamMonitor.unsafe()
    val failing =
      Stream.emits(1 to 9).evalMap(i => if i < 4 then Task.pure(i) else Task.fail(Boom()))
    assert(failing.named("a").observed(monitor).drain.attempt.runSync().isLeft)
    assertEquals(monitor.snapshot.stretches.map(_.elements), Vector(3L))
    val reached = CountDownLatch(1)
    val waits =
      Stream.emits(1 to 2).named("a").evalMap(_ => Task(reached.countDown()) >> Task.never)
    val fiber = waits.observed(monitor).drain.start.runSync()
    await(reached)
    fiber.cancel.runSync()
    assertEquals(monitor.snapshot.stretches.map(_.elements), Vector(4L))
    eventually("nothing observed")(!Observation.isOn)

  test("what is not observed has no names in it, and is one run"):
    val named = Stream.emits(1 to 9).map(_ + 1).named("a").filter(_ > 2).named("b").map(_ * 2)
    assertEquals(named.asInstanceOf[Staged[Any]].depth, 3)
    assertEquals(named.toList.runSync(), (3 to 10).map(_ * 2).toList)
    assertEquals(named.take(2).toList.runSync(), List(6, 8))
    for _ <- 1 to 60 do assertEquals(named.count.runSync(), 8L) // fused by now
    val monitor = StreamMonitor.unsafe()
    assertEquals(named.observed(monitor).toList.runSync(), (3 to 10).map(_ * 2).toList)
    assertEquals(
      monitor.snapshot.stretches.map(s => (s.name, s.elements)),
      Vector(("a", 9L), ("b", 8L))
    )
    // While another stream is observed:
    val other =
      Stream.eval(Task.defer(named.toList)).named("other").observed(StreamMonitor.unsafe())
    assertEquals(other.toList.runSync(), List((3 to 10).map(_ * 2).toList))

  test("names in inner streams, in fibers and out of them, and take through them"):
    val monitor = StreamMonitor.unsafe()
    val inner = (i: Int) => Stream.emits(1 to i).named("inner")
    val flat = Stream.emits(1 to 4).named("outer").flatMap(inner).take(7)
    assertEquals(flat.observed(monitor).count.runSync(), 7L)
    assertEquals(
      monitor.snapshot.stretches.map(s => (s.name, s.elements)).toSet,
      Set(("outer", 4L), ("inner", 7L))
    )
    val joined = StreamMonitor.unsafe()
    val many = Stream.emits(1 to 4).named("outer").map(inner).parJoin(3)
    assertEquals(many.observed(joined).count.runSync(), 10L)
    assertEquals(
      joined.snapshot.stretches.map(s => (s.name, s.elements)).toSet,
      Set(("outer", 4L), ("inner", 10L))
    )

  test("the table names each stretch, and marks the bottleneck"):
    val lines = observed(pipe(10.millis, 1.millis)).table.linesIterator.toList
    assertEquals(lines.size, 3)
    assert(lines(0).startsWith("stretch ") && lines(0).contains("waits for input"), lines)
    assert(lines(1).startsWith("read *") && lines(1).contains("100 %"), lines)
    assert(lines(2).startsWith("store ") && lines(2).contains("90 %"), lines)
    assertEquals(lines.map(_.length).distinct.size, 1)

  test("the Flight Recorder has an event for each stretch, when it is on"):
    val file = java.nio.file.Files.createTempFile("weir", ".jfr")
    try
      val recording = jdk.jfr.Recording()
      recording.enable("weir.StreamStretch"): Unit
      recording.start()
      observed(pipe(10.millis, 1.millis)): Unit
      recording.stop()
      recording.dump(file)
      recording.close()
      val events = jdk.jfr.consumer.RecordingFile.readAllEvents(file)
      val seen = scala.jdk.CollectionConverters
        .ListHasAsScala(events)
        .asScala
        .toList
        .filter(_.getEventType.getName == "weir.StreamStretch")
      val found = seen.map(e => (e.getString("name"), e.getLong("elements"), e.getLong("worked")))
      assertEquals(found.toSet, Set(("read", 20L, 200_000_000L), ("store", 20L, 20_000_000L)))
    finally java.nio.file.Files.delete(file)

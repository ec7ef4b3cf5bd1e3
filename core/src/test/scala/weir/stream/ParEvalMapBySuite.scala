package weir
package stream

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.AtomicInteger
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.testkit.TestRuntime

class ParEvalMapBySuite extends munit.ScalaCheckSuite, StreamTests:

  property("for each key the results in order, for any parallelism and buffer"):
    forAll(Gen.listOf(Gen.choose(0, 99)), Gen.choose(1, 5), Gen.choose(0, 5)) {
      (items, parallelism, buffer) =>
        val running = AtomicInteger()
        val keys = ConcurrentHashMap[Int, Int]()
        def f(i: Int) =
          Task {
            assert(running.incrementAndGet() <= parallelism)
            assert(!keys.containsKey(i % 3), "two of one key")
            keys.put(i % 3, i): Unit
          }
            .andThen(if i % 2 == 0 then Task.cede else Task.unit)
            .andThen(Task {
              keys.remove(i % 3)
              running.decrementAndGet()
              i
            })
        val got = Stream.emits(items).parEvalMapBy(parallelism, buffer)(_ % 3)(f).toList.runSync()
        for key <- 0 to 2 do assertEquals(got.filter(_ % 3 == key), items.filter(_ % 3 == key))
    }

  test("a slow key holds up no other, until the buffer is full of it"):
    val items = Stream.emits(List(0, 0, 0, 1, 2, 3))
    def f(i: Int) = Task.sleep(if i == 0 then 1.hour else 1.second).as(i)
    val (took, got) = TestRuntime.timed(items.parEvalMapBy(2)(identity)(f).toList)
    assertEquals((got, took), (List(1, 2, 3, 0, 0, 0), 3.hours))
    val full = TestRuntime.run(items.parEvalMapBy(2, buffer = 1)(identity)(f).toList)
    assertEquals(full.head, 0)

  test("the error of upstream is suppressed under that of an effect, which comes first"):
    val (effects, upstreams) = (Boom("the effect's"), Boom("upstream's"))
    val source = Stream(1) ++ Stream.fail(upstreams)
    def f(i: Int) = Task.sleep(i.second).andThen(Task.fail(effects))
    val result = TestRuntime.run(source.parEvalMapBy(2)(identity)(f).toList.attempt)
    assertEquals(result, Left(effects))
    assertEquals(effects.getSuppressed.toList, List[Throwable](upstreams))

  test("once an effect has failed, no task of the lines behind those that run begins"):
    val boom = Boom()
    val begun = CountDownLatch(1)
    val ran = ConcurrentLinkedQueue[String]()
    def f(item: String): Task[Unit] =
      ran.add(item)
      item match
        case "a1" => // the failure cancels it, which interrupts this
          begun.countDown()
          try Thread.sleep(3_600_000)
          catch case _: InterruptedException => ()
          Task.unit
        case "b1" =>
          await(begun)
          Task.fail(boom)
        case _ => Task.unit
    val items = Stream.emits(List("a1", "a2", "a3", "b1"))
    assertEquals(items.parEvalMapBy(2, 8)(_.head)(f).drain.attempt.runSync(), Left(boom))
    assertEquals(ran.asScala.toSet, Set("a1", "b1"))

  test("as many tasks run as may, of different keys"):
    for blocking <- List(false, true) do
      val crowd = Crowd(4)
      val all = Stream.emits(1 to 8).parEvalMapBy(4)(identity)(_ => crowd.meet(blocking))
      assertEquals(all.count.runSync(), 8L)
      assertEquals(crowd.peak, 4)

  test("upstream is at most parallelism and buffer ahead of the consumer"):
    val runtime = TestRuntime(carriers = 1, mayLeak = true)
    val made = AtomicInteger()
    val source = Stream.repeatEval(Task(made.incrementAndGet()))
    val waiting = source.parEvalMapBy(2, buffer = 3)(_ % 2)(Task.pure).evalMap(_ => Task.never)
    val started = runtime.start(waiting.drain)
    runtime.awaitQuiet()
    assertEquals(made.get, 1 + 2 + 3) // in use, and taken
    runtime.run(started.fiber.cancel)
    runtime.close()

  test("a million keys leave nothing behind"):
    val n = weir.Tier(100_000, 3_000_000)
    val before = Heap.used()
    var after = 0L
    val all = Stream
      .unfold(0)(i => Some((i, i + 1)))
      .take(n)
      .parEvalMapBy(4)(identity)(Task.pure)
      .zipWithIndex
      .evalMap((_, i) => if i == n - 1 then Task { after = Heap.used() } else Task.unit)
    all.drain.runSync()
    assert(after - before < 4 * megabyte, s"${after - before} bytes")

  test("the first error cancels the other tasks, and waits for them"):
    val boom = Boom()
    TestRuntime.forAllSeeds(5) {
      val begun, ended = AtomicInteger()
      def f(i: Int) =
        if i == 3 then Task.sleep(1.second).andThen(Task.fail(boom))
        else
          Task(begun.incrementAndGet()).bracket(_ => Task.never)(_ =>
            Task.cede.andThen(Task(ended.incrementAndGet()).void)
          )
      Stream.emits(1 to 9).parEvalMapBy(4)(identity)(f).drain.attempt.map { got =>
        assertEquals(got, Left(boom))
        assertEquals((begun.get, ended.get), (3, 3))
      }
    }

  test("an error of a task comes after what was done before it, one of the source after all"):
    val boom = Boom()
    val one = Stream
      .emits(1 to 3)
      .parEvalMapBy(1)(_ => 0)(i => if i == 3 then Task.fail(boom) else Task.pure(i))
    assertEquals(seen(one).runSync(), List(1, 2, boom))
    val source = Stream.emits(1 to 3) ++ Stream.fail(boom)
    val slow = source.parEvalMapBy(3)(identity)(i => Task.sleep((4 - i).seconds).as(i))
    assertEquals(TestRuntime.run(seen(slow)), List(3, 2, 1, boom))

  test("an error of the function, and of the key"):
    val boom = Boom()
    val source = Stream.emits(1 to 3)
    val inKey = source.parEvalMapBy(2)(i => if i == 2 then throw boom else i)(Task.pure)
    assertEquals(seen(inKey).runSync(), List(1, boom))
    val inF = source.parEvalMapBy(2)(identity)(i => if i == 1 then throw boom else Task.never)
    assertEquals(seen(inF).runSync(), List(boom))

  test("a task that cancels itself is an error"):
    val source = Stream.emits(1 to 3).parEvalMapBy(2)(identity)(_ => Task.canceled)
    source.drain.attempt.runSync() match
      case Left(_: java.util.concurrent.CancellationException) => ()
      case other => fail(s"$other")

  test("take and a cancel end all tasks before the stream has ended"):
    TestRuntime.forAllSeeds(5) {
      val running = AtomicInteger()
      def f(i: Int) =
        Task(running.incrementAndGet())
          .bracket(_ => if i == 3 then Task.cede.as(i) else Task.never)(_ =>
            Task.cede.andThen(Task(running.decrementAndGet()).void)
          )
      val stream = Stream.emits(1 to 9).parEvalMapBy(3)(identity)(f)
      for
        got <- stream.take(1).toList
        _ = assertEquals((got, running.get), (List(3), 0))
        fiber <- stream.evalTap(_ => Task.never).drain.start
        _ <- Task.sleep(1.second)
        _ <- fiber.cancel
        _ = assertEquals(running.get, 0)
      yield ()
    }

  test("bad sizes are refused"):
    val s = Stream.emits(1 to 2)
    intercept[IllegalArgumentException](s.parEvalMapBy(0)(identity)(Task.pure)): Unit
    intercept[IllegalArgumentException](s.parEvalMapBy(1, -1)(identity)(Task.pure)): Unit

  test("a key whose hash code fails is an error of upstream, and the stream ends"):
    final class Broken:
      override def hashCode: Int = throw Boom("no hash code")
    val broken =
      Stream.emits(1 to 3).parEvalMapBy(2)(i => if i == 2 then Broken() else i)(Task.pure)
    val got = seen(broken).timeout(10.seconds).runSync()
    assertEquals(
      got.map { case e: Throwable => e.getMessage; case i => i },
      List(1, "no hash code")
    )

  test("an effect has the locals of upstream at its element, not those of the one before it"):
    for isReady <- List(true, false) do
      val local = TaskLocal.unsafe(0)
      val counted = Stream.repeatEval(local.modify(i => (i + 1, i + 1))).take(9)
      val stream = counted.parEvalMapBy(4)(_ => 0) { i =>
        val before = if isReady then Task.unit else Task.cede
        before.andThen(local.get).flatMap(seen => local.set(100).as(if seen == i then i else -seen))
      }
      assertEquals(stream.toList.runSync().sorted, List.range(1, 10))

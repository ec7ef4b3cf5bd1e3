package weir
package stream

import java.util.concurrent.{CountDownLatch, Executors}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}
import scala.concurrent.ExecutionContext

/** `parEvalMap` while the consumer runs the effects. */
class InPlaceSuite extends InPlaceTests:

  test("effects that are ready run in the consumer's loop, and nothing runs ahead of it"):
    val inARow, pulled = AtomicInteger()
    var used = 0
    var scene: Scene | Null = null
    val source = endless.map { i =>
      pulled.incrementAndGet()
      i
    }
    scene = Scene(4, source)(_ =>
      Task(if scene.nn.isHere then inARow.incrementAndGet() else inARow.getAndSet(0))
    )
    // now and then a helper comes, since the machine runs another thread than the consumer's
    val untilAlone = scene.nn.stream.map { _ =>
      used += 1
      inARow.get >= 100 && pulled.get == used
    }
    assertEquals(untilAlone.dropWhile(!_).take(1).toList.runSync(), List(true))

  test("an effect that blocks holds up none behind it: all run that may"):
    for limit <- List(2, 3, 16) do
      val all = CountDownLatch(limit)
      val inside, most = AtomicInteger()
      val scene = Scene(limit)(i =>
        Task {
          most.accumulateAndGet(inside.incrementAndGet(), math.max)
          all.countDown()
          await(all)
          inside.decrementAndGet()
          i
        }
      )
      assertEquals(scene.results.take(3 * limit).toList.runSync(), List.range(0, 3 * limit))
      assert(most.get <= limit, s"${most.get} ran, and $limit may")

  test("an effect that computes holds up none behind it"):
    val others = CountDownLatch(3)
    val scene = Scene(4)(i =>
      Task {
        if i == 0 then while others.getCount > 0 do Thread.onSpinWait() else others.countDown()
        i
      }
    )
    assertEquals(scene.results.take(9).toList.runSync(), List.range(0, 9))

  test("an effect that suspends becomes one of several"):
    val gate = Deferred.unsafe[Unit]
    val others = CountDownLatch(3)
    val scene = Scene(4) {
      case 0 => gate.get.as(0)
      case 3 => Task(others.countDown()).andThen(gate.complete(())).as(3)
      case i => Task(others.countDown()).as(i)
    }
    assertEquals(scene.results.take(9).toList.runSync(), List.range(0, 9))

  test("after an effect that has suspended, ready ones run in place again"):
    val again = AtomicInteger()
    var scene: Scene | Null = null
    scene = Scene(4)(i =>
      if i == 0 then Task.cede.as(i)
      else if i < 1000 && again.get == 0 then
        Task {
          if scene.nn.isHere then again.incrementAndGet(): Unit
          i
        }
      else Task(i)
    )
    assertEquals(scene.nn.results.take(1000).toList.runSync(), List.range(0, 1000))
    assert(again.get > 0)

  test("an effect that fails, a function, and upstream: the error in its place"):
    for kind <- 1 to 3 do
      val boom = Boom()
      var scene: Scene | Null = null
      val source = endless.map { i =>
        val first = if scene eq null then -1 else scene.nn.first.get
        if kind == 3 && first >= 0 && i == first + 5 then throw boom
        i
      }
      scene = Scene(4, source)(i =>
        if i == 5 && kind == 1 then Task(throw boom)
        else if i == 5 && kind == 2 then throw boom
        else Task(i)
      )
      assertEquals(seen(scene.nn.results).runSync(), List(0, 1, 2, 3, 4, boom), s"$kind")

  test("upstream ends"):
    val scene = Scene(4, Stream.emits(0 until 10_000))(Task.pure)
    val got = scene.stream.toList.runSync()
    assertEquals(got.size, 10_000)
    assertEquals(got.filter(_ >= 0), List.range(0, 10_000 - scene.first.get))

  test("the failure of another effect interrupts one that blocks in place, and no code after it"):
    val boom = Boom()
    val begun = CountDownLatch(1)
    val interrupted = AtomicBoolean()
    val scene = Scene(4) {
      case 0 =>
        Task {
          begun.countDown()
          try Thread.sleep(3_600_000)
          catch
            case error: InterruptedException =>
              interrupted.set(true)
              throw error
          0
        }
      case 1 => Task(await(begun)).andThen(Task.fail(boom))
      case i => Task(i)
    }
    val all = scene.results.drain.attempt.flatMap(result =>
      Task((result, Thread.currentThread.isInterrupted))
    )
    assertEquals(all.runSync(), (Left(boom), false))
    assert(interrupted.get)
    assertEquals(boom.getSuppressed.toList, Nil)

  test("an effect in place that ends in spite of the interrupt is delivered before the failure"):
    val boom = Boom()
    val begun = CountDownLatch(1)
    val scene = Scene(4) {
      case 0 =>
        Task {
          begun.countDown()
          try Thread.sleep(3_600_000)
          catch case _: InterruptedException => Thread.currentThread.interrupt()
          0
        }
      case _ => Task(await(begun)).andThen(Task.fail(boom))
    }
    val got = scene.results.map(i => (i, Thread.currentThread.isInterrupted))
    assertEquals(seen(got).runSync(), List((0, false), boom))

  test("a cancel of the consumer interrupts an effect in place, and the others"):
    val begun = CountDownLatch(3)
    val interrupted = AtomicInteger()
    val scene = Scene(3)(i =>
      Task {
        begun.countDown()
        try Thread.sleep(3_600_000)
        catch
          case error: InterruptedException =>
            interrupted.incrementAndGet()
            throw error
        i
      }
    )
    val fiber = scene.results.drain.start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)
    assertEquals(interrupted.get, 3)

  test("a cancel of the consumer interrupts upstream in place"):
    var scene: Scene | Null = null
    val blocks = CountDownLatch(1)
    val source = endless.map { i =>
      val first = if scene eq null then -1 else scene.nn.first.get
      if first >= 0 && i == first + 3 then
        blocks.countDown()
        Thread.sleep(3_600_000)
      i
    }
    scene = Scene(3, source)(Task.pure)
    val fiber = scene.nn.results.drain.start.runSync()
    await(blocks)
    fiber.cancel.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("upstream that blocks is pulled ahead of the consumer again"):
    val pulled = AtomicInteger()
    var scene: Scene | Null = null
    val source = endless.map { i =>
      if (scene ne null) && scene.nn.first.get >= 0 then Thread.sleep(20)
      pulled.incrementAndGet()
      i
    }
    scene = Scene(3, source, growth = 1000)(Task.pure)
    def isAhead(i: Int) = pulled.get > scene.nn.first.get + i + 1
    val untilAhead = scene.nn.results.map { i =>
      Thread.sleep(100)
      isAhead(i)
    }
    assertEquals(untilAhead.dropWhile(!_).take(1).toList.runSync(), List(true))

  test("a consumer that does not ask for the next element has runners run ahead again"):
    val ahead = CountDownLatch(5)
    val scene = Scene(3)(i => Task(if i > 2 then ahead.countDown()).as(i))
    val all = scene.results.map { i =>
      if i == 2 then await(ahead)
      i
    }
    assertEquals(all.take(9).toList.runSync(), List.range(0, 9))

  test("a masked consumer runs no effect itself"):
    val wasMasked = AtomicInteger()
    val consumer = AtomicReference[Thread | Null](null)
    val stream =
      parEvalMap(endless, 4)(_ => Task(if Thread.currentThread eq consumer.get then 1 else 0))
    val all = stream.toSource.use { source =>
      def take(isMasked: Boolean): Task[Int] =
        val next = Task.direct {
          consumer.set(Thread.currentThread)
          source.next().asInstanceOf[Int]
        }
        if isMasked then Task.uncancelable(_ => next) else next
      def untilInPlace: Task[Unit] =
        take(false).flatMap(i => if i == 1 then Task.unit else untilInPlace)
      untilInPlace >> Task.foreach(1 to 50)(_ => take(true).map(wasMasked.addAndGet(_): Unit))
    }
    all.start.flatMap(_.joinOrFail).runSync()
    assertEquals(wasMasked.get, 0)

  test("an effect in place has the locals of the fork, and the consumer keeps its own"):
    val local = TaskLocal.unsafe(0)
    var scene: Scene | Null = null
    scene = Scene(4)(_ => Task(local.current))
    val all = scene.nn.stream.evalMap(i => local.getAndSet(7).map(own => (i, own))).take(1000)
    val got = (local.set(3) >> all.toList).start.flatMap(_.joinOrFail).runSync()
    assertEquals(got.filter(_(0) >= 0).map(_(0)).distinct, List(3))
    assertEquals(got.map(_(1)), 3 :: List.fill(999)(7))

  test("an effect that is handed over has the locals of the fork"):
    val local = TaskLocal.unsafe(0)
    val scene = Scene(4)(_ => Task.cede >> local.get)
    val all = scene.stream.evalTap(_ => local.set(7)).filter(_ >= 0).take(5)
    val got = (local.set(3) >> all.toList).start.flatMap(_.joinOrFail).runSync()
    assertEquals(got, List.fill(5)(3))

  test("in an evalOn effects run on the context, and never in place"):
    val executor = Executors.newFixedThreadPool(2, Thread.ofPlatform().name("here-", 0).factory())
    try
      val context = ExecutionContext.fromExecutor(executor)
      val name = Task(Thread.currentThread.getName)
      val names = Stream.range(0, 1000).parEvalMap(3)(_ => name)
      val direct = Task.direct {
        val seen = List.newBuilder[String]
        for name <- names do seen += name
        seen.result()
      }
      for task <- List(names.toList, direct) do
        val seen = task.evalOn(context).start.flatMap(_.joinOrFail).runSync()
        assertEquals(seen.filterNot(_.startsWith("here-")), Nil)
    finally executor.shutdown()

  test("unordered, an effect that blocks for ever does not hold up the result of another"):
    val blocks = CountDownLatch(1)
    for n <- List(0, 10_000) do
      val unordered = endless.parEvalMapUnordered(4)(i =>
        Task {
          if i == n then blocks.await()
          i
        }
      )
      assertEquals(unordered.dropWhile(_ <= n).take(1).map(_ > n).toList.runSync(), List(true))

  test("a consumer that stops, in direct style and in place, has asked for no more"):
    val ran = AtomicInteger()
    val scene = Scene(4)(i => Task { ran.incrementAndGet(); i })
    val got = Task
      .direct {
        var last = -1
        scene.results.take(7).foreach(i => last = i)
        last
      }
      .start
      .flatMap(_.joinOrFail)
      .runSync()
    assertEquals((got, ran.get), (6, 7))

package weir.std

import scala.concurrent.duration.*
import weir.testkit.TestRuntime
import weir.{Deferred, Outcome, Stream, Task, WeirSuite}

class SignalSuite extends WeirSuite:

  test("get, set, update, updateAndGet, modify"):
    val all =
      for
        s <- Signal.of(1)
        one <- s.get
        _ <- s.set(2)
        _ <- s.update(_ + 1)
        four <- s.updateAndGet(_ + 1)
        old <- s.modify(a => (a * 10, a))
        now <- s.get
      yield (one, four, old, now)
    assertEquals(all.runSync(), (1, 4, 4, 40))

  test("changes of many fibers are all there, and a watcher comes to the last one"):
    val s = Signal.unsafe(0)
    val watch = s.discrete.takeThrough(_ < 400).toList
    val change = Task.parForeach(1 to 4)(_ => Task.foreach(1 to 100)(_ => s.update(_ + 1)))
    val (seen, _) = watch.both(change).runSync()
    assertEquals(seen.last, 400)
    assertEquals(seen, seen.sorted.distinct)

  test("discrete: the value there, then each change for a consumer that is fast"):
    val s = Signal.unsafe(0)
    val change = Task.foreach(1 to 3)(i => Task.sleep(1.second).andThen(s.set(i)))
    val both = s.discrete.take(4).toList.both(change)
    assertEquals(TestRuntime.run(both)._1, List(0, 1, 2, 3))

  test("discrete: a slow consumer gets the latest"):
    val s = Signal.unsafe(0)
    val change = Task.foreach(1 to 10)(i => Task.sleep(1.second).andThen(s.set(i)))
    val watch = s.discrete.evalTap(_ => Task.sleep(3300.millis)).takeThrough(_ < 10).toList
    assertEquals(TestRuntime.run(watch.both(change))._1, List(0, 3, 6, 9, 10))

  test("discrete and waitUntil: cancelled while they wait"):
    val s = Signal.unsafe(0)
    val begun = Deferred.unsafe[Unit]
    val watch = s.discrete.evalTap(_ => begun.complete(())).drain.start.runSync()
    val wait = s.waitUntil(_ > 5).start.runSync()
    begun.get.andThen(watch.cancel).andThen(wait.cancel).runSync()
    assertEquals(s.updateAndGet(_ + 9).runSync(), 9)

  test("waitUntil: at once, and after a change"):
    val s = Signal.unsafe(1)
    assertEquals(s.waitUntil(_ == 1).runSync(), 1)
    val wait = s.waitUntil(_ >= 3).both(s.set(2).andThen(Task.cede).andThen(s.set(3)))
    assertEquals(wait.runSync()._1, 3)

  test("continuous: the present value for each element"):
    val s = Signal.unsafe(0)
    assertEquals(
      s.continuous.evalTap(_ => s.update(_ + 1)).take(3).toList.runSync(),
      List(0, 1, 2)
    )

  test("a function that throws changes nothing"):
    val s = Signal.unsafe(1)
    val boom = Boom()
    assertEquals(s.update(_ => throw boom).attempt.runSync(), Left(boom))
    assertEquals(s.get.runSync(), 1)

  test("hold: the latest element, while the stream that uses it runs"):
    val source = Stream.emits(1 to 100).evalTap(_ => Task.sleep(1.second))
    val probe = (latest: Signal[Int]) =>
      Stream.emits(1 to 3).evalMap(_ => latest.get.flatMap(i => Task.sleep(1400.millis).as(i)))
    assertEquals(
      TestRuntime.timed(source.hold(0)(probe).toList),
      (4200.millis, List(0, 1, 2))
    )

  test("hold: fails as the stream that it holds"):
    val boom = Boom()
    assertEquals(Stream.fail(boom).hold(0)(_ => Stream.never).drain.attempt.runSync(), Left(boom))

  test("pauseWhen: elements wait while it is true"):
    val flags = Stream
      .emits(List(1500 -> true, 3000 -> false))
      .evalMap((ms, flag) => Task.sleep(ms.millis).as(flag))
    val source = Stream.emits(1 to 3).evalTap(_ => Task.sleep(1.second))
    assertEquals(
      TestRuntime.timed(source.pauseWhen(flags).toList),
      (5500.millis, List(1, 2, 3))
    )
    val boom = Boom()
    assertEquals(Stream.never.pauseWhen(Stream.fail(boom)).drain.attempt.runSync(), Left(boom))

  test("map: get, discrete, continuous and waitUntil see f of the value; nobody can set it"):
    val s = Signal.unsafe(1)
    val text: Signal.View[String] = s.map(i => s"<$i>").map(_ * 2)
    assertEquals(text.get.runSync(), "<1><1>")
    val change = Task.foreach(2 to 3)(i => Task.sleep(1.second).andThen(s.set(i)))
    val watch = text.discrete.take(3).toList
    val both = watch.both(text.waitUntil(_.contains("3"))).both(change)
    assertEquals(TestRuntime.run(both)._1, (List("<1><1>", "<2><2>", "<3><3>"), "<3><3>"))
    assertEquals(text.continuous.take(2).toList.runSync(), List("<3><3>", "<3><3>"))
    assert(compileErrors("text.set(\"a\")").nonEmpty)

  test("map: a change that f does not show is a change, which `changes` leaves out"):
    val s = Signal.unsafe(1)
    val isSmall = s.map(_ < 3)
    val change = Task.foreach(2 to 4)(i => Task.sleep(1.second).andThen(s.set(i)))
    assertEquals(
      TestRuntime.run(isSmall.discrete.take(4).toList.both(change))._1,
      List(true, true, false, false)
    )
    s.set(1).runSync()
    assertEquals(
      TestRuntime.run(isSmall.discrete.changes.take(2).toList.both(change))._1,
      List(true, false)
    )

  test("map: what f throws is the error of the reader, and changes nothing"):
    val s = Signal.unsafe(0)
    val boom = Boom()
    val broken = s.map(i => if i == 0 then throw boom else i)
    assertEquals(broken.get.attempt.runSync(), Left(boom))
    assertEquals(broken.discrete.toList.attempt.runSync(), Left(boom))
    assertEquals(s.updateAndGet(_ + 1).runSync(), 1)
    assertEquals(broken.get.runSync(), 1)

  test("map: cancelled while it waits"):
    val s = Signal.unsafe(0)
    val begun = Deferred.unsafe[Unit]
    val watch = s.map(_ + 1).discrete.evalTap(_ => begun.complete(())).drain.start.runSync()
    begun.get.andThen(watch.cancel).runSync()
    assertEquals(watch.join.runSync(), Outcome.Canceled)

  test("map: the parallelism of a parEvalMap"):
    val free = Signal.unsafe(10)
    val doubled = Stream(1, 2, 3).parEvalMap(free.map(_ / 5), 4)(i => Task.cede.as(i * 2))
    for _ <- 1 to 2 do assertEquals(doubled.toList.runSync(), List(2, 4, 6))

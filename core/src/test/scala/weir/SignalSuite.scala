package weir

import scala.concurrent.duration.*
import weir.testkit.TestRuntime

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
      (List(0, 1, 2), 4200.millis)
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
      (List(1, 2, 3), 5500.millis)
    )
    val boom = Boom()
    assertEquals(Stream.never.pauseWhen(Stream.fail(boom)).drain.attempt.runSync(), Left(boom))

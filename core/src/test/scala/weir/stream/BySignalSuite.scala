package weir
package stream

import java.util.concurrent.atomic.AtomicInteger
import weir.std.{CountDownLatch, Signal}

/** `pauseWhen` and `interruptWhenTrue` of a signal, and `interruptWhen` of a deferred value or a
  * latch, hold from the first element on, and from when the call that sets them has returned.
  */
class BySignalSuite extends StreamTests:
  private val rounds = 200
  private val yields = Task.foreach(1 to 20)(_ => Task.cede)

  /** A way to end a stream, and the call that does it. */
  private type Stop = (Stream[Int] => Stream[Int], Task[Any])

  private def stops: List[(String, () => Stop)] = List(
    "interruptWhenTrue" -> (() =>
      val stop = Signal.unsafe(false)
      (_.interruptWhenTrue(stop), stop.set(true))
    ),
    "interruptWhenTrue of a view" -> (() =>
      val stop = Signal.unsafe(0)
      (_.interruptWhenTrue(stop.map(_ > 0)), stop.set(1))
    ),
    "interruptWhen of a deferred value" -> (() =>
      val stop = Deferred.unsafe[Unit]
      (_.interruptWhen(stop.get), stop.complete(()))
    ),
    "interruptWhen of a latch" -> (() =>
      val stop = CountDownLatch(1).runSync()
      (_.interruptWhen(stop.await), stop.release)
    )
  )

  /** On runtimes with 1 to 4 carriers. */
  private def onCarriers(body: WeirRuntime ?=> Unit): Unit =
    for carriers <- 1 to 4 do body(using WeirRuntime.make(carriers, 256))

  for (name, make) <- stops do
    test(s"$name, set before: no element, and none is asked for"):
      onCarriers {
        for _ <- 1 to rounds / 4 do
          val (interrupted, set) = make()
          val made, got = AtomicInteger()
          val source = Stream.repeatEval(Task(made.incrementAndGet()))
          val stream = interrupted(source).evalTap(_ => Task(got.incrementAndGet()))
          set.andThen(stream.drain).runSync()
          assertEquals((made.get, got.get), (0, 0))
      }

    test(s"$name, set by what uses an element: that is the last one"):
      onCarriers {
        for _ <- 1 to rounds / 4 do
          val (interrupted, set) = make()
          val stream = interrupted(Stream.iterate(1)(_ + 1))
            .evalTap(i => if i == 25 then set else Task.unit)
          assertEquals(stream.toList.runSync(), (1 to 25).toList)
      }

    test(s"$name, set by another fiber: one element at most is in use then"):
      onCarriers {
        for _ <- 1 to rounds / 4 do
          val (interrupted, set) = make()
          val got = AtomicInteger()
          val stream = interrupted(Stream.iterate(1)(_ + 1))
            .evalTap(_ => Task(got.incrementAndGet()))
          val all = for
            running <- stream.drain.start
            _ <- yields
            _ <- set
            before <- Task(got.get)
            _ <- running.join
          yield got.get - before
          val after = all.runSync()
          assert(after <= 1, s"$after elements")
      }

  test("interruptWhenTrue: true and false again is not missed by what has seen it"):
    val stop = Signal.unsafe(true)
    val stream = Stream.repeatEval(Task.cede.as(1)).interruptWhenTrue(stop)
    assertEquals(stream.toList.flatTap(_ => stop.set(false)).runSync(), Nil)
    assertEquals(stream.take(2).toList.runSync(), List(1, 1))

  test("pauseWhen, true from the beginning: no element before it is false"):
    onCarriers {
      for _ <- 1 to rounds / 4 do
        val paused = Signal.unsafe(true)
        val got = AtomicInteger()
        val stream =
          Stream.emits(1 to 50).pauseWhen(paused).evalTap(_ => Task(got.incrementAndGet()))
        val all = for
          running <- stream.count.start
          _ <- yields
          while0 <- Task(got.get)
          _ <- paused.set(false)
          count <- running.joinOrFail
        yield (while0, count)
        assertEquals(all.runSync(), (0, 50L))
    }

  test("pauseWhen, set by what uses an element: no other comes before it is false"):
    onCarriers {
      for _ <- 1 to rounds / 4 do
        val paused = Signal.unsafe(false)
        val got = AtomicInteger()
        val at25 = Deferred.unsafe[Unit]
        val stream = Stream.emits(1 to 50).pauseWhen(paused).evalTap { i =>
          Task(got.incrementAndGet()) >>
            Task.when(i == 25)(paused.set(true) >> at25.complete(()).void)
        }
        val all = for
          running <- stream.count.start
          _ <- at25.get >> yields
          meanwhile <- Task(got.get)
          _ <- paused.set(false)
          count <- running.joinOrFail
        yield (meanwhile, count)
        assertEquals(all.runSync(), (25, 50L))
    }

  test("pauseWhen, set by another fiber: one element at most is in use then"):
    onCarriers {
      for _ <- 1 to rounds / 4 do
        val paused = Signal.unsafe(false)
        val got = AtomicInteger()
        val stream = Stream
          .iterate(1)(_ + 1)
          .pauseWhen(paused)
          .evalTap(_ => Task(got.incrementAndGet()))
        val all = for
          running <- stream.drain.start
          _ <- yields
          _ <- paused.set(true)
          before <- Task(got.get)
          _ <- yields
          after <- Task(got.get)
          _ <- running.cancel
        yield after - before
        val after = all.runSync()
        assert(after <= 1, s"$after elements")
    }

  test("pauseWhen, cancelled while it waits"):
    val paused = Signal.unsafe(true)
    val begun = Deferred.unsafe[Unit]
    val stream = Stream.eval(begun.complete(())).pauseWhen(paused)
    val outcome = stream.drain.start.flatMap(f => begun.get >> f.cancel >> f.join).runSync()
    assertEquals(outcome, Outcome.Canceled)

  test("pauseWhen takes what a signal is mapped to"):
    val load = Signal.unsafe(9)
    val stream = Stream.emits(1 to 3).pauseWhen(load.map(_ > 5))
    val all = stream.toList.both(Task.cede >> load.set(1)).map(_._1)
    assertEquals(all.runSync(), List(1, 2, 3))

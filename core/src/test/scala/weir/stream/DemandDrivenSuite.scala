package weir
package stream

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicBoolean
import scala.concurrent.duration.*
import weir.testkit.TestRuntime

/** Stages over several streams that are pulled by fibers of their own: which errors are kept, and
  * how the streams are closed.
  */
class DemandDrivenSuite extends StreamTests:

  for (form, interrupt) <- List[(String, (Stream[Int], Task[Unit]) => Stream[Int])](
      "interruptWhen of a Deferred" -> (_.interruptWhen(_)),
      "interruptWhen of a task" -> ((s, stop) => s.interruptWhen(stop.map(identity))),
      "interruptWhenTrue" -> ((s, stop) => s.interruptWhenTrue(Stream.eval(stop.as(true))))
    )
  do
    test(s"$form: a failure of the work that it ends is that of the stream, in its place"):
      val boom = Boom()
      val stop = Deferred.unsafe[Unit]
      val (begun, stopped) = (CountDownLatch(1), CountDownLatch(1))
      val work = Stream.eval(Task.uncancelable { _ =>
        Task {
          begun.countDown()
          await(stopped)
        }.andThen(Task.fail(boom))
      })
      val followed = AtomicBoolean()
      val ended = interrupt(work, stop.get) ++ Stream.eval(Task(followed.set(true)).as(1))
      val end = Task(await(begun)).andThen(stop.complete(())).andThen(Task(stopped.countDown()))
      val both = Task.both(ended.drain.attempt, end)
      assertEquals(printed(assertEquals(both.runSync()._1, Left(boom))), "")
      assert(!followed.get)

  for (form, make) <- List[(String, (Stream[Int], Stream[Int]) => Stream[Any])](
      "parZip" -> (_.parZip(_)),
      "zipLatest" -> (_.zipLatest(_)),
      "mergePreferred" -> (_.mergePreferred(_)),
      "concurrently" -> (_.concurrently(_))
    )
  do
    test(s"$form: where both sides fail, one error is thrown, and the other suppressed under it"):
      val errors = Set[Throwable](Boom("left"), Boom("right"))
      val both = CountDownLatch(2)
      val List(left, right) = errors.toList.map { error =>
        Stream.eval(Task.uncancelable { _ =>
          Task {
            both.countDown()
            await(both)
          }.andThen(Task.fail(error))
        })
      }: @unchecked
      val thrown = make(left, right).drain.attempt.runSync().left.toOption.get
      assertEquals(thrown.getSuppressed.toSet + thrown, errors)
      assertEquals(thrown.getSuppressed.toList.size, 1)

    test(s"$form: an error that was thrown is not reported, though what uses the stream goes on"):
      val boom = Boom()
      val failing = make(Stream.fail(boom), Stream.never)
      val use = failing.toPull.use(_.attempt)
      assertEquals(printed(assertEquals(use.runSync(), Left(boom))), "")

  for (name, merge) <- List[(String, (Stream[Int], Stream[Int]) => Stream[Int])](
      "on the left" -> (_.mergePreferred(_)),
      "on the right" -> ((holder, waiting) => waiting.mergePreferred(holder))
    )
  do
    test(s"what the finalizer of one side gives back, $name, ends the masked wait of the other"):
      val taken = Task.direct {
        val items = Queue.bounded[Int](1).await
        val held = Deferred[Unit].await
        items.offer(1).await
        val item = Stream.bracket(items.take)(items.offer)
        val sleep = held.complete(()).andThen(Task.sleep(1.minute))
        val holder = item.flatMap(i => Stream.eval(sleep.as(i)) ++ Stream.never)
        val waiting = Stream.eval(held.get).flatMap(_ => item)
        merge(holder, waiting).take(1).toList.await
      }
      assertEquals(TestRuntime.run(taken), List(1))

  test("a side that waits for ever is cancelled when the stage closes"):
    for make <- List[Stream[Int] => Stream[Int]](
        _.concurrently(Stream.never),
        _.mergePreferred(Stream.never),
        Stream.never.mergePreferred(_)
      )
    do assertEquals(TestRuntime.run(make(Stream.emit(1)).take(1).toList), List(1))

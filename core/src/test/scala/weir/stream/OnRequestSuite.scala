package weir
package stream

import java.util.concurrent.CountDownLatch

/** Stages over several streams that are pulled by fibers of their own: which errors are kept. */
class OnRequestSuite extends StreamTests:

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

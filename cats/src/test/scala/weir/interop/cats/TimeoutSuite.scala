package weir.interop.cats

import _root_.cats.effect.kernel.Async
import _root_.cats.effect.std.Queue as CatsQueue
import _root_.cats.effect.syntax.all.*
import _root_.cats.syntax.all.*
import java.util.concurrent.TimeoutException
import scala.concurrent.duration.*
import weir.{Task, Tier, WeirSuite}

/** `timeout` through the type class, where a queue's item arrives at the limit. */
class TimeoutSuite extends WeirSuite:

  private val items = Tier(2000, 20_000)
  private val limit = 100.micros

  /** The items that come out of a queue, each taken by `takeOrLeave`. */
  private def drained[F[_]: Async](
      queue: F[CatsQueue[F, Int]],
      takeOrLeave: F[Int] => F[Option[Int]]
  ): F[Int] =
    queue.flatMap { queue =>
      def takeAll(count: Int, misses: Int): F[Int] =
        if misses > 50 then count.pure
        else
          takeOrLeave(queue.take).flatMap {
            case Some(_) => takeAll(count + 1, 0)
            case None => takeAll(count, misses + 1)
          }
      val offers = (1 to items).toList.traverse_(n => queue.offer(n) *> Async[F].sleep(limit))
      offers.start.flatMap(fiber => takeAll(0, -1000) <* fiber.join).flatMap(takeAll(_, 0))
    }

  private def timeout[F[_]: Async](take: F[Int]): F[Option[Int]] =
    take.timeout(limit).map(Option(_)).recover { case _: TimeoutException => None }

  private def timeoutTo[F[_]: Async](take: F[Int]): F[Option[Int]] =
    take.map(Option(_)).timeoutTo(limit, Async[F].pure(None))

  for
    (name, queue) <- List(
      "Weir's queue" -> weir.Queue.bounded[Int](items).map(_.toCats),
      "Cats Effect's queue" -> CatsQueue.bounded[Task, Int](items)
    )
    (way, takeOrLeave) <- List[(String, Task[Int] => Task[Option[Int]])](
      "timeout" -> (timeout[Task](_)),
      "timeoutTo" -> (timeoutTo[Task](_))
    )
  do
    test(s"take.$way of $name loses no item, however close the two are"):
      assertEquals(drained(queue, takeOrLeave).runSync(), items)

  test("timeout of what ends in time is its value, of what does not a TimeoutException"):
    assertEquals(Async[Task].timeout(Task.pure(1), 1.minute).runSync(), 1)
    assertEquals(timeout[Task](Task.never).runSync(), None)

package weir.bench

import cats.effect.kernel.Async
import cats.effect.std.{Queue, Semaphore}
import cats.effect.syntax.all.*
import cats.syntax.all.*
import fs2.Stream

/* These measure Cats Effect's own primitives, and fs2, on Task and on IO. */

/** One producer and one consumer of its bounded queue. */
class CatsStdQueue extends CatsScenario:
  protected def program[F[_]: Async]: F[Long] =
    def consume(queue: Queue[F, Int], left: Int, sum: Long): F[Long] =
      if left == 0 then Async[F].pure(sum)
      else queue.take.flatMap(n => consume(queue, left - 1, sum + n))
    Queue.bounded[F, Int](128).flatMap { queue =>
      queue.offer(1).replicateA_(size).start >> consume(queue, size, 0)
    }

/** Eight fibers, two permits. */
class CatsStdSemaphore extends CatsScenario:
  protected def program[F[_]: Async]: F[Long] =
    Semaphore[F](2).flatMap { permits =>
      List
        .fill(8)(permits.permit.surround(Async[F].cede).replicateA_(size / 8))
        .traverse(_.start)
        .flatMap(_.traverse_(_.joinWithNever))
        .as(size.toLong)
    }

/** fs2: eight streams joined into one. */
class CatsParJoin extends CatsScenario:
  protected def program[F[_]: Async]: F[Long] =
    val each = size / 8
    Stream
      .emits(List.fill(8)(Stream.range(0, each).covary[F].evalMap(n => Async[F].delay(n))))
      .parJoin(4)
      .compile
      .count
      .map(_ + size % 8)

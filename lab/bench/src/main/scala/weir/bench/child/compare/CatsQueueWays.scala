package weir.bench.child.compare

import java.util.concurrent.LinkedBlockingQueue

import cats.effect.IO
import cats.effect.std.Queue
import cats.syntax.all.*

/** The ways of Cats Effect alone. */
object CatsQueueWays:
  def batch(work: CatsWork): IO[Unit] =
    work.batches.traverse_(batch => work.produce(batch).flatMap(_.parTraverse_(work.consume)))

  /** Blocking calls are in `IO.interruptible`, as the scaladoc of `IO.blocking` asks for where the
    * call should end with the fiber.
    */
  def blockingQueue(work: CatsWork): IO[Unit] = IO.defer:
    val queue = LinkedBlockingQueue[Option[Int]](work.capacity)
    run(
      work,
      Vector(work.batches),
      task => IO.interruptible(queue.put(task)),
      IO.interruptible(queue.take())
    )

  def queue(work: CatsWork, shares: Vector[Vector[Int]]): IO[Unit] =
    Queue
      .bounded[IO, Option[Int]](work.capacity)
      .flatMap(queue => run(work, shares, queue.offer, queue.take))

  private def run(
      work: CatsWork,
      shares: Vector[Vector[Int]],
      offer: Option[Int] => IO[Unit],
      take: IO[Option[Int]]
  ): IO[Unit] =
    def produce(batch: Int): IO[Unit] =
      work.produce(batch).flatMap(_.traverse_(task => offer(Some(task))))

    def consumer: IO[Unit] = take.flatMap:
      case Some(task) => work.consume(task) >> consumer
      case None => IO.unit

    val producers = shares.parTraverse_(_.traverse_(produce))
    val ends = offer(None).replicateA_(work.parallelism)
    (producers *> ends, consumer.parReplicateA_(work.parallelism)).parTupled.void

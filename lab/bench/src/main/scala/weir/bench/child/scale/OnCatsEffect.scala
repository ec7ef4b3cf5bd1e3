package weir.bench.child.scale

import scala.concurrent.duration.*

import cats.effect.IO
import cats.effect.std.{Mutex, Queue, Semaphore}
import cats.syntax.all.*

import weir.bench.Rivals
import weir.lab.scale.ScaleRow

/** Cats Effect 3 on its work-stealing pool, with blocking code in `IO.blocking`. */
private[scale] final class OnCatsEffect(pool: CatsPool) extends ScaleSystem:
  def run(load: Load): Option[() => Long] =
    val io = (fibers(load) orElse gathers(load)).lift(load.row)
    io.map(io => () => pool.run(io)).orElse(Option.when(load.row == ScaleRow.RunSync)(calls(load)))

  private def fibers(load: Load): PartialFunction[ScaleRow, IO[Long]] =
    case ScaleRow.ForkFlat => started(load.items)(i => IO.delay(i.toLong))
    case ScaleRow.ForkTree => fibonacci(load.each)
    case ScaleRow.Yields => each(load)(IO.cede)
    case ScaleRow.QueueOne | ScaleRow.QueueMany =>
      Queue
        .bounded[IO, Int](load.capacity)
        .flatMap(queue => through(List.fill(load.fibers)(queue), load))
    case ScaleRow.QueuePairs =>
      List
        .range(0, load.fibers)
        .traverse(_ => Queue.bounded[IO, Int](load.capacity))
        .flatMap(through(_, load))
    case ScaleRow.TimersSet => each(load)(IO.cede.timeout(1.minute))
    case ScaleRow.TimersRing => each(load)(IO.sleep(1.milli))
    case ScaleRow.Semaphore =>
      Semaphore[IO](load.permits).flatMap(semaphore =>
        each(load)(semaphore.permit.surround(IO.cede))
      )
    case ScaleRow.Mutex =>
      Mutex[IO].flatMap: mutex =>
        var sum = 0L
        each(load)(mutex.lock.surround(IO.delay(sum += 1))) *> IO.delay(sum)

  private def gathers(load: Load): PartialFunction[ScaleRow, IO[Long]] =
    case ScaleRow.GatherReady | ScaleRow.GatherWork => gather(load)(i => IO.delay(load.compute(i)))
    case ScaleRow.GatherForked => gather(load)(i => IO.cede *> IO.delay(i))
    case ScaleRow.Blocking =>
      gather(load): _ =>
        IO.blocking:
          Thread.sleep(1)
          1

  private def gather(load: Load)(f: Int => IO[Int]): IO[Long] =
    load.items.parTraverse(f).map(Rivals.total)

  /** Returns the sum of what a fiber for each item returns. */
  private def started(items: List[Int])(f: Int => IO[Long]): IO[Long] =
    items
      .traverse(i => f(i).start)
      .flatMap(_.traverse(_.joinWithNever))
      .map(_.sum)

  /** Runs `step` in each fiber of `load` as often as it says, and counts. */
  private def each(load: Load)(step: IO[Unit]): IO[Long] =
    def loop(done: Int): IO[Long] =
      if done == load.each then IO.pure(done) else step.flatMap(_ => loop(done + 1))
    started(List.range(0, load.fibers))(_ => loop(0))

  private def fibonacci(n: Int): IO[Long] =
    if n < 2 then IO.pure(n)
    else
      for
        fiber <- IO.defer(fibonacci(n - 1)).start
        right <- fibonacci(n - 2)
        left <- fiber.joinWithNever
      yield left + right

  private def through(queues: List[Queue[IO, Int]], load: Load): IO[Long] =
    def produce(queue: Queue[IO, Int], left: Int): IO[Unit] =
      if left == 0 then IO.unit
      else queue.offer(left - 1).flatMap(_ => produce(queue, left - 1))
    def consume(queue: Queue[IO, Int], left: Int, sum: Long): IO[Long] =
      if left == 0 then IO.pure(sum)
      else queue.take.flatMap(n => consume(queue, left - 1, sum + n))
    for
      producers <- queues.traverse(produce(_, load.each).start)
      consumers <- queues.traverse(consume(_, load.each, 0).start)
      _ <- producers.traverse_(_.joinWithNever)
      sums <- consumers.traverse(_.joinWithNever)
    yield sums.sum

  private def calls(load: Load): () => Long =
    val call = IO.cede.as(1L)
    () =>
      ScaleSystem.onPlatformThreads(load.fibers): () =>
        var sum = 0L
        for _ <- load.items do sum += pool.run(call)
        sum

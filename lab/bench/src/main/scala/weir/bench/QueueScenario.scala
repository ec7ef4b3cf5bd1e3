package weir.bench

import java.util.concurrent.{ArrayBlockingQueue, BlockingQueue, LinkedBlockingQueue, TimeUnit}
import java.util.concurrent.atomic.LongAdder
import cats.effect.IO
import cats.effect.std.Queue as CatsQueue
import cats.syntax.all.*
import org.openjdk.jmh.annotations.*
import scala.compiletime.uninitialized
import weir.{Queue, Task}
import zio.{Queue as ZioQueue, ZIO}

/** Runs a number of producers, and as many consumers, on one queue. Each producer offers the
  * numbers below the size. In microseconds a run.
  */
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.MICROSECONDS)
abstract class QueueScenario(pairs: Int) extends Scenario:
  @Param(Array("10000")) var size: Int = uninitialized

  /** 0 for an unbounded queue. */
  @Param(Array("128", "0")) var capacity: Int = uninitialized

  private val each = List.range(0, pairs)

  def expected: Long = pairs * Rivals.totalBelow(size)

  def prepare(): Unit = ()

  @Benchmark def weir(): Long =
    def produce(queue: Queue[Int], left: Int): Task[Unit] =
      if left == 0 then Task.unit
      else queue.offer(left - 1).flatMap(_ => produce(queue, left - 1))
    def consume(queue: Queue[Int], left: Int, sum: Long): Task[Long] =
      if left == 0 then Task.pure(sum)
      else queue.take.flatMap(n => consume(queue, left - 1, sum + n))
    val make = if capacity == 0 then Queue.unbounded[Int] else Queue.bounded[Int](capacity)
    make
      .flatMap(queue =>
        for
          producers <- Task.traverse(each)(_ => produce(queue, size).start)
          consumers <- Task.traverse(each)(_ => consume(queue, size, 0).start)
          _ <- Task.foreach(producers)(_.joinOrFail)
          sums <- Task.traverse(consumers)(_.joinOrFail)
        yield sums.sum
      )
      .runSync()

  @Benchmark def catsEffect(): Long =
    def produce(queue: CatsQueue[IO, Int], left: Int): IO[Unit] =
      if left == 0 then IO.unit
      else queue.offer(left - 1).flatMap(_ => produce(queue, left - 1))
    def consume(queue: CatsQueue[IO, Int], left: Int, sum: Long): IO[Long] =
      if left == 0 then IO.pure(sum)
      else queue.take.flatMap(n => consume(queue, left - 1, sum + n))
    val make =
      if capacity == 0 then CatsQueue.unbounded[IO, Int] else CatsQueue.bounded[IO, Int](capacity)
    Rivals.runCats(
      make.flatMap(queue =>
        for
          producers <- each.traverse(_ => produce(queue, size).start)
          consumers <- each.traverse(_ => consume(queue, size, 0).start)
          _ <- producers.traverse_(_.joinWithNever)
          sums <- consumers.traverse(_.joinWithNever)
        yield sums.sum
      )
    )

  @Benchmark def zio(): Long =
    def produce(queue: ZioQueue[Int], left: Int): ZIO[Any, Nothing, Unit] =
      if left == 0 then ZIO.unit
      else queue.offer(left - 1).flatMap(_ => produce(queue, left - 1))
    def consume(queue: ZioQueue[Int], left: Int, sum: Long): ZIO[Any, Nothing, Long] =
      if left == 0 then ZIO.succeed(sum)
      else queue.take.flatMap(n => consume(queue, left - 1, sum + n))
    val make = if capacity == 0 then ZioQueue.unbounded[Int] else ZioQueue.bounded[Int](capacity)
    Rivals.runZio(
      make.flatMap(queue =>
        for
          producers <- ZIO.foreach(each)(_ => produce(queue, size).fork)
          consumers <- ZIO.foreach(each)(_ => consume(queue, size, 0).fork)
          _ <- ZIO.foreachDiscard(producers)(_.join)
          sums <- ZIO.foreach(consumers)(_.join)
        yield sums.sum
      )
    )

  @Benchmark def virtualThreads(): Long =
    val queue: BlockingQueue[Int] =
      if capacity == 0 then LinkedBlockingQueue() else ArrayBlockingQueue(capacity)
    val total = LongAdder()
    val threads = each.flatMap(_ =>
      List(
        Thread.startVirtualThread { () =>
          var left = size
          while left > 0 do
            left -= 1
            queue.put(left)
        },
        Thread.startVirtualThread { () =>
          var sum = 0L
          var left = size
          while left > 0 do
            sum += queue.take()
            left -= 1
          total.add(sum)
        }
      )
    )
    threads.foreach(_.join())
    total.sum

/** Measures 10,000 values that go through a bounded queue, from one fiber to another. */
class QueueOneToOne extends QueueScenario(pairs = 1)

/** Measures a bounded queue to which eight fibers offer 10,000 values each, and from which eight
  * others take them.
  */
class QueueEightToEight extends QueueScenario(pairs = 8)

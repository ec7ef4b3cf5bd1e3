package weir.bench

import java.util.concurrent.{Semaphore as JdkSemaphore, TimeUnit}
import cats.effect.IO
import cats.effect.std.Semaphore as CatsSemaphore
import cats.syntax.all.*
import org.openjdk.jmh.annotations.*
import scala.compiletime.uninitialized
import weir.{Semaphore, Task}
import zio.{Semaphore as ZioSemaphore, ZIO}

/** Measures a permit. Each of some fibers takes the only permit of a semaphore 1,000 times. The
  * work under the permit is ready, or yields once, so that the other fibers have to queue.
  */
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.MICROSECONDS)
class SemaphoreContention extends Scenario:
  @Param(Array("1000")) var size: Int = uninitialized
  @Param(Array("1", "8")) var fibers: Int = uninitialized
  @Param(Array("ready", "cede")) var work: String = uninitialized

  /** Guarded by the permit. */
  private var count = 0L

  def expected: Long = fibers.toLong * size

  def prepare(): Unit = ()

  private def result(): Long =
    val total = count
    count = 0
    total

  @Benchmark def weir(): Long =
    val one = Task.delay(count += 1)
    val body = if work == "ready" then one else one.andThen(Task.cede)
    def each(semaphore: Semaphore, left: Int): Task[Unit] =
      if left == 0 then Task.unit
      else semaphore.withPermit(body).flatMap(_ => each(semaphore, left - 1))
    Semaphore(1)
      .flatMap(semaphore =>
        Task
          .traverse(List.range(0, fibers))(_ => each(semaphore, size).start)
          .flatMap(Task.foreach(_)(_.joinOrFail))
      )
      .runSync()
    result()

  @Benchmark def catsEffect(): Long =
    val one = IO.delay(count += 1)
    val body = if work == "ready" then one else one *> IO.cede
    def each(semaphore: CatsSemaphore[IO], left: Int): IO[Unit] =
      if left == 0 then IO.unit
      else semaphore.permit.surround(body).flatMap(_ => each(semaphore, left - 1))
    Rivals.runCats(
      CatsSemaphore[IO](1)
        .flatMap(semaphore =>
          List
            .range(0, fibers)
            .traverse(_ => each(semaphore, size).start)
            .flatMap(_.traverse_(_.joinWithNever))
        )
    )
    result()

  @Benchmark def zio(): Long =
    val one = ZIO.succeed(count += 1)
    val body = if work == "ready" then one else one *> ZIO.yieldNow
    def each(semaphore: ZioSemaphore, left: Int): ZIO[Any, Nothing, Unit] =
      if left == 0 then ZIO.unit
      else semaphore.withPermit(body).flatMap(_ => each(semaphore, left - 1))
    Rivals.runZio(
      ZioSemaphore
        .make(1)
        .flatMap(semaphore =>
          ZIO
            .foreach(List.range(0, fibers))(_ => each(semaphore, size).fork)
            .flatMap(ZIO.foreachDiscard(_)(_.join))
        )
    )
    result()

  @Benchmark def virtualThreads(): Long =
    val semaphore = JdkSemaphore(1, true)
    val threads = List
      .range(0, fibers)
      .map(_ =>
        Thread.startVirtualThread { () =>
          var left = size
          while left > 0 do
            semaphore.acquire()
            try
              count += 1
              if work != "ready" then Thread.`yield`()
            finally semaphore.release()
            left -= 1
        }
      )
    threads.foreach(_.join())
    result()

package weir.bench

import cats.effect.IO
import org.openjdk.jmh.annotations.Benchmark
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.concurrent.duration.Duration
import weir.Task
import zio.ZIO

/** Measures a step of a loop that is written as a recursive flatMap.
  *
  * There is no plain loop beside it, since the compiler would reduce that to its result.
  */
class FlatMapLoop extends TaskScenario:
  def expected: Long = size

  def prepare(): Unit = ()

  @Benchmark def weir(): Int =
    def from(i: Int): Task[Int] =
      Task.delay(i + 1).flatMap(next => if next < size then from(next) else Task.pure(next))
    from(0).runSync()

  @Benchmark def catsEffect(): Int =
    def from(i: Int): IO[Int] =
      IO.delay(i + 1).flatMap(next => if next < size then from(next) else IO.pure(next))
    Rivals.runCats(from(0))

  @Benchmark def zio(): Int =
    def from(i: Int): ZIO[Any, Nothing, Int] =
      ZIO.succeed(i + 1).flatMap(next => if next < size then from(next) else ZIO.succeed(next))
    Rivals.runZio(from(0))

  @Benchmark def future(): Int =
    given ExecutionContext = ExecutionContext.global
    def from(i: Int): Future[Int] =
      Future(i + 1).flatMap(next => if next < size then from(next) else Future.successful(next))
    Await.result(from(0), Duration.Inf)

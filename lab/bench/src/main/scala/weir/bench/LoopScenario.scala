package weir.bench

import cats.effect.IO
import org.openjdk.jmh.annotations.Benchmark
import weir.Task
import zio.ZIO

/** One small thing, done 1,000 times by one fiber, one after the other. Each returns 1. */
abstract class LoopScenario extends TaskScenario:
  protected def weirStep: Task[Int]
  protected def catsStep: IO[Int]
  protected def zioStep: ZIO[Any, Throwable, Int]

  def expected: Long = size
  def prepare(): Unit = ()

  @Benchmark def weir(): Long =
    val step = weirStep
    def loop(left: Int, sum: Long): Task[Long] =
      if left == 0 then Task.pure(sum) else step.flatMap(n => loop(left - 1, sum + n))
    loop(size, 0).runSync()

  @Benchmark def catsEffect(): Long =
    val step = catsStep
    def loop(left: Int, sum: Long): IO[Long] =
      if left == 0 then IO.pure(sum) else step.flatMap(n => loop(left - 1, sum + n))
    Rivals.runCats(loop(size, 0))

  @Benchmark def zio(): Long =
    val step = zioStep
    def loop(left: Int, sum: Long): ZIO[Any, Throwable, Long] =
      if left == 0 then ZIO.succeed(sum) else step.flatMap(n => loop(left - 1, sum + n))
    Rivals.runZio(loop(size, 0))

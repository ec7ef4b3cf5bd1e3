package weir.bench

import cats.effect.IO
import cats.effect.kernel.Async
import cats.syntax.all.*
import org.openjdk.jmh.annotations.Benchmark
import weir.Task
import weir.interop.cats.given

/** A program that sees its effect through Cats Effect's type class alone, on both effects. */
abstract class CatsScenario extends TaskScenario:
  protected def program[F[_]: Async]: F[Long]

  def expected: Long = size
  def prepare(): Unit = ()

  @Benchmark def weir(): Long = program[Task].runSync()
  @Benchmark def catsEffect(): Long = Rivals.runCats(program[IO])

/** Such a program that does one small thing again and again. Each returns 1. */
abstract class CatsLoop extends CatsScenario:
  protected def step[F[_]: Async]: F[Int]

  protected def program[F[_]: Async]: F[Long] =
    val once = step[F]
    def loop(left: Int, sum: Long): F[Long] =
      if left == 0 then Async[F].pure(sum) else once.flatMap(n => loop(left - 1, sum + n))
    loop(size, 0)

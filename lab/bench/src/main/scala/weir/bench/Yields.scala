package weir.bench

import java.util.concurrent.TimeUnit
import cats.effect.IO
import cats.syntax.all.*
import org.openjdk.jmh.annotations.*
import ox.par
import scala.compiletime.uninitialized
import weir.Task
import zio.ZIO

/** Measures 1,000 fibers, each of which yields 1,000 times. */
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.MILLISECONDS)
class Yields extends Scenario:
  @Param(Array("1000")) var size: Int = uninitialized
  private val times = 1000
  private var items: List[Int] = uninitialized
  private var thunks: Vector[() => Int] = uninitialized

  def expected: Long = Rivals.totalBelow(size)

  def prepare(): Unit =
    items = List.range(0, size)
    thunks = Vector.tabulate(size)(i =>
      () => {
        var left = times
        while left > 0 do
          Thread.`yield`()
          left -= 1
        i
      }
    )

  @Benchmark def weir(): Long =
    def yielding(left: Int, i: Int): Task[Int] =
      if left == 0 then Task.pure(i) else Task.cede.flatMap(_ => yielding(left - 1, i))
    Task
      .traverse(items)(i => yielding(times, i).start)
      .flatMap(fibers => Task.traverse(fibers)(_.joinOrFail))
      .map(Rivals.total)
      .runSync()

  @Benchmark def catsEffect(): Long =
    def yielding(left: Int, i: Int): IO[Int] =
      if left == 0 then IO.pure(i) else IO.cede.flatMap(_ => yielding(left - 1, i))
    Rivals.runCats(
      items
        .traverse(i => yielding(times, i).start)
        .flatMap(_.traverse(_.joinWithNever))
        .map(Rivals.total)
    )

  @Benchmark def zio(): Long =
    def yielding(left: Int, i: Int): ZIO[Any, Nothing, Int] =
      if left == 0 then ZIO.succeed(i) else ZIO.yieldNow.flatMap(_ => yielding(left - 1, i))
    Rivals.runZio(
      ZIO
        .foreach(items)(i => yielding(times, i).fork)
        .flatMap(ZIO.foreach(_)(_.join))
        .map(Rivals.total)
    )

  @Benchmark def ox(): Long = Rivals.total(par(thunks))

  @Benchmark def virtualThreads(): Long = Rivals.threadEach(thunks)

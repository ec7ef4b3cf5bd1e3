package weir.bench

import java.util.concurrent.TimeUnit
import cats.effect.IO
import org.openjdk.jmh.annotations.*
import ox.{fork, supervised}
import scala.compiletime.uninitialized
import weir.Task
import zio.ZIO

/** Measures a step in direct style, with flatMap, and as plain code: a step that is ready, and one
  * that waits for a fiber. A figure in microseconds for 1,000 steps is one in nanoseconds for a
  * step.
  */
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.MICROSECONDS)
class DirectAwait extends Scenario:
  @Param(Array("1000")) var size: Int = uninitialized
  @Param(Array("ready", "forked")) var step: String = uninitialized

  private var weirStep: Int => Task[Int] = uninitialized
  private var catsStep: Int => IO[Int] = uninitialized
  private var zioStep: Int => ZIO[Any, Throwable, Int] = uninitialized

  def expected: Long = Rivals.totalBelow(size)

  def prepare(): Unit =
    val ready = step == "ready"
    weirStep = if ready then i => Task.delay(i) else i => Task.delay(i).start.flatMap(_.joinOrFail)
    catsStep = if ready then i => IO.delay(i) else i => IO.delay(i).start.flatMap(_.joinWithNever)
    zioStep = if ready then i => ZIO.succeed(i) else i => ZIO.succeed(i).fork.flatMap(_.join)

  @Benchmark def weir(): Long =
    Task
      .direct {
        var sum = 0L
        var i = 0
        while i < size do
          sum += weirStep(i).await
          i += 1
        sum
      }
      .start
      .flatMap(_.joinOrFail)
      .runSync()

  @Benchmark def weirFlatMap(): Long =
    def go(i: Int, sum: Long): Task[Long] =
      if i == size then Task.pure(sum) else weirStep(i).flatMap(n => go(i + 1, sum + n))
    go(0, 0).start.flatMap(_.joinOrFail).runSync()

  @Benchmark def catsEffect(): Long =
    def go(i: Int, sum: Long): IO[Long] =
      if i == size then IO.pure(sum) else catsStep(i).flatMap(n => go(i + 1, sum + n))
    Rivals.runCats(go(0, 0))

  @Benchmark def zio(): Long =
    def go(i: Int, sum: Long): ZIO[Any, Throwable, Long] =
      if i == size then ZIO.succeed(sum) else zioStep(i).flatMap(n => go(i + 1, sum + n))
    Rivals.runZio(go(0, 0))

  // In direct style without tasks a ready step is a call, and one that waits is a fork.
  @Benchmark def ox(): Long = supervised {
    val ready = step == "ready"
    var sum = 0L
    var i = 0
    while i < size do
      val n = i
      sum += (if ready then n else fork(n).join())
      i += 1
    sum
  }

package weir.bench

import cats.effect.IO
import fs2.Stream as FS2
import org.apache.pekko.stream.scaladsl.Source as PekkoSource
import org.openjdk.jmh.annotations.{Benchmark, Param}
import org.openjdk.jmh.infra.Blackhole
import ox.flow.Flow
import scala.compiletime.uninitialized
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.Future
import weir.{Stream, Task}
import zio.ZIO
import zio.stream.ZStream

/** Compares effects that each compute for some microseconds with the limit of the cores.
  *
  * `loop` computes all of them on one thread: the bound is its time divided by the cores.
  */
class StreamParWork extends StreamScenario:
  /** About 10 µs: `loop` measures the exact time. */
  @Param(Array("4000")) var tokens: Int = uninitialized
  private val parallelism = 16

  def expected: Long = Rivals.totalBelow(size) + size

  private def compute(i: Int): Int =
    Blackhole.consumeCPU(tokens)
    i + 1

  @Benchmark def weir(): Long =
    Stream
      .fromIterable(items)
      .parEvalMap(parallelism)(i => Task.delay(compute(i)))
      .fold(0L)(_ + _)
      .runSync()

  @Benchmark def weirUnordered(): Long =
    Stream
      .fromIterable(items)
      .parEvalMapUnordered(parallelism)(i => Task.delay(compute(i)))
      .fold(0L)(_ + _)
      .runSync()

  @Benchmark def fs2(): Long = Rivals.runCats(
    FS2
      .emits(items)
      .covary[IO]
      .parEvalMap(parallelism)(i => IO.delay(compute(i)))
      .compile
      .fold(0L)(_ + _)
  )

  @Benchmark def zio(): Long = Rivals.runZio(
    ZStream
      .fromIterable(items)
      .mapZIOPar(parallelism)(i => ZIO.succeed(compute(i)))
      .runFold(0L)(_ + _)
  )

  @Benchmark def ox(): Long =
    Flow.fromIterable(items).mapPar(parallelism)(compute).runFold(0L)(_ + _)

  @Benchmark def pekko(): Long = Rivals.runPekko(
    PekkoSource(items)
      .mapAsync(parallelism)(i => Future(compute(i)))
      .runFold(0L)(_ + _)(using _)
  )

  @Benchmark def loop(): Long =
    var sum = 0L
    val each = items.iterator
    while each.hasNext do sum += compute(each.next())
    sum

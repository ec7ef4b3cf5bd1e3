package weir.bench

import cats.effect.IO
import fs2.Stream as FS2
import org.openjdk.jmh.annotations.Benchmark
import ox.flow.Flow
import weir.{Stream, Task}
import zio.ZIO
import zio.stream.ZStream

/** Measures an effect for each element, one after the other. */
class StreamEffect extends StreamScenario:
  def expected: Long = Rivals.totalBelow(size) + size

  @Benchmark def weir(): Long =
    Stream.fromIterable(items).evalMap(i => Task.delay(i + 1)).fold(0L)(_ + _).runSync()

  @Benchmark def fs2(): Long = Rivals.runCats(
    FS2.emits(items).covary[IO].evalMap(i => IO.delay(i + 1)).compile.fold(0L)(_ + _)
  )

  // fs2's documentation: faster than evalMap, by running the effects of a whole chunk at once.
  @Benchmark def fs2Chunked(): Long = Rivals.runCats(
    FS2.emits(items).covary[IO].evalMapChunk(i => IO.delay(i + 1)).compile.fold(0L)(_ + _)
  )

  @Benchmark def zio(): Long = Rivals.runZio(
    ZStream.fromIterable(items).mapZIO(i => ZIO.succeed(i + 1)).runFold(0L)(_ + _)
  )

  // In direct style an effect is a plain function.
  @Benchmark def ox(): Long = Flow.fromIterable(items).map(_ + 1).runFold(0L)(_ + _)

  @Benchmark def loop(): Long =
    var sum = 0L
    val each = items.iterator
    while each.hasNext do sum += each.next() + 1
    sum

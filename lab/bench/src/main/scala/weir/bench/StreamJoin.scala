package weir.bench

import cats.effect.IO
import fs2.Stream as FS2
import org.apache.pekko.stream.scaladsl.Source as PekkoSource
import org.openjdk.jmh.annotations.Benchmark
import ox.channels.BufferCapacity
import ox.flow.Flow
import reactor.core.publisher.Flux
import reactor.core.scheduler.Schedulers
import scala.compiletime.uninitialized
import scala.jdk.CollectionConverters.*
import weir.Stream
import zio.stream.ZStream

/** Measures 16 streams that are joined as their elements come.
  *
  * As in StreamPrefetch, the elements of a stream come one by one, but for the chunked variants.
  */
class StreamJoin extends StreamScenario:
  private val width = 16
  private var parts: List[Vector[Int]] = uninitialized

  override def prepare(): Unit =
    super.prepare()
    parts = items.grouped((size + width - 1) / width).toList

  def expected: Long = Rivals.totalBelow(size)

  @Benchmark def weir(): Long =
    Stream
      .fromIterable(parts.map(part => Stream.fromIterable(part)))
      .parJoin(width)
      .fold(0L)(_ + _)
      .runSync()

  // The elements are made one by one.
  @Benchmark def weirMapped(): Long =
    Stream
      .fromIterable(parts.map(part => Stream.fromIterable(part).map(_ + 0)))
      .parJoin(width)
      .fold(0L)(_ + _)
      .runSync()

  @Benchmark def fs2(): Long = joinFs2(part => FS2.emits(part).chunkLimit(1).unchunks)

  @Benchmark def fs2Chunked(): Long = joinFs2(part => FS2.emits(part))

  private def joinFs2(stream: Vector[Int] => FS2[IO, Int]): Long = Rivals.runCats(
    FS2.emits(parts).covary[IO].map(stream).parJoin(width).compile.fold(0L)(_ + _)
  )

  @Benchmark def zio(): Long = joinZio(part => ZStream.fromIterable(part, 1))

  @Benchmark def zioChunked(): Long = joinZio(part => ZStream.fromIterable(part))

  private def joinZio(stream: Vector[Int] => ZStream[Any, Nothing, Int]): Long =
    Rivals.runZio(ZStream.fromIterable(parts).flatMapPar(width)(stream).runFold(0L)(_ + _))

  @Benchmark def ox(): Long =
    given BufferCapacity = BufferCapacity(width)
    Flow.fromIterable(parts.map(Flow.fromIterable)).flattenPar(width).runFold(0L)(_ + _)

  @Benchmark def pekko(): Long = Rivals.runPekko(
    PekkoSource(parts).flatMapMerge(width, PekkoSource(_)).runFold(0L)(_ + _)(using _)
  )

  // Reference, Threading and Schedulers: sources run concurrently only with subscribeOn.
  @Benchmark def reactor(): Long = Flux
    .fromIterable(parts.asJava)
    .flatMap(part => Flux.fromIterable(part.asJava).subscribeOn(Schedulers.parallel()), width)
    .reduce(0L, _ + _)
    .block()

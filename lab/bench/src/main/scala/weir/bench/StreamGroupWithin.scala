package weir.bench

import cats.effect.IO
import fs2.Stream as FS2
import java.time.Duration as JavaDuration
import org.apache.pekko.stream.scaladsl.Source as PekkoSource
import org.openjdk.jmh.annotations.Benchmark
import ox.flow.Flow
import reactor.core.publisher.Flux
import scala.compiletime.uninitialized
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.Stream
import zio.stream.ZStream

/** Measures elements that go into groups of 64, or of the elements within a second. */
class StreamGroupWithin extends StreamScenario:
  private val group = 64
  private var javaItems: java.util.List[Int] = uninitialized

  override def prepare(): Unit =
    super.prepare()
    javaItems = java.util.ArrayList(items.asJava)

  def expected: Long = size

  @Benchmark def weir(): Long =
    Stream.fromIterable(items).groupWithin(group, 1.second).fold(0L)(_ + _.size).runSync()

  // The elements are made one by one.
  @Benchmark def weirMapped(): Long = Stream
    .fromIterable(items)
    .map(_ + 0)
    .groupWithin(group, 1.second)
    .fold(0L)(_ + _.size)
    .runSync()

  @Benchmark def fs2(): Long = groupFs2(FS2.emits(items).chunkLimit(1).unchunks)

  @Benchmark def fs2Chunked(): Long = groupFs2(FS2.emits(items))

  private def groupFs2(stream: FS2[IO, Int]): Long =
    Rivals.runCats(stream.groupWithin(group, 1.second).compile.fold(0L)(_ + _.size))

  @Benchmark def zio(): Long = groupZio(ZStream.fromIterable(items, 1))

  @Benchmark def zioChunked(): Long = groupZio(ZStream.fromIterable(items))

  private def groupZio(stream: ZStream[Any, Nothing, Int]): Long =
    Rivals.runZio(stream.groupedWithin(group, JavaDuration.ofSeconds(1)).runFold(0L)(_ + _.size))

  @Benchmark def ox(): Long =
    Flow.fromIterable(items).groupedWithin(group, 1.second).runFold(0L)(_ + _.size)

  @Benchmark def pekko(): Long = Rivals.runPekko(
    PekkoSource(items).groupedWithin(group, 1.second).runFold(0L)(_ + _.size)(using _)
  )

  @Benchmark def reactor(): Long = Flux
    .fromIterable(javaItems)
    .bufferTimeout(group, JavaDuration.ofSeconds(1), true)
    .reduce(0L, _ + _.size)
    .block()

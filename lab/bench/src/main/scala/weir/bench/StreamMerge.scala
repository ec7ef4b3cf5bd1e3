package weir.bench

import cats.effect.IO
import fs2.Stream as FS2
import org.apache.pekko.stream.scaladsl.Source as PekkoSource
import org.openjdk.jmh.annotations.Benchmark
import ox.flow.Flow
import reactor.core.publisher.Flux
import reactor.core.scheduler.Schedulers
import scala.compiletime.uninitialized
import scala.jdk.CollectionConverters.*
import weir.Stream
import zio.stream.ZStream

/** Measures two streams that are merged as their elements come. */
class StreamMerge extends StreamScenario:
  private var halves: (Vector[Int], Vector[Int]) = uninitialized
  private var javaHalves: (java.util.List[Int], java.util.List[Int]) = uninitialized

  override def prepare(): Unit =
    super.prepare()
    halves = items.splitAt(size / 2)
    javaHalves = (java.util.ArrayList(halves._1.asJava), java.util.ArrayList(halves._2.asJava))

  def expected: Long = Rivals.totalBelow(size)

  @Benchmark def weir(): Long =
    Stream
      .fromIterable(halves._1)
      .merge(Stream.fromIterable(halves._2))
      .fold(0L)(_ + _)
      .runSync()

  // The elements are made one by one.
  @Benchmark def weirMapped(): Long =
    def half(items: Vector[Int]) = Stream.fromIterable(items).map(_ + 0)
    half(halves._1).merge(half(halves._2)).fold(0L)(_ + _).runSync()

  @Benchmark def fs2(): Long = mergeFs2(items => FS2.emits(items).chunkLimit(1).unchunks)

  @Benchmark def fs2Chunked(): Long = mergeFs2(FS2.emits(_))

  private def mergeFs2(stream: Vector[Int] => FS2[IO, Int]): Long =
    Rivals.runCats(stream(halves._1).merge(stream(halves._2)).compile.fold(0L)(_ + _))

  @Benchmark def zio(): Long = mergeZio(ZStream.fromIterable(_, 1))

  @Benchmark def zioChunked(): Long = mergeZio(ZStream.fromIterable(_))

  private def mergeZio(stream: Vector[Int] => ZStream[Any, Nothing, Int]): Long =
    Rivals.runZio(stream(halves._1).merge(stream(halves._2)).runFold(0L)(_ + _))

  @Benchmark def ox(): Long =
    Flow.fromIterable(halves._1).merge(Flow.fromIterable(halves._2)).runFold(0L)(_ + _)

  @Benchmark def pekko(): Long = Rivals.runPekko(
    PekkoSource(halves._1).merge(PekkoSource(halves._2)).runFold(0L)(_ + _)(using _)
  )

  // Reference, Threading and Schedulers: a source runs where it is subscribed to, so that two run
  // at the same time only with subscribeOn.
  @Benchmark def reactor(): Long =
    def half(items: java.util.List[Int]) =
      Flux.fromIterable(items).subscribeOn(Schedulers.parallel())
    Flux.merge(half(javaHalves._1), half(javaHalves._2)).reduce(0L, _ + _).block()

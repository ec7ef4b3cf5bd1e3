package weir.bench

import cats.effect.IO
import fs2.{Pipe, Stream as FS2}
import org.apache.pekko.stream.SourceShape
import org.apache.pekko.stream.scaladsl.{
  Broadcast,
  Flow as PekkoFlow,
  GraphDSL,
  Merge,
  Source as PekkoSource
}
import org.openjdk.jmh.annotations.Benchmark
import reactor.core.publisher.Flux
import reactor.core.scheduler.Schedulers
import scala.compiletime.uninitialized
import scala.jdk.CollectionConverters.*
import weir.Stream
import zio.ZIO
import zio.stream.ZStream

/** Measures a stream that gives each element to four consumers, each of which adds them up.
  *
  * Ox has no such operator: its `alsoTo` and `tap` give an element to one more.
  */
class StreamBroadcast extends StreamScenario:
  private val width = 4
  private val buffer = 16
  private var javaItems: java.util.List[Int] = uninitialized

  override def prepare(): Unit =
    super.prepare()
    javaItems = java.util.ArrayList(items.asJava)

  def expected: Long = width * Rivals.totalBelow(size)

  @Benchmark def weir(): Long = broadcast(Stream.fromIterable(items))

  // The elements are made one by one.
  @Benchmark def weirMapped(): Long = broadcast(Stream.fromIterable(items).map(_ + 0))

  private def broadcast(stream: Stream[Int]): Long =
    val add = (part: Stream[Int]) => Stream.eval(part.fold(0L)(_ + _))
    stream.broadcastThrough(Vector.fill(width)(add)*).fold(0L)(_ + _).runSync()

  @Benchmark def fs2(): Long = broadcastFs2(FS2.emits(items).chunkLimit(1).unchunks)

  @Benchmark def fs2Chunked(): Long = broadcastFs2(FS2.emits(items))

  private def broadcastFs2(stream: FS2[IO, Int]): Long =
    val add: Pipe[IO, Int, Long] = part => FS2.eval(part.compile.fold(0L)(_ + _))
    Rivals.runCats(
      stream.broadcastThrough(Vector.fill(width)(add)*).compile.fold(0L)(_ + _)
    )

  @Benchmark def zio(): Long = broadcastZio(ZStream.fromIterable(items, 1))

  @Benchmark def zioChunked(): Long = broadcastZio(ZStream.fromIterable(items))

  private def broadcastZio(stream: ZStream[Any, Nothing, Int]): Long = Rivals.runZio(
    ZIO.scoped(
      stream
        .broadcast(width, buffer)
        .flatMap(parts => ZIO.foreachPar(parts)(_.runFold(0L)(_ + _)))
        .map(_.sum)
    )
  )

  @Benchmark def pekko(): Long =
    val parts = PekkoSource.fromGraph(GraphDSL.create() { implicit builder =>
      import GraphDSL.Implicits.*
      val broadcast = builder.add(Broadcast[Int](width))
      val merge = builder.add(Merge[Long](width))
      PekkoSource(items) ~> broadcast
      for _ <- 1 to width do broadcast ~> PekkoFlow[Int].fold(0L)(_ + _).async ~> merge
      SourceShape(merge.out)
    })
    Rivals.runPekko(parts.runFold(0L)(_ + _)(using _))

  @Benchmark def reactor(): Long =
    val shared = Flux.fromIterable(javaItems).publish(buffer).autoConnect(width)
    val parts = List.fill(width)(
      shared.publishOn(Schedulers.parallel(), buffer).reduce(0L, _ + _)
    )
    Flux.merge(parts.asJava).reduce(0L, _ + _).block()

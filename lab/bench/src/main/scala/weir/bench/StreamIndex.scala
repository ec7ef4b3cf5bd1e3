package weir.bench

import cats.effect.IO
import fs2.Stream as FS2
import org.apache.pekko.stream.scaladsl.Source as PekkoSource
import org.openjdk.jmh.annotations.Benchmark
import ox.flow.Flow
import reactor.core.publisher.Flux
import scala.compiletime.uninitialized
import scala.jdk.CollectionConverters.*
import weir.Stream
import zio.stream.ZStream

/** Measures the numbering of elements. */
class StreamIndex extends StreamScenario:
  private var javaItems: java.util.List[Int] = uninitialized

  override def prepare(): Unit =
    super.prepare()
    javaItems = java.util.ArrayList(items.asJava)

  def expected: Long = items.zipWithIndex.map((x, i) => x.toLong * i).sum

  @Benchmark def weir(): Long =
    Stream.fromIterable(items).zipWithIndex.map((x, i) => x * i).fold(0L)(_ + _).runSync()

  @Benchmark def fs2(): Long =
    Rivals.runCats(
      FS2.emits(items).covary[IO].zipWithIndex.map((x, i) => x * i).compile.fold(0L)(_ + _)
    )

  @Benchmark def zio(): Long =
    Rivals.runZio(ZStream.fromIterable(items).zipWithIndex.map((x, i) => x * i).runFold(0L)(_ + _))

  @Benchmark def ox(): Long =
    Flow.fromIterable(items).zipWithIndex.map((x, i) => x * i).runFold(0L)(_ + _)

  @Benchmark def pekko(): Long =
    Rivals.runPekko(
      PekkoSource(items).zipWithIndex.map((x, i) => x * i).runFold(0L)(_ + _)(using _)
    )

  @Benchmark def reactor(): Long =
    Flux.fromIterable(javaItems).index((i, x) => x * i).reduce(0L, _ + _).block()

  @Benchmark def loop(): Long =
    var sum = 0L
    val each = items.iterator
    var index = 0L
    while each.hasNext do
      sum += each.next() * index
      index += 1
    sum

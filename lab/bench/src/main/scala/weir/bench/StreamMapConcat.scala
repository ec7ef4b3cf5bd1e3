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

/** Measures `mapConcat`, which makes ten elements of each. */
class StreamMapConcat extends StreamScenario:
  private var javaItems: java.util.List[Int] = uninitialized

  override def prepare(): Unit =
    super.prepare()
    javaItems = java.util.ArrayList(items.asJava)

  def expected: Long = items.flatMap(x => List.range(x, x + 10)).map(_.toLong).sum

  @Benchmark def weir(): Long =
    Stream.fromIterable(items).mapConcat(x => Vector.range(x, x + 10)).fold(0L)(_ + _).runSync()

  @Benchmark def fs2(): Long =
    Rivals.runCats(
      FS2
        .emits(items)
        .covary[IO]
        .flatMap(x => FS2.emits(Vector.range(x, x + 10)))
        .compile
        .fold(0L)(_ + _)
    )

  @Benchmark def zio(): Long =
    Rivals.runZio(
      ZStream.fromIterable(items).mapConcat(x => Vector.range(x, x + 10)).runFold(0L)(_ + _)
    )

  @Benchmark def ox(): Long =
    Flow.fromIterable(items).mapConcat(x => Vector.range(x, x + 10)).runFold(0L)(_ + _)

  @Benchmark def pekko(): Long =
    Rivals.runPekko(
      PekkoSource(items).mapConcat(x => Vector.range(x, x + 10)).runFold(0L)(_ + _)(using _)
    )

  @Benchmark def reactor(): Long =
    Flux
      .fromIterable(javaItems)
      .flatMapIterable(x => Vector.range(x, x + 10).asJava)
      .reduce(0L, _ + _)
      .block()

  @Benchmark def javaStream(): Long =
    javaItems
      .stream()
      .flatMap(x => Vector.range(x, x + 10).asJava.stream())
      .reduce(0L, _ + _, _ + _)

  @Benchmark def loop(): Long =
    var sum = 0L
    val each = items.iterator
    while each.hasNext do
      val item = each.next()
      val inner = Vector.range(item, item + 10).iterator
      while inner.hasNext do sum += inner.next()
    sum

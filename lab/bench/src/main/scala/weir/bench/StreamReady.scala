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

/** Measures filter, map and fold. */
class StreamReady extends StreamScenario:
  private var javaItems: java.util.List[Int] = uninitialized

  override def prepare(): Unit =
    super.prepare()
    javaItems = java.util.ArrayList(items.asJava)

  def expected: Long = items.filter(_ % 2 == 0).map(_ + 1L).sum

  @Benchmark def weir(): Long =
    Stream.fromIterable(items).filter(_ % 2 == 0).map(_ + 1).fold(0L)(_ + _).runSync()

  @Benchmark def fs2(): Long = Rivals.runCats(
    FS2.emits(items).covary[IO].filter(_ % 2 == 0).map(_ + 1).compile.fold(0L)(_ + _)
  )

  @Benchmark def zio(): Long =
    Rivals.runZio(ZStream.fromIterable(items).filter(_ % 2 == 0).map(_ + 1).runFold(0L)(_ + _))

  @Benchmark def ox(): Long =
    Flow.fromIterable(items).filter(_ % 2 == 0).map(_ + 1).runFold(0L)(_ + _)

  @Benchmark def pekko(): Long =
    Rivals.runPekko(PekkoSource(items).filter(_ % 2 == 0).map(_ + 1).runFold(0L)(_ + _)(using _))

  @Benchmark def reactor(): Long =
    Flux.fromIterable(javaItems).filter(_ % 2 == 0).map(_ + 1).reduce(0L, _ + _).block()

  @Benchmark def javaStream(): Long =
    javaItems.stream().filter(_ % 2 == 0).map(_ + 1).reduce(0L, _ + _, _ + _)

  @Benchmark def loop(): Long =
    var sum = 0L
    val each = items.iterator
    while each.hasNext do
      val item = each.next()
      if item % 2 == 0 then sum += item + 1
    sum

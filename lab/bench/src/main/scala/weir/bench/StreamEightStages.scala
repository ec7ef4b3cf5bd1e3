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

/** Measures depth: four times map and filter, then fold. */
class StreamEightStages extends StreamScenario:
  private var javaItems: java.util.List[Int] = uninitialized

  override def prepare(): Unit =
    super.prepare()
    javaItems = java.util.ArrayList(items.asJava)

  // The filters keep nearly all, so that every stage has work.
  def expected: Long = Rivals.total(
    items
      .map(_ + 1)
      .filter(_ % 11 != 0)
      .map(_ + 2)
      .filter(_ % 13 != 0)
      .map(_ + 3)
      .filter(_ % 17 != 0)
      .map(_ + 4)
      .filter(_ % 19 != 0)
  )

  @Benchmark def weir(): Long =
    Stream
      .fromIterable(items)
      .map(_ + 1)
      .filter(_ % 11 != 0)
      .map(_ + 2)
      .filter(_ % 13 != 0)
      .map(_ + 3)
      .filter(_ % 17 != 0)
      .map(_ + 4)
      .filter(_ % 19 != 0)
      .fold(0L)(_ + _)
      .runSync()

  @Benchmark def fs2(): Long = Rivals.runCats(
    FS2
      .emits(items)
      .covary[IO]
      .map(_ + 1)
      .filter(_ % 11 != 0)
      .map(_ + 2)
      .filter(_ % 13 != 0)
      .map(_ + 3)
      .filter(_ % 17 != 0)
      .map(_ + 4)
      .filter(_ % 19 != 0)
      .compile
      .fold(0L)(_ + _)
  )

  @Benchmark def zio(): Long = Rivals.runZio(
    ZStream
      .fromIterable(items)
      .map(_ + 1)
      .filter(_ % 11 != 0)
      .map(_ + 2)
      .filter(_ % 13 != 0)
      .map(_ + 3)
      .filter(_ % 17 != 0)
      .map(_ + 4)
      .filter(_ % 19 != 0)
      .runFold(0L)(_ + _)
  )

  @Benchmark def ox(): Long =
    Flow
      .fromIterable(items)
      .map(_ + 1)
      .filter(_ % 11 != 0)
      .map(_ + 2)
      .filter(_ % 13 != 0)
      .map(_ + 3)
      .filter(_ % 17 != 0)
      .map(_ + 4)
      .filter(_ % 19 != 0)
      .runFold(0L)(_ + _)

  @Benchmark def pekko(): Long =
    Rivals.runPekko(
      PekkoSource(items)
        .map(_ + 1)
        .filter(_ % 11 != 0)
        .map(_ + 2)
        .filter(_ % 13 != 0)
        .map(_ + 3)
        .filter(_ % 17 != 0)
        .map(_ + 4)
        .filter(_ % 19 != 0)
        .runFold(0L)(_ + _)(using _)
    )

  @Benchmark def reactor(): Long =
    Flux
      .fromIterable(javaItems)
      .map(_ + 1)
      .filter(_ % 11 != 0)
      .map(_ + 2)
      .filter(_ % 13 != 0)
      .map(_ + 3)
      .filter(_ % 17 != 0)
      .map(_ + 4)
      .filter(_ % 19 != 0)
      .reduce(0L, _ + _)
      .block()

  @Benchmark def javaStream(): Long =
    javaItems
      .stream()
      .map(_ + 1)
      .filter(_ % 11 != 0)
      .map(_ + 2)
      .filter(_ % 13 != 0)
      .map(_ + 3)
      .filter(_ % 17 != 0)
      .map(_ + 4)
      .filter(_ % 19 != 0)
      .reduce(0L, _ + _, _ + _)

  @Benchmark def loop(): Long =
    var sum = 0L
    val each = items.iterator
    while each.hasNext do
      val a = each.next() + 1
      if a % 11 != 0 then
        val b = a + 2
        if b % 13 != 0 then
          val c = b + 3
          if c % 17 != 0 then
            val d = c + 4
            if d % 19 != 0 then sum += d
    sum

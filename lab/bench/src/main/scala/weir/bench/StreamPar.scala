package weir.bench

import cats.effect.IO
import fs2.Stream as FS2
import java.util.stream.Gatherers
import org.apache.pekko.stream.scaladsl.Source as PekkoSource
import org.openjdk.jmh.annotations.Benchmark
import ox.flow.Flow
import reactor.core.publisher.{Flux, Mono}
import reactor.core.scheduler.Schedulers
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.Future
import scala.jdk.CollectionConverters.*
import weir.{Stream, Task}
import zio.ZIO
import zio.stream.ZStream

/** Measures elements whose effects run concurrently, 16 at a time, with results in order. */
class StreamPar extends StreamScenario:
  private val parallelism = 16

  def expected: Long = Rivals.totalBelow(size) + size

  @Benchmark def weir(): Long =
    Stream
      .fromIterable(items)
      .parEvalMap(parallelism)(i => Task.delay(i + 1))
      .fold(0L)(_ + _)
      .runSync()

  @Benchmark def fs2(): Long = Rivals.runCats(
    FS2
      .emits(items)
      .covary[IO]
      .parEvalMap(parallelism)(i => IO.delay(i + 1))
      .compile
      .fold(0L)(_ + _)
  )

  @Benchmark def zio(): Long = Rivals.runZio(
    ZStream
      .fromIterable(items)
      .mapZIOPar(parallelism)(i => ZIO.succeed(i + 1))
      .runFold(0L)(_ + _)
  )

  @Benchmark def ox(): Long =
    Flow.fromIterable(items).mapPar(parallelism)(_ + 1).runFold(0L)(_ + _)

  // The JDK's own: each on a virtual thread, in order.
  @Benchmark def virtualThreads(): Long =
    items.asJava
      .stream()
      .gather(Gatherers.mapConcurrent(parallelism, _ + 1))
      .reduce(0L, _ + _, _ + _)

  @Benchmark def pekko(): Long = Rivals.runPekko(
    PekkoSource(items)
      .mapAsync(parallelism)(i => Future(i + 1))
      .runFold(0L)(_ + _)(using _)
  )

  // The stage computes each element itself: nothing could run concurrently.
  @Benchmark def pekkoCompleted(): Long = Rivals.runPekko(
    PekkoSource(items)
      .mapAsync(parallelism)(i => Future.successful(i + 1))
      .runFold(0L)(_ + _)(using _)
  )

  // Reference, Threading and Schedulers: an effect runs concurrently only with subscribeOn.
  @Benchmark def reactor(): Long = Flux
    .fromIterable(items.asJava)
    .flatMapSequential(
      i => Mono.fromCallable(() => i + 1).subscribeOn(Schedulers.parallel()),
      parallelism
    )
    .reduce(0L, _ + _)
    .block()

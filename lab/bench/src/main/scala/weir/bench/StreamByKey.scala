package weir.bench

import org.apache.pekko.stream.scaladsl.Source as PekkoSource
import org.openjdk.jmh.annotations.Benchmark
import reactor.core.publisher.{Flux, Mono}
import reactor.core.scheduler.Schedulers
import scala.compiletime.uninitialized
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.Future
import scala.jdk.CollectionConverters.*
import weir.{Stream, Task}
import zio.ZIO
import zio.stream.ZStream

/** Measures elements whose effects run in the order of their key, one of 100, and concurrently with
  * those of other keys.
  *
  * fs2 and Ox have no such operator. In Reactor only the number of groups limits the number of keys
  * that run at once.
  */
class StreamByKey extends StreamScenario:
  private val parallelism = 16
  private val keys = 100
  private var javaItems: java.util.List[Int] = uninitialized

  override def prepare(): Unit =
    super.prepare()
    javaItems = java.util.ArrayList(items.asJava)

  def expected: Long = Rivals.totalBelow(size) + size

  @Benchmark def weir(): Long = Stream
    .fromIterable(items)
    .parEvalMapBy(parallelism)(_ % keys)(i => Task.delay(i + 1))
    .fold(0L)(_ + _)
    .runSync()

  @Benchmark def zio(): Long = zioOf(ZStream.fromIterable(items, 1))

  @Benchmark def zioChunked(): Long = zioOf(ZStream.fromIterable(items))

  private def zioOf(stream: ZStream[Any, Nothing, Int]): Long = Rivals.runZio(
    stream.mapZIOParByKey(_ % keys, parallelism)(i => ZIO.succeed(i + 1)).runFold(0L)(_ + _)
  )

  @Benchmark def pekko(): Long = Rivals.runPekko(
    PekkoSource(items)
      .mapAsyncPartitioned(parallelism)(_ % keys)((i, _) => Future(i + 1))
      .runFold(0L)(_ + _)(using _)
  )

  // The stage computes each element itself: nothing could run concurrently.
  @Benchmark def pekkoCompleted(): Long = Rivals.runPekko(
    PekkoSource(items)
      .mapAsyncPartitioned(parallelism)(_ % keys)((i, _) => Future.successful(i + 1))
      .runFold(0L)(_ + _)(using _)
  )

  @Benchmark def reactor(): Long = Flux
    .fromIterable(javaItems)
    .groupBy(_ % keys)
    .flatMap(
      _.publishOn(Schedulers.parallel()).concatMap(i => Mono.fromCallable(() => i + 1)),
      keys
    )
    .reduce(0L, _ + _)
    .block()

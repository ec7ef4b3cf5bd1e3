package weir.bench

import cats.effect.IO
import fs2.Stream as FS2
import org.openjdk.jmh.annotations.Benchmark
import reactor.adapter.JdkFlowAdapter
import reactor.core.publisher.Flux
import scala.jdk.CollectionConverters.*
import weir.Stream

/** Measures elements that leave a stream by a publisher of Reactive Streams, and enter another
  * stream.
  *
  * Reactor's own streams are publishers: it signals on the thread that subscribes, and only its
  * adapter to `Flow` is crossed. The other two cross from fiber to fiber.
  */
class StreamFlow extends StreamScenario:
  private val buffer = 64

  def expected: Long = Rivals.totalBelow(size)

  @Benchmark def weir(): Long =
    Stream.fromPublisher(Stream.fromIterable(items).toPublisher, buffer).fold(0L)(_ + _).runSync()

  // The elements are made one by one.
  @Benchmark def weirMapped(): Long = Stream
    .fromPublisher(Stream.fromIterable(items).map(_ + 0).toPublisher, buffer)
    .fold(0L)(_ + _)
    .runSync()

  @Benchmark def fs2(): Long = Rivals.runCats(
    FS2
      .resource(FS2.emits(items).covary[IO].chunkLimit(1).unchunks.toPublisherResource)
      .flatMap(FS2.fromPublisher[IO](_, buffer))
      .compile
      .fold(0L)(_ + _)
  )

  @Benchmark def fs2Chunked(): Long = Rivals.runCats(
    FS2
      .resource(FS2.emits(items).covary[IO].toPublisherResource)
      .flatMap(FS2.fromPublisher[IO](_, buffer))
      .compile
      .fold(0L)(_ + _)
  )

  @Benchmark def reactor(): Long =
    val publisher = JdkFlowAdapter.publisherToFlowPublisher(Flux.fromIterable(items.asJava))
    JdkFlowAdapter.flowPublisherToFlux(publisher).reduce(0L, _ + _).block()

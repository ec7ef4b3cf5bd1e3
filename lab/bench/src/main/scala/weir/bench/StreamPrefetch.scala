package weir.bench

import java.util.concurrent.ArrayBlockingQueue
import cats.effect.IO
import fs2.Stream as FS2
import org.apache.pekko.stream.Attributes
import org.apache.pekko.stream.scaladsl.Source as PekkoSource
import org.openjdk.jmh.annotations.Benchmark
import ox.channels.BufferCapacity
import ox.flow.Flow
import reactor.core.publisher.Flux
import reactor.core.scheduler.Schedulers
import scala.jdk.CollectionConverters.*
import weir.{Stream, Task}
import zio.stream.ZStream

/** Measures elements that go from one fiber to another through a buffer of 16.
  *
  * fs2 and ZIO can carry chunks, where the source has them; elements that come one by one, as from
  * a socket or a query, have none. The chunked variants show what that would save them.
  */
class StreamPrefetch extends StreamScenario:
  private val buffer = 16

  def expected: Long = Rivals.totalBelow(size)

  @Benchmark def weir(): Long =
    Stream.fromIterable(items).prefetchN(buffer).fold(0L)(_ + _).runSync()

  // The elements are made one by one.
  @Benchmark def weirMapped(): Long =
    Stream.fromIterable(items).map(_ + 0).prefetchN(buffer).fold(0L)(_ + _).runSync()

  // As in a program: the consumer is a fiber as well, and not the thread that has called runSync.
  @Benchmark def weirInFiber(): Long =
    inFiber(Stream.fromIterable(items).prefetchN(buffer).fold(0L)(_ + _))

  // Room for as many elements, counted as bytes.
  @Benchmark def weirBytesInFiber(): Long =
    inFiber(Stream.fromIterable(items).prefetchBytes(4 * buffer)(_ => 4).fold(0L)(_ + _))

  // None waits: the fiber is asked for each element.
  @Benchmark def weirStrictInFiber(): Long =
    inFiber(Stream.fromIterable(items).prefetchStrict.fold(0L)(_ + _))

  private def inFiber(task: Task[Long]): Long = task.start.flatMap(_.joinOrFail).runSync()

  @Benchmark def fs2(): Long = Rivals.runCats(
    FS2.emits(items).covary[IO].chunkLimit(1).unchunks.prefetchN(buffer).compile.fold(0L)(_ + _)
  )

  @Benchmark def fs2Chunked(): Long = Rivals.runCats(
    FS2.emits(items).covary[IO].chunkN(1024).unchunks.prefetchN(buffer).compile.fold(0L)(_ + _)
  )

  @Benchmark def zio(): Long =
    Rivals.runZio(ZStream.fromIterable(items, 1).buffer(buffer).runFold(0L)(_ + _))

  @Benchmark def zioChunked(): Long =
    Rivals.runZio(ZStream.fromIterable(items, 1024).bufferChunks(buffer).runFold(0L)(_ + _))

  @Benchmark def ox(): Long =
    given BufferCapacity = BufferCapacity(buffer)
    Flow.fromIterable(items).buffer().runFold(0L)(_ + _)

  // Streams, Pipelining: async makes a boundary with a buffer between two actors.
  @Benchmark def pekko(): Long = Rivals.runPekko(
    PekkoSource(items).async
      .addAttributes(Attributes.inputBuffer(buffer, buffer))
      .runFold(0L)(_ + _)(using _)
  )

  @Benchmark def reactor(): Long = Flux
    .fromIterable(items.asJava)
    .subscribeOn(Schedulers.parallel())
    .publishOn(Schedulers.parallel(), buffer)
    .reduce(0L, _ + _)
    .block()

  // Both ends are virtual threads, as they are in Weir and may be in Ox.
  @Benchmark def virtualThreads(): Long = Rivals.threadEach(Vector { () =>
    val queue = ArrayBlockingQueue[Int](buffer)
    val producer = Thread.startVirtualThread(() => items.foreach(queue.put))
    var sum = 0L
    var left = size
    while left > 0 do
      sum += queue.take()
      left -= 1
    producer.join()
    sum.toInt
  })

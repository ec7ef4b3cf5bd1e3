package weir.bench

import cats.effect.IO
import cats.syntax.all.*
import fs2.concurrent.Channel as FS2Channel
import org.openjdk.jmh.annotations.Benchmark
import ox.channels.{Channel as OxChannel, ChannelClosed}
import ox.{forkDiscard, supervised}
import weir.{Channel, Task}
import zio.{Queue, ZIO}

/** Measures values that one fiber sends to another, through a channel for 16 that is closed at the
  * end.
  *
  * ZIO has no channel that ends; its queue is used instead, and the receiver counts.
  */
class ChannelOneToOne extends StreamScenario:
  private val capacity = 16

  def expected: Long = Rivals.totalBelow(size)

  @Benchmark def weir(): Long =
    Channel
      .bounded[Int](capacity)
      .flatMap(channel =>
        Task.both(
          Task.foreach(items)(channel.send).andThen(channel.close),
          channel.stream.fold(0L)(_ + _)
        )
      )
      .map(_._2)
      .runSync()

  @Benchmark def fs2(): Long = Rivals.runCats(
    FS2Channel
      .bounded[IO, Int](capacity)
      .flatMap(channel =>
        IO.both(
          items.traverse_(channel.send) *> channel.close,
          channel.stream.compile.fold(0L)(_ + _)
        )
      )
      .map(_._2)
  )

  @Benchmark def zio(): Long = Rivals.runZio(
    Queue.bounded[Int](capacity).flatMap { queue =>
      def receive(left: Int, sum: Long): ZIO[Any, Nothing, Long] =
        if left == 0 then ZIO.succeed(sum)
        else queue.take.flatMap(value => receive(left - 1, sum + value))
      ZIO.foreachDiscard(items)(queue.offer).zipParRight(receive(size, 0L))
    }
  )

  @Benchmark def ox(): Long = supervised {
    val channel = OxChannel.buffered[Int](capacity)
    forkDiscard {
      items.foreach(channel.send)
      channel.done()
    }
    var sum = 0L
    var open = true
    while open do
      channel.receiveOrClosed() match
        case _: ChannelClosed => open = false
        case value: Int => sum += value
    sum
  }

package weir.bench

import java.util.concurrent.{CompletableFuture, TimeUnit}
import cats.effect.IO
import cats.effect.kernel.Deferred as CatsDeferred
import org.openjdk.jmh.annotations.*
import scala.compiletime.uninitialized
import weir.{Deferred, Task}
import zio.{Promise, ZIO}

/** Measures 1,000 questions of one fiber to another, each of which waits for its answer. */
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.MICROSECONDS)
class DeferredPingPong extends Scenario:
  @Param(Array("1000")) var size: Int = uninitialized

  def expected: Long = Rivals.totalBelow(size)

  def prepare(): Unit = ()

  // A question names the place for its answer, and the place of the next question.

  @Benchmark def weir(): Long =
    final class Ask(val number: Int, val answer: Deferred[Int], val next: Deferred[Ask])
    def serve(asked: Deferred[Ask], left: Int): Task[Unit] =
      if left == 0 then Task.unit
      else
        asked.get.flatMap(ask =>
          ask.answer.complete(ask.number).flatMap(_ => serve(ask.next, left - 1))
        )
    def ask(to: Deferred[Ask], left: Int, sum: Long): Task[Long] =
      if left == 0 then Task.pure(sum)
      else
        Deferred[Int].flatMap(answer =>
          Deferred[Ask].flatMap(next =>
            to.complete(Ask(left - 1, answer, next))
              .flatMap(_ => answer.get)
              .flatMap(n => ask(next, left - 1, sum + n))
          )
        )
    Deferred[Ask]
      .flatMap(first =>
        serve(first, size).start.flatMap(server =>
          ask(first, size, 0).start
            .flatMap(_.joinOrFail)
            .flatMap(sum => server.joinOrFail.as(sum))
        )
      )
      .runSync()

  @Benchmark def catsEffect(): Long =
    final class Ask(
        val number: Int,
        val answer: CatsDeferred[IO, Int],
        val next: CatsDeferred[IO, Ask]
    )
    def serve(asked: CatsDeferred[IO, Ask], left: Int): IO[Unit] =
      if left == 0 then IO.unit
      else
        asked.get.flatMap(ask =>
          ask.answer.complete(ask.number).flatMap(_ => serve(ask.next, left - 1))
        )
    def ask(to: CatsDeferred[IO, Ask], left: Int, sum: Long): IO[Long] =
      if left == 0 then IO.pure(sum)
      else
        IO.deferred[Int]
          .flatMap(answer =>
            IO.deferred[Ask]
              .flatMap(next =>
                to.complete(Ask(left - 1, answer, next))
                  .flatMap(_ => answer.get)
                  .flatMap(n => ask(next, left - 1, sum + n))
              )
          )
    Rivals.runCats(
      IO.deferred[Ask]
        .flatMap(first =>
          serve(first, size).start.flatMap(server =>
            ask(first, size, 0).start
              .flatMap(_.joinWithNever)
              .flatMap(sum => server.joinWithNever.as(sum))
          )
        )
    )

  @Benchmark def zio(): Long =
    final class Ask(
        val number: Int,
        val answer: Promise[Nothing, Int],
        val next: Promise[Nothing, Ask]
    )
    def serve(asked: Promise[Nothing, Ask], left: Int): ZIO[Any, Nothing, Unit] =
      if left == 0 then ZIO.unit
      else
        asked.await.flatMap(ask =>
          ask.answer.succeed(ask.number).flatMap(_ => serve(ask.next, left - 1))
        )
    def ask(to: Promise[Nothing, Ask], left: Int, sum: Long): ZIO[Any, Nothing, Long] =
      if left == 0 then ZIO.succeed(sum)
      else
        Promise
          .make[Nothing, Int]
          .flatMap(answer =>
            Promise
              .make[Nothing, Ask]
              .flatMap(next =>
                to.succeed(Ask(left - 1, answer, next))
                  .flatMap(_ => answer.await)
                  .flatMap(n => ask(next, left - 1, sum + n))
              )
          )
    Rivals.runZio(
      Promise
        .make[Nothing, Ask]
        .flatMap(first =>
          serve(first, size).fork.flatMap(server =>
            ask(first, size, 0).fork
              .flatMap(_.join)
              .flatMap(sum => server.join.as(sum))
          )
        )
    )

  @Benchmark def virtualThreads(): Long =
    final class Ask(
        val number: Int,
        val answer: CompletableFuture[Int],
        val next: CompletableFuture[Ask]
    )
    val first = CompletableFuture[Ask]()
    val server = Thread.startVirtualThread { () =>
      var asked = first
      var left = size
      while left > 0 do
        val ask = asked.get
        ask.answer.complete(ask.number): Unit
        asked = ask.next
        left -= 1
    }
    var sum = 0L
    val client = Thread.startVirtualThread { () =>
      var to = first
      var left = size
      while left > 0 do
        left -= 1
        val ask = Ask(left, CompletableFuture(), CompletableFuture())
        to.complete(ask): Unit
        sum += ask.answer.get
        to = ask.next
    }
    client.join()
    server.join()
    sum

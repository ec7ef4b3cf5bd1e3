package weir.bench

import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicReference
import cats.effect.IO
import cats.effect.kernel.Ref as CatsRef
import cats.syntax.all.*
import org.openjdk.jmh.annotations.*
import scala.compiletime.uninitialized
import weir.{Ref, Task}
import zio.{Ref as ZioRef, ZIO}

/** Measures the updates of one Ref by eight fibers, 1,000 by each. */
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.MICROSECONDS)
class RefContention extends Scenario:
  @Param(Array("1000")) var size: Int = uninitialized
  private val fibers = List.range(0, 8)

  def expected: Long = 8L * size

  def prepare(): Unit = ()

  @Benchmark def weir(): Long =
    def add(ref: Ref[Long], left: Int): Task[Unit] =
      if left == 0 then Task.unit else ref.update(_ + 1).flatMap(_ => add(ref, left - 1))
    Ref
      .of(0L)
      .flatMap(ref =>
        Task
          .traverse(fibers)(_ => add(ref, size).start)
          .flatMap(Task.foreach(_)(_.joinOrFail))
          .flatMap(_ => ref.get)
      )
      .runSync()

  @Benchmark def catsEffect(): Long =
    def add(ref: CatsRef[IO, Long], left: Int): IO[Unit] =
      if left == 0 then IO.unit else ref.update(_ + 1).flatMap(_ => add(ref, left - 1))
    Rivals.runCats(
      IO.ref(0L)
        .flatMap(ref =>
          fibers
            .traverse(_ => add(ref, size).start)
            .flatMap(_.traverse_(_.joinWithNever))
            .flatMap(_ => ref.get)
        )
    )

  @Benchmark def zio(): Long =
    def add(ref: ZioRef[Long], left: Int): ZIO[Any, Nothing, Unit] =
      if left == 0 then ZIO.unit else ref.update(_ + 1).flatMap(_ => add(ref, left - 1))
    Rivals.runZio(
      ZioRef
        .make(0L)
        .flatMap(ref =>
          ZIO
            .foreach(fibers)(_ => add(ref, size).fork)
            .flatMap(ZIO.foreachDiscard(_)(_.join))
            .flatMap(_ => ref.get)
        )
    )

  @Benchmark def virtualThreads(): Long =
    val ref = AtomicReference(0L)
    val threads = fibers.map(_ =>
      Thread.startVirtualThread { () =>
        var left = size
        while left > 0 do
          ref.updateAndGet(_ + 1): Unit
          left -= 1
      }
    )
    threads.foreach(_.join())
    ref.get

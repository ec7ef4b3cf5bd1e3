package weir.bench

import java.util.concurrent.TimeUnit
import cats.effect.IO
import cats.syntax.all.*
import org.openjdk.jmh.annotations.*
import ox.{fork, supervised}
import scala.compiletime.uninitialized
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.concurrent.duration.Duration
import weir.Task
import zio.ZIO

/** Measures the start and the join of fibers, from outside: of one, and of 1,000. */
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.MICROSECONDS)
class Fork extends Scenario:
  @Param(Array("1", "1000")) var size: Int = uninitialized
  private var items: List[Int] = uninitialized
  private var thunks: Vector[() => Int] = uninitialized

  def expected: Long = Rivals.totalBelow(size)

  def prepare(): Unit =
    items = List.range(0, size)
    thunks = Vector.tabulate(size)(i => () => i)

  @Benchmark def weir(): Long =
    Task
      .traverse(items)(i => Task.delay(i).start)
      .flatMap(fibers => Task.traverse(fibers)(_.joinOrFail))
      .map(Rivals.total)
      .runSync()

  @Benchmark def catsEffect(): Long = Rivals.runCats(
    items
      .traverse(i => IO.delay(i).start)
      .flatMap(_.traverse(_.joinWithNever))
      .map(Rivals.total)
  )

  @Benchmark def zio(): Long = Rivals.runZio(
    ZIO
      .foreach(items)(i => ZIO.succeed(i).fork)
      .flatMap(ZIO.foreach(_)(_.join))
      .map(Rivals.total)
  )

  @Benchmark def ox(): Long = supervised(Rivals.total(items.map(i => fork(i)).map(_.join())))

  @Benchmark def future(): Long =
    given ExecutionContext = ExecutionContext.global
    val futures = items.map(i => Future(i))
    Rivals.total(futures.map(Await.result(_, Duration.Inf)))

  @Benchmark def virtualThreads(): Long = Rivals.threadEach(thunks)

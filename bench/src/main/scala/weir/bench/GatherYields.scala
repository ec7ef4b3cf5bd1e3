package weir.bench

import cats.effect.IO
import cats.syntax.all.*
import org.openjdk.jmh.annotations.Benchmark
import ox.par
import scala.compiletime.uninitialized
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.concurrent.duration.Duration
import weir.Task
import zio.ZIO

/** What does it cost to run tasks concurrently that each give way once? */
class GatherYields extends TaskScenario:
  private var thunks: Vector[() => Int] = uninitialized
  private var indices: Vector[Int] = uninitialized
  private var tasks: List[Task[Int]] = uninitialized
  private var ios: List[IO[Int]] = uninitialized
  private var zios: List[ZIO[Any, Nothing, Int]] = uninitialized

  def expected: Long = size

  def prepare(): Unit =
    thunks = Vector.tabulate(size)(_ => () => yielded(1))
    indices = Vector.range(0, size)
    tasks = List.tabulate(size)(_ => Task.cede.as(1))
    ios = List.tabulate(size)(_ => IO.cede.as(1))
    zios = List.tabulate(size)(_ => ZIO.yieldNow.as(1))

  private def yielded(i: Int): Int =
    Thread.`yield`()
    i

  @Benchmark def weir(): Long = Task.parSequence(tasks).map(Rivals.total).runSync()

  @Benchmark def catsEffect(): Long = Rivals.runCats(ios.parSequence.map(Rivals.total))

  @Benchmark def zio(): Long = Rivals.runZio(ZIO.collectAllPar(zios).map(Rivals.total))

  @Benchmark def zioDefault(): Long =
    Rivals.runZioDefault(ZIO.collectAllPar(zios).map(Rivals.total))

  @Benchmark def ox(): Long = Rivals.total(par(thunks))

  // Two trips through the execution context: one is the start, one the yield.
  @Benchmark def future(): Long =
    given ExecutionContext = ExecutionContext.global
    val values = Future.traverse(indices)(_ => Future.unit.flatMap(_ => Future(1)))
    Rivals.total(Await.result(values, Duration.Inf))

  @Benchmark def virtualThreads(): Long = Rivals.threadEach(thunks)

package weir.bench

import cats.effect.IO
import cats.syntax.all.*
import org.openjdk.jmh.annotations.Benchmark
import scala.compiletime.uninitialized
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.concurrent.duration.Duration
import weir.Task
import zio.ZIO

/** What does it cost to run tasks in order that each give way once? */
class SequenceYields extends TaskScenario:
  private var thunks: List[() => Int] = uninitialized
  private var tasks: List[Task[Int]] = uninitialized
  private var ios: List[IO[Int]] = uninitialized
  private var zios: List[ZIO[Any, Nothing, Int]] = uninitialized

  def expected: Long = size

  def prepare(): Unit =
    thunks = List.tabulate(size)(_ => () => 1)
    tasks = List.tabulate(size)(_ => Task.cede.as(1))
    ios = List.tabulate(size)(_ => IO.cede.as(1))
    zios = List.tabulate(size)(_ => ZIO.yieldNow.as(1))

  @Benchmark def weir(): Long = Task.sequence(tasks).map(Rivals.total).runSync()

  @Benchmark def catsEffect(): Long = Rivals.runCats(ios.sequence.map(Rivals.total))

  @Benchmark def zio(): Long = Rivals.runZio(ZIO.collectAll(zios).map(Rivals.total))

  // A future always goes through its execution context: that is its yield.
  @Benchmark def future(): Long =
    given ExecutionContext = ExecutionContext.global
    val values = thunks.foldLeft(Future.successful(List.empty[Int])) { (before, thunk) =>
      before.flatMap(values => Future(thunk() :: values))
    }
    Rivals.total(Await.result(values, Duration.Inf))

  // One thread, which yields between the thunks.
  @Benchmark def virtualThreads(): Long =
    Rivals.threadEach(Vector { () =>
      Rivals
        .total(thunks.map { thunk =>
          Thread.`yield`()
          thunk()
        })
        .toInt
    })

package weir.bench

import cats.effect.IO
import cats.syntax.all.*
import org.openjdk.jmh.annotations.Benchmark
import scala.compiletime.uninitialized
import weir.Task
import zio.ZIO

/** What does it cost to run tasks in order that have nothing to wait for? */
class SequenceReady extends TaskScenario:
  private var thunks: List[() => Int] = uninitialized
  private var tasks: List[Task[Int]] = uninitialized
  private var ios: List[IO[Int]] = uninitialized
  private var zios: List[ZIO[Any, Nothing, Int]] = uninitialized

  def expected: Long = Rivals.totalOfSmall(size)

  def prepare(): Unit =
    thunks = List.tabulate(size)(i => () => i % 100)
    tasks = List.tabulate(size)(i => Task.delay(i % 100))
    ios = List.tabulate(size)(i => IO.delay(i % 100))
    zios = List.tabulate(size)(i => ZIO.succeed(i % 100))

  @Benchmark def weir(): Long = Task.sequence(tasks).map(Rivals.total).runSync()

  @Benchmark def catsEffect(): Long = Rivals.runCats(ios.sequence.map(Rivals.total))

  @Benchmark def zio(): Long = Rivals.runZio(ZIO.collectAll(zios).map(Rivals.total))

  @Benchmark def loop(): Long = Rivals.total(thunks.map(_()))

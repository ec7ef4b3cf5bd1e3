package weir.bench

import cats.effect.IO
import cats.syntax.all.*
import org.openjdk.jmh.annotations.Benchmark
import scala.compiletime.uninitialized
import weir.Task
import zio.ZIO

/** What does it cost to run tasks in order that have nothing to wait for?
  *
  * The results are returned as the list that each rival makes; adding them up would cost more than making them.
  */
class SequenceReady extends TaskScenario:
  private var thunks: List[() => Int] = uninitialized
  private var tasks: List[Task[Int]] = uninitialized
  private var ios: List[IO[Int]] = uninitialized
  private var zios: List[ZIO[Any, Nothing, Int]] = uninitialized

  def expected: Long = size

  def prepare(): Unit =
    thunks = List.tabulate(size)(_ => () => 1)
    tasks = List.tabulate(size)(_ => Task.delay(1))
    ios = List.tabulate(size)(_ => IO.delay(1))
    zios = List.tabulate(size)(_ => ZIO.succeed(1))

  @Benchmark def weir(): List[Int] = Task.sequence(tasks).runSync()

  @Benchmark def catsEffect(): List[Int] = Rivals.runCats(ios.sequence)

  @Benchmark def zio(): List[Int] = Rivals.runZio(ZIO.collectAll(zios))

  @Benchmark def loop(): List[Int] = thunks.map(_())

package weir.bench

import org.openjdk.jmh.annotations.Benchmark
import scala.compiletime.uninitialized
import weir.Task
import zio.ZIO

/** What does it cost to run tasks that each give way once, taking results as they come?
  *
  * Cats Effect and Ox have no such form.
  */
class GatherUnorderedYields extends TaskScenario:
  private var thunks: Vector[() => Int] = uninitialized
  private var tasks: List[Task[Int]] = uninitialized
  private var zios: List[ZIO[Any, Nothing, Int]] = uninitialized

  def expected: Long = size

  def prepare(): Unit =
    thunks = Vector.tabulate(size)(_ => () => yielded(1))
    tasks = List.tabulate(size)(_ => Task.cede.as(1))
    zios = List.tabulate(size)(_ => ZIO.yieldNow.as(1))

  private def yielded(i: Int): Int =
    Thread.`yield`()
    i

  @Benchmark def weir(): Long = Task.parSequenceUnordered(tasks).map(Rivals.total).runSync()

  // Its documentation: "Merges an Iterable to a single ZIO, working in parallel", in any order.
  @Benchmark def zio(): Long = Rivals.runZio(ZIO.mergeAllPar(zios)(0L)(_ + _))

  @Benchmark def virtualThreads(): Long = Rivals.threadEachUnordered(thunks)

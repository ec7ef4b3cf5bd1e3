package weir.bench

import org.openjdk.jmh.annotations.Benchmark
import scala.compiletime.uninitialized
import weir.Task
import zio.ZIO

/** What does it cost to run ready tasks concurrently, taking results as they come?
  *
  * Cats Effect and Ox have no such form.
  */
class GatherUnorderedReady extends TaskScenario:
  private var thunks: Vector[() => Int] = uninitialized
  private var tasks: List[Task[Int]] = uninitialized
  private var zios: List[ZIO[Any, Nothing, Int]] = uninitialized

  def expected: Long = Rivals.totalOfSmall(size)

  def prepare(): Unit =
    thunks = Vector.tabulate(size)(i => () => i % 100)
    tasks = List.tabulate(size)(i => Task.delay(i % 100))
    zios = List.tabulate(size)(i => ZIO.succeed(i % 100))

  @Benchmark def weir(): Long = Task.parSequenceUnordered(tasks).map(Rivals.total).runSync()

  // Its documentation: "Merges an Iterable to a single ZIO, working in parallel", in any order.
  @Benchmark def zio(): Long = Rivals.runZio(ZIO.mergeAllPar(zios)(0L)(_ + _))

  @Benchmark def virtualThreads(): Long = Rivals.threadEachUnordered(thunks)

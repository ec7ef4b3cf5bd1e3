package weir.bench

import java.util.concurrent.{Executors, TimeUnit}
import cats.effect.IO
import cats.syntax.all.*
import org.openjdk.jmh.annotations.*
import ox.par
import scala.compiletime.uninitialized
import scala.concurrent.ExecutionContext
import weir.Task
import zio.ZIO

/** Measures the time of 10,000 tasks, each of which blocks its thread for 10 ms. */
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.MILLISECONDS)
class Blocking extends Scenario:
  @Param(Array("10000")) var size: Int = uninitialized
  private val millis = 10L
  private val virtual =
    ExecutionContext.fromExecutor(Executors.newVirtualThreadPerTaskExecutor())
  private var items: List[Int] = uninitialized
  private var thunks: Vector[() => Int] = uninitialized

  def expected: Long = Rivals.totalBelow(size)

  def prepare(): Unit =
    items = List.range(0, size)
    thunks = Vector.tabulate(size)(i => () => blocked(i))

  private def blocked(i: Int): Int =
    Thread.sleep(millis)
    i

  @Benchmark def weir(): Long =
    Task.parTraverse(items)(i => Task.delay(blocked(i))).map(Rivals.total).runSync()

  // IO.blocking would start an OS thread for each; evalOn takes it to virtual threads.
  @Benchmark def catsEffect(): Long = Rivals.runCats(
    items.parTraverse(i => IO.delay(blocked(i)).evalOn(virtual)).map(Rivals.total)
  )

  // As above: its documentation has this layer for Java 21 and newer.
  @Benchmark def zio(): Long = Rivals.runZio(
    ZIO
      .foreachPar(items)(i => ZIO.attemptBlocking(blocked(i)))
      .map(Rivals.total)
      .provideLayer(zioOnVirtualThreads)
  )
  private val zioOnVirtualThreads = _root_.zio.Runtime.enableLoomBasedBlockingExecutor

  @Benchmark def ox(): Long = Rivals.total(par(thunks))

  @Benchmark def virtualThreads(): Long = Rivals.threadEach(thunks)

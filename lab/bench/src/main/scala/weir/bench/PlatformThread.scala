package weir.bench

import java.util.concurrent.TimeUnit
import cats.effect.IO
import cats.syntax.all.*
import org.openjdk.jmh.annotations.*
import scala.compiletime.uninitialized
import weir.Task
import zio.ZIO

/** Measures the time of 100 calls, one after the other, each on a platform thread. */
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.MICROSECONDS)
class PlatformThread extends Scenario:
  @Param(Array("100")) var size: Int = uninitialized
  private var items: List[Int] = uninitialized

  def expected: Long = Rivals.totalBelow(size)

  def prepare(): Unit = items = List.range(0, size)

  @Benchmark def weir(): Long =
    Task.traverse(items)(i => Task.onPlatformThread(i)).map(Rivals.total).runSync()

  @Benchmark def catsEffect(): Long =
    Rivals.runCats(items.traverse(i => IO.blocking(i)).map(Rivals.total))

  @Benchmark def zio(): Long =
    Rivals.runZio(ZIO.foreach(items)(i => ZIO.attemptBlocking(i)).map(Rivals.total))

  /** Measures the cost of a new thread for each call. */
  @Benchmark def platformThreads(): Long =
    var total = 0L
    for i <- items do
      val thread = Thread.ofPlatform().start(() => total += i)
      thread.join()
    total

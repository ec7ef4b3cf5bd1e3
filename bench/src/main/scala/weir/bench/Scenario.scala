package weir.bench

import java.util.concurrent.TimeUnit
import org.openjdk.jmh.annotations.*
import scala.compiletime.uninitialized

/** A question with one answer, which every rival must give.
  *
  * Each `@Benchmark` method of a scenario is a rival, or a variant of one, and returns what
  * `expected` says, or values whose sum that is; RivalsSuite checks it.
  */
@State(Scope.Benchmark)
@Fork(
  value = 1,
  jvmArgs = Array("-Xmx4g", "-XX:+UseG1GC", "--sun-misc-unsafe-memory-access=allow")
)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
abstract class Scenario:
  def size: Int
  def size_=(size: Int): Unit

  /** What each rival returns. */
  def expected: Long

  /** Makes what the rivals are given, from `size`. */
  @Setup def prepare(): Unit

/** Lists of 1,000 tasks that each return 1, as in Monix's published benchmark, in runs a second. The tasks are made
  * beforehand.
  */
@BenchmarkMode(Array(Mode.Throughput))
@OutputTimeUnit(TimeUnit.SECONDS)
abstract class TaskScenario extends Scenario:
  @Param(Array("1000")) var size: Int = uninitialized

/** Streams of 10,000 boxed integers, in microseconds a run. */
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.MICROSECONDS)
abstract class StreamScenario extends Scenario:
  @Param(Array("10000")) var size: Int = uninitialized
  protected var items: Vector[Int] = uninitialized

  def prepare(): Unit = items = Vector.range(0, size)

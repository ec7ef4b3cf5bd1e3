package weir.bench

import java.util.concurrent.TimeUnit
import org.openjdk.jmh.annotations.*
import org.openjdk.jmh.infra.BenchmarkParams
import scala.compiletime.uninitialized
import weir.lab.gather.{Form, TaskSystem}

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

  /** The value that each rival must return. */
  def expected: Long

  /** Makes the input of the rivals, from `size`. */
  @Setup def prepare(): Unit

/** Something with 1,000 tasks or steps, in runs a second. */
@BenchmarkMode(Array(Mode.Throughput))
@OutputTimeUnit(TimeUnit.SECONDS)
abstract class TaskScenario extends Scenario:
  @Param(Array("1000")) var size: Int = uninitialized

/** A form of Monix's published benchmark, as each system has it in `weir.bench.tasks`: lists of
  * 1,000 tasks that each return 1. A run returns the results, or their sum.
  */
abstract class FormScenario(form: Form) extends TaskScenario:
  def expected: Long = size

  def prepare(): Unit = ()

  /** Returns the code that the system runs. Keep it in a lazy value, so that no other system starts
    * in the JVM of the measured one.
    */
  protected def runOf(system: TaskSystem): () => TaskSystem.Returned =
    system.run(form, size).get

/** Streams of 10,000 boxed integers, in microseconds a run.
  *
  * Before the first run, all other stream scenarios have run with the same rival, as in a program
  * with more than one pipe: what stages share has seen many kinds of neighbours by then.
  */
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.MICROSECONDS)
abstract class StreamScenario extends Scenario:
  @Param(Array("10000")) var size: Int = uninitialized
  protected var items: Vector[Int] = uninitialized

  def prepare(): Unit = items = Vector.range(0, size)

  @Setup def runOthers(params: BenchmarkParams): Unit =
    val rival = params.getBenchmark.split('.').last.takeWhile(_.isLower) // also of its variants
    for other <- StreamScenario.all if other.getClass != getClass do
      other.size = 1000
      other.prepare()
      for method <- other.getClass.getMethods if method.getName.startsWith(rival) do
        for _ <- 1 to 300 do method.invoke(other): Unit

object StreamScenario:
  private def all: List[StreamScenario] = List(
    StreamCollect(),
    StreamEffect(),
    StreamEightStages(),
    StreamFlatMap(),
    StreamIndex(),
    StreamMapConcat(),
    StreamMerge(),
    StreamPar(),
    StreamPrefetch(),
    StreamReady(),
    StreamScan()
  )

package weir.bench.ce2

import java.util.concurrent.TimeUnit
import org.openjdk.jmh.annotations.*
import scala.compiletime.uninitialized
import weir.lab.gather.{Form, TaskSystem}

/** A form of Monix's published benchmark in the systems that need Cats Effect 2: the same JMH
  * settings, and the same meaning, as the scenario of that name beside them.
  */
@State(Scope.Benchmark)
@Fork(
  value = 1,
  jvmArgs = Array("-Xmx4g", "-XX:+UseG1GC", "--sun-misc-unsafe-memory-access=allow")
)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@BenchmarkMode(Array(Mode.Throughput))
@OutputTimeUnit(TimeUnit.SECONDS)
abstract class FormScenario(form: Form):
  @Param(Array("1000")) var size: Int = uninitialized

  // Lazy, so that neither system starts in the JVM of the other.
  private lazy val monixRun = runOf(MonixTasks)
  private lazy val scalazRun = runOf(ScalazTasks)

  @Benchmark def monix(): Any = monixRun()

  @Benchmark def scalaz(): Any = scalazRun()

  private def runOf(system: TaskSystem): () => TaskSystem.Returned = system.run(form, size).get

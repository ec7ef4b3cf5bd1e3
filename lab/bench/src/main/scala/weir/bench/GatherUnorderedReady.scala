package weir.bench

import org.openjdk.jmh.annotations.Benchmark
import weir.bench.tasks.{VirtualThreadTasks, WeirTasks, ZioTasks}
import weir.lab.gather.Form

/** Measures concurrent ready tasks whose results are taken as they come. */
class GatherUnorderedReady extends FormScenario(Form.UnorderedReady):
  private lazy val weirRun = runOf(WeirTasks)
  private lazy val zioRun = runOf(ZioTasks)
  private lazy val virtualThreadsRun = runOf(VirtualThreadTasks)

  @Benchmark def weir(): Any = weirRun()

  @Benchmark def zio(): Any = zioRun()

  @Benchmark def virtualThreads(): Any = virtualThreadsRun()

package weir.bench

import org.openjdk.jmh.annotations.Benchmark
import weir.bench.tasks.{VirtualThreadTasks, WeirTasks, ZioTasks}
import weir.lab.gather.Form

/** Measures concurrent tasks, each of which goes through the scheduler once, and whose results are
  * taken as they come.
  */
class GatherUnorderedForked extends FormScenario(Form.UnorderedForked):
  private lazy val weirRun = runOf(WeirTasks)
  private lazy val zioRun = runOf(ZioTasks)
  private lazy val virtualThreadsRun = runOf(VirtualThreadTasks)

  @Benchmark def weir(): Any = weirRun()

  @Benchmark def zio(): Any = zioRun()

  @Benchmark def virtualThreads(): Any = virtualThreadsRun()

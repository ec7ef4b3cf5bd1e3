package weir.bench

import org.openjdk.jmh.annotations.Benchmark
import weir.bench.tasks.{VirtualThreadTasks, WeirTasks, ZioTasks}
import weir.lab.gather.Form

/** What does it cost to run tasks that each go through the scheduler once, taking results as they
  * come?
  */
class GatherUnorderedForked extends FormScenario(Form.UnorderedForked):
  private lazy val weirRun = runOf(WeirTasks)
  private lazy val zioRun = runOf(ZioTasks)
  private lazy val virtualThreadsRun = runOf(VirtualThreadTasks)

  @Benchmark def weir(): Any = weirRun()

  @Benchmark def zio(): Any = zioRun()

  @Benchmark def virtualThreads(): Any = virtualThreadsRun()

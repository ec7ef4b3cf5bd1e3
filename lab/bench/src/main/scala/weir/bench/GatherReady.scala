package weir.bench

import org.openjdk.jmh.annotations.Benchmark
import weir.bench.tasks.{
  CatsEffectTasks,
  FutureTasks,
  OxTasks,
  VirtualThreadTasks,
  WeirTasks,
  ZioTasks
}
import weir.lab.gather.Form

/** Measures concurrent tasks that have nothing to wait for. */
class GatherReady extends FormScenario(Form.GatherReady):
  private lazy val weirRun = runOf(WeirTasks)
  private lazy val catsEffectRun = runOf(CatsEffectTasks)
  private lazy val zioRun = runOf(ZioTasks)
  private lazy val zioDefaultRun = runOf(ZioTasks(Rivals.runZioDefault(_)))
  private lazy val futureRun = runOf(FutureTasks)
  private lazy val oxRun = runOf(OxTasks)
  private lazy val virtualThreadsRun = runOf(VirtualThreadTasks)

  @Benchmark def weir(): Any = weirRun()

  @Benchmark def catsEffect(): Any = catsEffectRun()

  @Benchmark def zio(): Any = zioRun()

  @Benchmark def zioDefault(): Any = zioDefaultRun()

  @Benchmark def future(): Any = futureRun()

  @Benchmark def ox(): Any = oxRun()

  @Benchmark def virtualThreads(): Any = virtualThreadsRun()

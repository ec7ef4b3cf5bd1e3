package weir.bench

import org.openjdk.jmh.annotations.Benchmark
import weir.bench.tasks.{CatsEffectTasks, WeirTasks, ZioTasks}
import weir.lab.gather.Form

/** Measures tasks that run in order and have nothing to wait for. */
class SequenceReady extends FormScenario(Form.SequenceReady):
  private lazy val weirRun = runOf(WeirTasks)
  private lazy val catsEffectRun = runOf(CatsEffectTasks)
  private lazy val zioRun = runOf(ZioTasks)
  private lazy val thunks = List.fill(size)(() => 1)

  @Benchmark def weir(): Any = weirRun()

  @Benchmark def catsEffect(): Any = catsEffectRun()

  @Benchmark def zio(): Any = zioRun()

  @Benchmark def loop(): Any = thunks.map(_())

package weir.bench

import cats.effect.IO
import weir.Task
import zio.ZIO

/** Measures the start of a fiber and the wait for its end. */
class ForkJoin extends LoopScenario:
  protected def weirStep: Task[Int] = Task.delay(1).start.flatMap(_.joinOrFail)
  protected def catsStep: IO[Int] = IO.delay(1).start.flatMap(_.joinWithNever)
  protected def zioStep: ZIO[Any, Throwable, Int] = ZIO.succeed(1).fork.flatMap(_.join)

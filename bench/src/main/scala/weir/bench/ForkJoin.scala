package weir.bench

import cats.effect.IO
import weir.Task
import zio.ZIO

/** What does it cost to start a fiber and wait for it? */
class ForkJoin extends LoopScenario:
  protected def weirStep: Task[Int] = Task.delay(1).start.flatMap(_.joinOrFail)
  protected def catsStep: IO[Int] = IO.delay(1).start.flatMap(_.joinWithNever)
  protected def zioStep: ZIO[Any, Throwable, Int] = ZIO.succeed(1).fork.flatMap(_.join)

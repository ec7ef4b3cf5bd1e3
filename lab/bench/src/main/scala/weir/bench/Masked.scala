package weir.bench

import cats.effect.IO
import weir.Task
import zio.ZIO

/** Measures a masked region. */
class Masked extends LoopScenario:
  protected def weirStep: Task[Int] = Task.uncancelable(_ => Task.delay(1))
  protected def catsStep: IO[Int] = IO.uncancelable(_ => IO.delay(1))
  protected def zioStep: ZIO[Any, Throwable, Int] = ZIO.uninterruptible(ZIO.succeed(1))

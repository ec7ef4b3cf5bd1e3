package weir.bench

import cats.effect.IO
import weir.Task
import zio.ZIO

/** Measures acquire, use and release, all of which are ready. */
class BracketReady extends LoopScenario:
  protected def weirStep: Task[Int] =
    Task.delay(1).bracket(n => Task.delay(n))(_ => Task.unit)
  protected def catsStep: IO[Int] = IO.delay(1).bracket(n => IO.delay(n))(_ => IO.unit)
  protected def zioStep: ZIO[Any, Throwable, Int] =
    ZIO.acquireReleaseWith(ZIO.succeed(1))(_ => ZIO.unit)(n => ZIO.succeed(n))

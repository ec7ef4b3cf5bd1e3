package weir.bench

import cats.effect.IO
import weir.Task
import zio.ZIO

/** Measures a race of two tasks that are ready. */
class RaceReady extends LoopScenario:
  protected def weirStep: Task[Int] =
    Task.race(Task.delay(1), Task.delay(1)).map(_.merge)
  protected def catsStep: IO[Int] = IO.race(IO.delay(1), IO.delay(1)).map(_.merge)
  protected def zioStep: ZIO[Any, Throwable, Int] = ZIO.succeed(1).race(ZIO.succeed(1))

package weir.bench

import cats.effect.IO
import scala.concurrent.duration.DurationInt
import weir.Task
import zio.{ZIO, durationInt as zioDuration}

/** Measures a timeout around a task that is ready. */
class TimeoutReady extends LoopScenario:
  protected def weirStep: Task[Int] = Task.delay(1).timeout(1.minute)
  protected def catsStep: IO[Int] = IO.delay(1).timeout(1.minute)
  protected def zioStep: ZIO[Any, Throwable, Int] =
    ZIO.succeed(1).timeoutFail(new RuntimeException("late"))(zioDuration(1).minute)

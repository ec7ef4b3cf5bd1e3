package weir.bench

import cats.effect.IO
import weir.Task
import zio.ZIO

/** Measures a masked region that contains a polled part. */
class MaskedPolled extends LoopScenario:
  protected def weirStep: Task[Int] = Task.uncancelable(poll => poll(Task.delay(1)))
  protected def catsStep: IO[Int] = IO.uncancelable(poll => poll(IO.delay(1)))
  protected def zioStep: ZIO[Any, Throwable, Int] =
    ZIO.uninterruptibleMask(restore => restore(ZIO.succeed(1)))

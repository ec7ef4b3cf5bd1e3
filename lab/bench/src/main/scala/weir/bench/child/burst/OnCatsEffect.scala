package weir.bench.child.burst

import java.util.concurrent.Executors
import scala.concurrent.ExecutionContext

import cats.effect.IO
import cats.effect.std.Dispatcher
import cats.effect.unsafe.{IORuntime, IORuntimeBuilder}
import cats.syntax.all.*

/** Cats Effect 3, on its own pool and as the source takes it to virtual threads.
  *
  * Effects are run from inside of others with a `Dispatcher`, as its documentation recommends and
  * the source does; blocking code is marked with `IO.blocking`.
  */
private[burst] final class OnCatsEffect(runtime: IORuntime) extends BurstSystem:
  def nested(fibers: Int, calls: Int, inner: Inner): Long =
    val ready = IO(inner.work())
    val effect = if inner.yields then IO.cede *> ready else ready
    val all = Dispatcher
      .parallel[IO]
      .use: dispatcher =>
        val fiber = List
          .range(0, calls)
          .traverse(_ => IO(dispatcher.unsafeRunSync(effect)))
          .map(_.sum)
          .start
        List.range(0, fibers).traverse(_ => fiber).flatMap(_.traverse(_.joinWithNever)).map(_.sum)
    all.unsafeRunSync()(using runtime)

  def blocked(fibers: Int, millis: Long): Long =
    List
      .range(0, fibers)
      .parTraverse(_ => IO.blocking(BurstSystem.block(millis)))
      .map(_.sum)
      .unsafeRunSync()(using runtime)

private[burst] object OnCatsEffect:
  def onItsPool: OnCatsEffect = OnCatsEffect(IORuntime.global)

  def onVirtualThreads: OnCatsEffect =
    val executor = Executors.newVirtualThreadPerTaskExecutor()
    val compute = ExecutionContext.fromExecutor(executor)
    OnCatsEffect(IORuntimeBuilder().setCompute(compute, () => executor.shutdown()).build())

package weir.bench.child.burst

import zio.{Runtime, Unsafe, ZIO}

/** ZIO on its default runtime, with blocking code in `ZIO.attemptBlocking`.
  *
  * An effect that ends on the spot is run on the calling thread, so the call blocks nothing and is
  * not marked; one that yields blocks its caller.
  */
private[burst] object OnZio extends BurstSystem:
  def nested(fibers: Int, calls: Int, inner: Inner): Long =
    val ready = ZIO.succeed(inner.work())
    val call =
      if inner.yields then ZIO.attemptBlocking(run(ZIO.yieldNow *> ready))
      else ZIO.attempt(run(ready))
    val fiber = ZIO.foreach(List.range(0, calls))(_ => call).map(_.sum).fork
    run:
      ZIO
        .foreach(List.range(0, fibers))(_ => fiber)
        .flatMap(ZIO.foreach(_)(_.join))
        .map(_.sum)

  def blocked(fibers: Int, millis: Long): Long =
    run:
      ZIO
        .foreachPar(List.range(0, fibers))(_ => ZIO.attemptBlocking(BurstSystem.block(millis)))
        .map(_.sum)

  private def run[A](effect: ZIO[Any, Throwable, A]): A =
    Unsafe.unsafely(Runtime.default.unsafe.run(effect).getOrThrowFiberFailure())

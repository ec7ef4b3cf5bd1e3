package weir.bench.child.scale

import cats.effect.IO
import cats.effect.unsafe.IORuntime

/** Cats Effect's own pool with `carriers` threads. The global one has at least two. */
private[scale] final class CatsPool(carriers: Int):
  private val runtime: IORuntime =
    val (pool, _, shutdown) = IORuntime.createWorkStealingComputeThreadPool(threads = carriers)
    IORuntime.builder().setCompute(pool, shutdown).build()

  def run[A](io: IO[A]): A = io.unsafeRunSync()(using runtime)

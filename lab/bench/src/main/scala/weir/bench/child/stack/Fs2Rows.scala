package weir.bench.child.stack

import cats.effect.kernel.Async
import fs2.Stream

/** Measures fs2 where it runs effects. */
private[stack] object Fs2Rows:
  def apply[F[_]](using F: Async[F]): List[Row[F]] = List(
    sum("fs2 evalMap", 10_000)(_.evalMap(n => F.delay(n))),
    sum("fs2 parEvalMap(8)", 1000)(_.parEvalMap(8)(n => F.delay(n))),
    sum("fs2 parEvalMapUnordered(8)", 1000)(_.parEvalMapUnordered(8)(n => F.delay(n))),
    sum("fs2 parJoin(8)", 1600)(
      _.chunkN(100).map(chunk => Stream.chunk(chunk).evalMap(n => F.delay(n))).parJoin(8)
    )
  )

  private def sum[F[_]: Async](name: String, size: Int)(
      pipe: Stream[F, Int] => Stream[F, Int]
  ): Row[F] =
    val run = pipe(Stream.range(0, size)).compile.fold(0L)(_ + _)
    Row(name, size, size.toLong * (size - 1) / 2, run)

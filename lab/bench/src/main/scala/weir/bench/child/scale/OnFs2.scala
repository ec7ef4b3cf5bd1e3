package weir.bench.child.scale

import cats.effect.IO
import fs2.Stream

import weir.lab.scale.ScaleRow

/** fs2 on Cats Effect's pool. */
private[scale] final class OnFs2(pool: CatsPool) extends ScaleSystem:
  def run(load: Load): Option[() => Long] =
    streams(load).lift(load.row).map(stream => () => pool.run(stream.compile.fold(0L)(_ + _)))

  private def streams(load: Load): PartialFunction[ScaleRow, Stream[IO, Int]] =
    case ScaleRow.ParEvalMap0 | ScaleRow.ParEvalMap1 | ScaleRow.ParEvalMap10 =>
      Stream
        .emits(load.items)
        .covary[IO]
        .parEvalMap(load.parallelism)(i => IO.delay(load.compute(i)))
    case ScaleRow.Merge => Tree.of(sources(load))((left, right) => left.merge(right))
    case ScaleRow.ParJoin => Stream.emits(sources(load)).parJoin(load.fibers)

  private def sources(load: Load): Vector[Stream[IO, Int]] =
    Vector.fill(load.fibers)(
      Stream.emits(load.items).evalMap(i => IO.delay(load.compute(i)))
    )

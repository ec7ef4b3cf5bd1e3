package weir.bench.child.compare

import cats.effect.IO
import fs2.Stream

/** The ways of fs2. */
object Fs2Ways:
  def stream(work: CatsWork): IO[Unit] = consume(work, work.stream(work.batches))

  /** One chunk waits ready, one is being consumed: that is a place for two batches. */
  def prefetch(work: CatsWork): IO[Unit] = consume(work, work.stream(work.batches).prefetch)

  def parallelStream(work: CatsWork): IO[Unit] =
    consume(
      work,
      Stream.emits(work.halves).map(work.stream).parJoin(work.halves.size).prefetch
    )

  private def consume(work: CatsWork, tasks: Stream[IO, Int]): IO[Unit] =
    tasks.parEvalMapUnordered(work.parallelism)(work.consume).compile.drain

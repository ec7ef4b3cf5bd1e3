package weir.lab.compare.way

import weir.{Stream, Task}

/** A stream for each producer, joined, and produced ahead of the consumers. */
private[compare] object ParallelStreamWay:
  def apply(work: Work): Task[Unit] =
    Stream
      .fromIterable(work.halves)
      .map(work.stream)
      .parJoin(work.halves.size)
      .prefetchN(work.capacity)
      .parEvalMapUnordered(work.parallelism)(work.consume)
      .drain

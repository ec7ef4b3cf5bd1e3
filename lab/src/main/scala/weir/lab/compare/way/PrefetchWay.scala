package weir.lab.compare.way

import weir.Task

/** The same stream, produced ahead of the consumers. */
private[compare] object PrefetchWay:
  def apply(work: Work): Task[Unit] =
    work
      .stream(work.batches)
      .prefetchN(work.capacity)
      .parEvalMapUnordered(work.parallelism)(work.consume)
      .drain

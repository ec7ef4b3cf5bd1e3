package weir.cli.compare.way

import weir.Task

/** A stream whose tasks are consumed concurrently. */
private[compare] object StreamWay:
  def apply(work: Work): Task[Unit] =
    work.stream(work.batches).parEvalMapUnordered(work.parallelism)(work.consume).drain

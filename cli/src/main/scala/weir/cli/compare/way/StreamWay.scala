package weir.cli.compare.way

import weir.Task

/** A stream whose tasks are consumed concurrently. fs2's `parEvalMapUnordered` pulls a task while all consumers are busy, and holds it until
  * one is free. Weir's pulls it when one is free, unless it is asked to run that one task ahead.
  */
private[compare] object StreamWay:
  def apply(work: Work): Task[Unit] =
    work
      .stream(work.batches)
      .prefetchStrict
      .parEvalMapUnordered(work.parallelism)(work.consume)
      .drain

package weir.lab.compare.way

import weir.Task

/** A stream whose tasks are consumed concurrently. `parEvalMapUnordered` pulls a task once a
  * consumer is free, so its upstream would wait for that before it begins with the next batch; with
  * `prefetchStrict` it begins when the last task has been taken, as on fs2.
  */
private[compare] object StreamWay:
  def apply(work: Work): Task[Unit] =
    work
      .stream(work.batches)
      .prefetchStrict
      .parEvalMapUnordered(work.parallelism)(work.consume)
      .drain

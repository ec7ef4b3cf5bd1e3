package weir.lab.compare.way

import weir.Task

/** A batch after the other, each consumed concurrently to its end. */
private[compare] object BatchWay:
  def apply(work: Work): Task[Unit] =
    Task.foreach(work.batches): batch =>
      work.produce(batch).flatMap(tasks => Task.parForeachN(work.parallelism)(tasks)(work.consume))

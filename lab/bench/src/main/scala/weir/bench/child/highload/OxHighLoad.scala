package weir.bench.child.highload

import ox.flow.Flow

import weir.lab.compare.ShortTasks

/** The way of Ox. */
private[highload] object OxHighLoad:
  val stream: (ShortTasks, ShortTasks#Run) => Unit = (tasks, run) =>
    Flow
      .fromIterable(0 until tasks.count)
      .mapParUnordered(tasks.consumers)(run.consume)
      .runDrain()

package weir.bench.child.burst

import weir.Task

/** Weir: `runSync` may be called anywhere, and code may block anywhere. */
private[burst] object OnWeir extends BurstSystem:
  def nested(fibers: Int, calls: Int, inner: Inner): Long =
    val ready = Task(inner.work())
    val effect = if inner.yields then Task.cede.andThen(ready) else ready
    val fiber = Task
      .traverse(1 to calls)(_ => Task(effect.runSync()))
      .map(_.sum)
      .start
    Task
      .traverse(1 to fibers)(_ => fiber)
      .flatMap(started => Task.traverse(started)(_.joinOrFail))
      .map(_.sum)
      .runSync()

  def blocked(fibers: Int, millis: Long): Long =
    Task.parTraverse(1 to fibers)(_ => Task(BurstSystem.block(millis))).map(_.sum).runSync()

package weir.stream

import weir.fiber.{DirectCode, TaskFiber}
import weir.Outcome
import weir.std.Signal

/** A `parEvalMap` whose limit is the value of a signal, which a fiber of its own watches. */
private[weir] final class Resized(stage: ParEvalMapStage, limit: Signal.View[Int]) extends Pull:
  private var watcher: TaskFiber | Null = null

  override def atMost(count: Long): Unit = stage.atMost(count)
  override private[stream] def discard(): Unit = stage.discard()
  override def hasFibers: Boolean = true

  def next(fiber: TaskFiber): Any =
    if watcher eq null then
      val watch = limit.discrete.evalForeach(limit => DirectCode(stage.resize(limit, _)))
      // the signal may be a `map` of another one, whose function may fail
      watcher = fiber.fork(watch.handleError(error => stage.resizeFailed(error)))
    stage.next(fiber)

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val watching = watcher
    if watching ne null then fiber.await(watching.cancel)
    stage.close(fiber, outcome)

package weir.stream

import weir.Outcome
import weir.fiber.{DirectCode, TaskFiber}
import weir.std.Signal

/** A `parEvalMap` whose limit is the value of a signal, which a fiber of its own watches. */
private[weir] final class Resized(stage: ParEvalMapStage, limit: Signal.View[Int]) extends Pull:
  private var watcher: TaskFiber | Null = null

  override def atMost(count: Long): Unit = stage.atMost(count)
  override private[stream] def discard(): Unit = stage.discard()
  override def hasFibers: Boolean = true

  def next(fiber: TaskFiber): Any =
    if watcher eq null then
      val stretch = Observation.stretchOf(fiber)
      val watch = limit.discrete.evalForeach(limit => DirectCode(resize(limit, stretch, _)))
      // the signal may be a `map` of another one, whose function may fail
      watcher = fiber.fork(watch.handleErrorWith(error => DirectCode(stage.fail(error, _))))
    stage.next(fiber)

  private def resize(limit: Int, stretch: StretchCounters | Null, fiber: TaskFiber): Unit =
    if limit < 0 then
      throw IllegalArgumentException(
        s"Stream.parEvalMap: the signal of the parallelism was $limit. It must be at least 0."
      )
    if stretch ne null then stretch.parallelism = math.max(1, limit)
    stage.resize(limit, fiber)

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val watching = watcher
    if watching ne null then fiber.await(watching.cancel)
    stage.close(fiber, outcome)

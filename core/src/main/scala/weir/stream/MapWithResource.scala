package weir.stream

import weir.fiber.TaskFiber
import weir.group.Finalizers
import weir.{Outcome, Resource}

/** Applies `f` to a resource and each element. The resource is acquired when the first element has
  * arrived. It is released before upstream is closed.
  */
private[weir] final class MapWithResourceStage(
    upstream: Pull,
    resource: Resource[Any],
    f: (Any, Any) => Any
) extends Stage(upstream):
  private val finalizers = Finalizers()
  private var begun = false
  private var acquired: Any = null

  def next(fiber: TaskFiber): Any =
    val value = upstream.next(fiber)
    if Pull.isEnd(value) then value
    else
      if !begun then
        begun = true
        acquired = fiber.await(resource.allocate(finalizers))
      f(acquired, value)

  override def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    Pull.both(fiber.await(finalizers.release(outcome)), upstream.close(fiber, outcome))

  override def atMost(count: Long): Unit = upstream.atMost(count)
  override def holdsNothing: Boolean = !begun && upstream.holdsNothing

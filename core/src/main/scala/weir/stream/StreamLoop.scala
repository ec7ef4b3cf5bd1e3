package weir.stream

import weir.Outcome
import weir.fiber.{GoesOn, TaskFiber}

/** The loop of a consumer, which can leave its thread between two elements.
  *
  * It returns the result; or, on a platform thread that has called `runSync` and has had to wait
  * there, the code that goes on with it. The pull stays open in between, and only that code can
  * close it: so no cancel keeps it from beginning (`GoesOn`).
  */
private final class StreamLoop(pull: Pull, each: Step.Result) extends Stage(pull):
  private var leaves = false

  def next(fiber: TaskFiber): Any = pull.next(fiber)

  def begin(fiber: TaskFiber): Any =
    fiber.hasParkedCaller = false
    closing(fiber)(loop(fiber, mayLeave = true))

  private def goOn(fiber: TaskFiber): Any =
    leaves = false
    closing(fiber) {
      fiber.endIfCanceled()
      loop(fiber, mayLeave = false)
    }

  private inline def closing(fiber: TaskFiber)(inline body: Any): Any =
    var result: Any = null
    Pull.closing(this, fiber) { result = body }
    result

  private def loop(fiber: TaskFiber, mayLeave: Boolean): Any =
    var value = pull.next(fiber)
    while !Pull.isEnd(value) do
      each.add(value)
      if mayLeave && fiber.hasParkedCaller then
        leaves = true
        return GoesOn(goOn)
      value = pull.next(fiber)
    each.result

  override def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    if !leaves then pull.close(fiber, outcome)

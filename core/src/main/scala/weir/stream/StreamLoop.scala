package weir.stream

import weir.{Outcome, Stream}
import weir.fiber.{GoesOn, TaskFiber}

/** The loop of a consumer, which can leave its thread between two elements.
  *
  * It returns the result. On a platform thread that has called `runSync` and has had to wait there,
  * it returns the code that continues with the result instead. The pull stays open in between, and
  * only that code can close it: so no cancel keeps it from beginning (`GoesOn`). `stream` and `end`
  * are for traces.
  */
private final class StreamLoop(val stream: Stream[Any], pull: Pull, val end: Step.End)
    extends Stage(pull):
  private val each = end.begin()
  private var leaves = false

  def next(fiber: TaskFiber): Any = pull.next(fiber)

  def begin(fiber: TaskFiber): Any =
    if end.isInstanceOf[Step.Drain] then pull.discard()
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
    val parks = fiber.callerParks
    var value = pull.next(fiber)
    while !Pull.isEnd(value) do
      each.add(value)
      // If it is being cancelled, code of the user's has caught the signal: the rest runs here.
      if mayLeave && fiber.callerParks != parks && !fiber.finalizing then
        val rest = GoesOn(goOn)
        leaves = true // only now: there may have been no memory for the rest
        return rest
      value = pull.next(fiber)
    each.result

  override def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    if !leaves then pull.close(fiber, outcome)

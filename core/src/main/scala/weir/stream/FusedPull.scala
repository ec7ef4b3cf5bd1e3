package weir.stream

import weir.{Outcome, Stream}
import weir.fiber.TaskFiber

/** A run of steps as one loop. Each shape has a class of its own, which `FusedClass` makes. So each
  * shape has its own call sites, and the JIT inlines the functions of the user's.
  *
  * If the last step is a `Step.End`, the first `next` runs the stream to its end and returns the
  * result.
  */
private[weir] abstract class FusedPull extends Pull:
  private[stream] var source: Pull = EmptySource

  /** For traces, which look into it. */
  protected var description: Stream[Any] = Stream.empty
  @transient private var steps: Array[Step] = FusedPull.none

  /** The pull that this one was opened by, as were all others of its class. It does not belong to a
    * run itself.
    */
  @transient private var first: FusedPull = this
  private var hasParkedCaller = false

  /** Returns another pull of this class, without a source. */
  protected def fresh(): FusedPull

  /** Reads functions and first states from the steps. */
  protected def begin(steps: Array[Step]): Unit

  /** Returns a pull of this class. */
  final def open(source: Pull, steps: Array[Step], description: Stream[Any]): FusedPull =
    val pull = fresh()
    pull.source = source
    pull.description = description
    pull.steps = steps
    pull.first = this
    pull.begin(steps)
    pull.atMost(Long.MaxValue)
    pull

  /** Returns true if the latest run of this shape on a platform thread that had called `runSync`
    * has parked that thread. Another thread may see the change late.
    */
  final def parksCaller: Boolean = first.hasParkedCaller

  /** Called at the end of a run that was opened without its end, and has not parked such a thread.
    */
  final def parksNoCaller(): Unit = first.hasParkedCaller = false

  /** Runs a run with an end, closes it, and returns the result. */
  final def run(fiber: TaskFiber): Any =
    var result: Any = null
    val parks = fiber.callerParks
    Pull.closing(this, fiber) { result = next(fiber) }
    if fiber.callerParks != parks then first.hasParkedCaller = true
    result

  override def atMost(count: Long): Unit =
    var demand = count
    var index = steps.length - 1
    while index >= 0 do
      demand = steps(index).demand(demand)
      index -= 1
    if demand != Long.MaxValue then source.atMost(demand)

  /** Returns the first state of the fold at the end. */
  protected def zero: Any = steps(steps.length - 1).zero

  final def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit = source.close(fiber, outcome)
  final override def holdsNothing: Boolean = source.holdsNothing
  final override def hasFibers: Boolean = source.hasFibers

  final override def isPlain: Boolean =
    source.isPlain && !steps.exists(_.isInstanceOf[Step.EvalMap])

private object FusedPull:
  val none = new Array[Step](0)

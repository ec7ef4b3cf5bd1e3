package weir.stream

import weir.fiber.{DirectCode, Frame, Tag, TaskFiber}
import weir.{Outcome, Task}

/** The frame at the bottom of a runner's stack: takes an element, runs its effect, stores the
  * result, and takes the next one. `ParEvalMapStage` has the states.
  *
  * Upstream is plain code, so `takeElements` takes the elements. It also runs the effects that are
  * ready, and returns the first one that is not. The interpreter runs that one. `step` gets either
  * that effect, while `isTaking`, or the value of such an effect.
  */
private final class MapRunner(stage: ParEvalMapStage, val fiber: TaskFiber, f: Any => Task[Any])
    extends Frame(Tag.HandlingFrame):

  /** Its index among the runners; under the stage's lock. */
  var index = 0

  /** The result of the element that it has taken. */
  var result: MapResult = MapRunner.noResult

  def hasElement: Boolean = result ne MapRunner.noResult

  /** The effect's value, until the stage has stored it. */
  private var value: Any = null
  var hasValue = false

  /** True if the effect that has succeeded last was ready. */
  var wasReady = true

  /** The effect that the consumer has begun with, and left to this runner. */
  private var begun: Task[Any] | Null = null

  def isHandedOver: Boolean = begun ne null

  def handOver(result: MapResult, effect: Task[Any]): Unit =
    this.result = result
    begun = effect

  private var isTaking = true

  /** The time at which it has begun with its element, in a stream that is observed. */
  private var startNanos = 0L

  private val takeElements: Task[Any] = DirectCode { fiber =>
    var effect: Task[Any] | Null = null
    while (effect eq null) && stage.takeElement(this, fiber) do
      val element = result.value
      result.value = null
      if stage.stretch ne null then startNanos = fiber.runtime.timers.nanoTime
      val made = f(element)
      // In a fiber that is apart from the context of an `evalOn`, only the interpreter runs it, and
      // returns to the context for that.
      val value = if fiber.isApart then Frame.NotReady else Frame.ready(fiber, made)
      if value.asInstanceOf[AnyRef] eq Frame.NotReady then effect = made
      else
        wasReady = true
        succeed(value)
    effect
  }

  private def succeed(value: Any): Unit =
    val stretch = stage.stretch
    if stretch ne null then stretch.worked.add(fiber.runtime.timers.nanoTime - startNanos)
    this.value = value
    hasValue = true

  /** Returns the value, which this runner does not keep: it may wait for upstream. */
  def takeValue(): Any =
    val taken = value
    value = null
    hasValue = false
    result = MapRunner.noResult
    taken

  def start(fiber: TaskFiber): Task[Any] | Null =
    val effect = begun
    val goesOn = stage.enter(this)
    begun = null
    if effect eq null then takeNext(fiber)
    else if goesOn then
      isTaking = false
      fiber.push(this)
      effect
    else exit(fiber, Pull.succeeded)

  def step(fiber: TaskFiber, value: Any): Task[Any] | Null =
    if isTaking then
      val effect = value.asInstanceOf[Task[Any] | Null]
      if effect eq null then exit(fiber, Pull.succeeded)
      else
        isTaking = false
        fiber.push(this)
        effect
    else
      wasReady = false
      succeed(value)
      takeNext(fiber)

  /** Takes the next element. If the fiber has been cancelled meanwhile, `takeElements` does not
    * begin.
    */
  private def takeNext(fiber: TaskFiber): Task[Any] =
    isTaking = true
    fiber.push(this)
    takeElements

  override def failed(fiber: TaskFiber, error: Throwable): Task[Any] | Null =
    exit(fiber, Outcome.Failed(error))

  override def canceled(fiber: TaskFiber): Unit = stage.exit(this, Outcome.Canceled)

  private def exit(fiber: TaskFiber, outcome: Outcome[Unit]): Task[Any] | Null =
    stage.exit(this, outcome)
    fiber.frameResult = ()
    null

private object MapRunner:
  val noResult = MapResult(null)

package weir.stream

import weir.fiber.{DirectCode, Frame, Tag, TaskFiber}
import weir.{Outcome, Task}

/** The frame at the bottom of a runner's stack: takes an element, runs its effect, stores the
  * result, and takes the next one. `MapRunners` has the states.
  *
  * Upstream is plain code, so `takeElements` takes the elements. It also runs the effects that are
  * ready, and returns the first one that is not. The interpreter runs that one. `step` gets either
  * that effect, while `isTaking`, or the value of such an effect.
  */
private[stream] final class MapRunner(stage: ParEvalMapStage, val fiber: TaskFiber)
    extends Frame(Tag.HandlingFrame):
  import MapRunner.*
  import stage.runners

  /** The result of the element that it has taken. */
  var result: MapResult = noResult

  /** The effect's value, until the stage has stored it. */
  private var value: Any = NoValue

  /** True if the effect that has succeeded last was ready. */
  var wasReady = true
  private var isTaking = true

  def hasElement: Boolean = result ne noResult
  def hasValue: Boolean = value.asInstanceOf[AnyRef] ne NoValue

  /** Returns the value, which this runner does not keep: it may wait for upstream. */
  def takeValue(): Any =
    val taken = value
    value = NoValue
    result = noResult
    taken

  private val takeElements: Task[Any] = DirectCode { fiber =>
    var effect: Task[Any] | Null = null
    while (effect eq null) && runners.takeElement(this) do
      fiber.adopt(result.locals) // an effect that has run before may have changed them
      val element = result.value
      result.value = null
      val made = stage.f(element)
      // In a fiber that is apart from the context of an `evalOn`, only the interpreter runs it, and
      // returns to the context for that.
      val value = if fiber.isApart then Frame.NotReady else Frame.ready(fiber, made)
      if value.asInstanceOf[AnyRef] eq Frame.NotReady then effect = made
      else
        wasReady = true
        this.value = value
    effect
  }

  def start(fiber: TaskFiber): Task[Any] | Null =
    val left = runners.enter(this)
    if left eq null then takeNext(fiber)
    else
      result = left
      fiber.adopt(left.locals)
      interpret(left.value.asInstanceOf[Task[Any]], fiber)

  def step(fiber: TaskFiber, value: Any): Task[Any] | Null =
    if !isTaking then
      wasReady = false
      this.value = value
      takeNext(fiber)
    else
      val effect = value.asInstanceOf[Task[Any] | Null]
      if effect eq null then exit(fiber, Pull.succeeded) else interpret(effect, fiber)

  private def interpret(effect: Task[Any], fiber: TaskFiber): Task[Any] =
    isTaking = false
    fiber.push(this)
    effect

  /** Takes the next element. If the fiber has been cancelled meanwhile, `takeElements` does not
    * begin.
    */
  private def takeNext(fiber: TaskFiber): Task[Any] =
    isTaking = true
    fiber.push(this)
    takeElements

  override def failed(fiber: TaskFiber, error: Throwable): Task[Any] | Null =
    exit(fiber, Outcome.Failed(error))

  override def canceled(fiber: TaskFiber): Unit = runners.exit(this, Outcome.Canceled)

  private def exit(fiber: TaskFiber, outcome: Outcome[Unit]): Task[Any] | Null =
    runners.exit(this, outcome)
    fiber.frameResult = ()
    null

private object MapRunner:
  val noResult = MapResult(null, null)
  object NoValue

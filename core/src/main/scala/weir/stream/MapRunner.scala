package weir.stream

import weir.fiber.{CancelSelf, DirectCode, Fail, Frame, Tag, TaskFiber}
import weir.{Outcome, Task}

/** The frame at the bottom of a runner's stack: takes an element, runs its effect, stores the
  * result, and takes the next one. `ParEvalMapStage` has the states.
  *
  * `step` gets the answer of `takeElement` while `isTaking`, otherwise the value of an effect that
  * has left the run of `runEffect`.
  */
private final class MapRunner(stage: ParEvalMapStage, val fiber: TaskFiber, f: Any => Task[Any])
    extends Frame(Tag.HandlingFrame):

  /** Its index among the runners; under the stage's lock. */
  var index = 0

  /** Of the element that it has taken. */
  var result: MapResult = MapRunner.noResult

  private var isTaking = true
  private val takeElement: Task[Any] = DirectCode(fiber => stage.takeElement(this, fiber))

  def start(fiber: TaskFiber): Task[Any] | Null =
    stage.enter(this)
    takeNext(fiber)

  def step(fiber: TaskFiber, value: Any): Task[Any] | Null =
    if !isTaking then stage.store(result, value)
    if fiber.cancelRequested then
      fiber.push(this)
      CancelSelf
    else if !isTaking then takeNext(fiber)
    else if value.asInstanceOf[Boolean] then runEffect(fiber)
    else exit(fiber, Pull.succeeded)

  private def takeNext(fiber: TaskFiber): Task[Any] =
    isTaking = true
    result = MapRunner.noResult // it would keep its value while this runner waits for upstream
    fiber.push(this)
    takeElement

  private def runEffect(fiber: TaskFiber): Task[Any] | Null =
    isTaking = false
    try
      val element = result.value
      result.value = null
      val effect = f(element)
      val value = Frame.ready(fiber, effect)
      if value.asInstanceOf[AnyRef] eq Frame.NotReady then
        fiber.push(this)
        effect
      else
        stage.store(result, value)
        takeNext(fiber)
    catch
      case error: Throwable =>
        fiber.push(this)
        if fiber.isCancel(error) then CancelSelf else Fail(error)

  override def failed(fiber: TaskFiber, error: Throwable): Task[Any] | Null =
    exit(fiber, Outcome.Failed(error))

  override def canceled(fiber: TaskFiber): Unit = stage.exit(this, Outcome.Canceled)

  private def exit(fiber: TaskFiber, outcome: Outcome[Unit]): Task[Any] | Null =
    stage.exit(this, outcome)
    fiber.frameResult = ()
    null

private object MapRunner:
  val noResult = MapResult(null)

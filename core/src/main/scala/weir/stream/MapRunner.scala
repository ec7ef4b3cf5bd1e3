package weir.stream

import weir.Task
import weir.kernel.{CancelSelf, Direct, Fail, Loop, RunLoop, Tag}

/** The frame at the bottom of a runner of `parEvalMap`: claims an element, runs the effect, stores, and again. */
private final class MapRunner(stage: ParEvalMapStage, val fiber: RunLoop, f: Any => Task[Any])
    extends Loop(Tag.Claiming):

  /** Its place among the runners; under the stage's lock. */
  var place = 0

  // set by the claim
  var element: Any = null
  var slot: MapSlot = MapRunner.noSlot

  private var claiming = true
  private val claim: Task[Any] = Direct(fiber => stage.claim(this, fiber))

  def start(fiber: RunLoop): Task[Any] | Null =
    stage.enter(this)
    claimNext(fiber)

  def step(fiber: RunLoop, value: Any): Task[Any] | Null =
    if !claiming then stage.store(slot, value)
    if fiber.cancelRequested then
      fiber.push(this)
      CancelSelf
    else if !claiming then claimNext(fiber)
    else if value.asInstanceOf[Boolean] then runEffect(fiber)
    else exit(fiber)

  private def claimNext(fiber: RunLoop): Task[Any] =
    claiming = true
    fiber.push(this)
    claim

  private def runEffect(fiber: RunLoop): Task[Any] | Null =
    claiming = false
    try
      val child = f(element)
      element = null
      val value = Loop.ready(fiber, child)
      if value.asInstanceOf[AnyRef] eq Loop.NotReady then
        fiber.push(this)
        child
      else
        stage.store(slot, value)
        claimNext(fiber)
    catch
      case error: Throwable =>
        fiber.push(this)
        if fiber.isCancel(error) then CancelSelf else Fail(error)

  override def failed(fiber: RunLoop, error: Throwable): Task[Any] | Null =
    stage.fail(error)
    exit(fiber)

  override def canceled(fiber: RunLoop): Unit =
    stage.canceled()
    stage.exit(this)

  private def exit(fiber: RunLoop): Task[Any] | Null =
    stage.exit(this)
    fiber.loopResult = ()
    null

private object MapRunner:
  val noSlot = MapSlot()

package weir.stream

import weir.fiber.{BeginFrame, Frame, Tag, TaskFiber}
import weir.stream.ParEvalMapStage.*
import weir.{Task, WeirRuntime}

/** Passes the elements of a `parEvalMap` from its runners to the consumer, which runs effects in
  * place, and back: `InPlace` has the states. The consumer calls all of this, except for the
  * helper's part.
  */
private[stream] trait Takeover:
  this: ParEvalMapStage =>

  /** Under the lock: returns true if no runner is needed now. If one still is, they all continue.
    */
  private[stream] def beginsInPlace(fiber: TaskFiber): Boolean =
    val begins = results.isEmpty && inFlight == 0 && (upstreamState eq Idle) && !stopped &&
      (stretch eq null) && inPlace.nn.mayBegin(fiber)
    inPlace.nn.isWanted = false
    if begins then
      upstreamState = InPlace.On
      inPlace.nn.begin()
    else
      inPlace.nn.needMore()
      requestRunner(fiber)
    begins

  private[stream] def countInPlace(): Unit = demand -= 1

  private[stream] def endInPlace(): Any = synchronized {
    leave(): Unit
    upstreamState = Pull.End
    Pull.End
  }

  /** Under the lock: returns true if the consumer's last effect was interrupted. */
  private def leave(): Boolean =
    val was = inPlace.nn.end()
    if was == InPlace.Taken then
      results.poll(): Unit
      inFlight -= 1
      consumed += 1
    else if was != InPlace.Off then upstreamState = Idle // otherwise a helper was faster
    inPlace.nn.clearInterrupt()

  private[stream] def leaveInPlace(fiber: TaskFiber): Unit =
    val wasInterrupted = synchronized {
      val was = leave()
      requestRunner(fiber)
      was
    }
    if wasInterrupted && fiber.shouldCancel then fiber.interruptAgain()

  private[stream] def leaveAtError(): Boolean = synchronized(leave())

  private[stream] def failInPlace(
      error: Throwable,
      ofUpstream: Boolean,
      fiber: TaskFiber
  ): Nothing =
    val toCancel = synchronized {
      if ofUpstream then
        upstreamState = Terminal.Failed(error)
        Nil
      else fail(error)
    }
    toCancel.foreach(_.fiber.requestCancel())
    throwing(if ofUpstream then Terminal.Failed(error) else failure.nn, fiber)

  /** Leaves the consumer's effect to a runner. */
  private[stream] def handOver(effect: Task[Any], fiber: TaskFiber): Unit =
    val wasInterrupted = synchronized {
      if inPlace.nn.end() != InPlace.Taken then
        upstreamState = Idle
        addInFlight()
      val result = results.peek().nn
      if !stopped then
        handedOver += 1
        try fiber.fork(BeginHandedOver(result, effect)): Unit
        catch
          case error: Throwable =>
            handedOver -= 1
            throw error
      requestRunner(fiber)
      inPlace.nn.clearInterrupt()
    }
    if wasInterrupted && fiber.shouldCancel then fiber.interruptAgain()

  private final class BeginHandedOver(result: MapResult, effect: Task[Any])
      extends BeginFrame[Unit](Tag.BeginFrameMasked):
    def begin(fiber: TaskFiber): Frame =
      val runner = MapRunner(Takeover.this, fiber, f)
      runner.handOver(result, effect)
      runner

  /** Under the lock: the consumer's element counts as one that a runner has taken. */
  private def addInFlight(): Unit =
    results.add(MapResult(null)): Unit
    inFlight += 1
    taken += 1

  /** Requests a runner that continues with the elements behind, unless the consumer pulls then.
    * Also requests one if the consumer was to run effects, and has not come.
    */
  private[stream] def requestHelper(runtime: WeirRuntime): Unit =
    synchronized {
      if !stopped && ((upstreamState eq InPlace.On) || inPlace.nn.isWanted) then
        if !runnerRequested then
          val helper = TaskFiber(runtime, EnterRunner)
          helper.locals = upstreamLocals
          runtime.scheduler.submit(helper)
          runnerRequested = true
        inPlace.nn.isWanted = false
        helperRequested = true
    }

  /** Under the lock, by the helper. */
  private[stream] def help(): Unit =
    helperRequested = false
    if !stopped && (upstreamState eq InPlace.On) then
      val found = inPlace.nn.takeOver()
      if found == InPlace.Running then addInFlight()
      if found == InPlace.Running || found == InPlace.Free then upstreamState = Idle

package weir.stream

import weir.fiber.{CancelSelf, CancelSignal, DirectBlock, TaskFiber}
import weir.io.Source
import weir.{Outcome, Task}

/** Emits the elements of a user's `Source`, whose methods are plain code of the fiber that pulls.
  *
  *   - Opening is masked: a source that has been opened is known, and so is closed.
  *   - `block` gives the source the right to await. It is kept from call to call, since the same
  *     fiber usually pulls again on the same thread; a runner of `parEvalMap` may be another one.
  */
private[weir] final class SourcePull[A](open: Task[Source[A]]) extends Pull:
  private var source: Source[A] | Null = null
  private var block: DirectBlock | Null = null
  private var ended = false

  def next(fiber: TaskFiber): Any =
    fiber.checkpoint()
    if ended then Pull.End
    else
      if source eq null then
        fiber.masked { source = fiber.await(open) }
        fiber.endIfCanceled()
      val value = nextOf(source.nn, fiber)
      if value.asInstanceOf[AnyRef] eq Source.End then
        ended = true
        Pull.End
      else value

  /** Returns the next element of the source. An error that the interrupt of a cancel has caused is
    * that cancel, as in the code of a task.
    */
  private def nextOf(source: Source[A], fiber: TaskFiber): Any =
    try blockOf(fiber).run(source.next())
    catch
      case CancelSignal => throw CancelSignal
      case error: Throwable if (error ne fiber.thrown) && fiber.isCancel(error) =>
        fiber.await(CancelSelf)

  private def blockOf(fiber: TaskFiber): DirectBlock =
    val before = block
    if (before ne null) && before.isOf(fiber) then before
    else
      val made = DirectBlock.of(fiber)
      block = made
      made

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val opened = source
    if opened ne null then blockOf(fiber).run(opened.close())

package weir.stream

import weir.kernel.{CancelSignal, RunLoop}
import weir.task.{ErrorHandler, Failures}
import weir.{Outcome, Stream, Task}

/** What a running stream does once the part of it that is being pulled has ended or failed. It is
  * closed as a pull is, and a trace looks into it as into one, for the functions that come next; it
  * has no elements of its own.
  *
  * `continues`: elements may follow the end of that part.
  */
private sealed abstract class Frame(val below: Frame | Null, final val continues: Boolean)
    extends Source:
  final def next(fiber: RunLoop): Any = Pull.End

private object Frame:
  final class Following(val stream: () => Stream[Any], below: Frame | Null)
      extends Frame(below, continues = true)

  final class Outer(val pull: Pull, val f: Any => Stream[Any], below: Frame | Null)
      extends Frame(below, continues = true):
    override def holdsNothing: Boolean = pull.holdsNothing
    override def close(fiber: RunLoop, outcome: Outcome[Unit]): Unit = pull.close(fiber, outcome)

  final class Handler(val f: Throwable => Stream[Any], below: Frame | Null)
      extends Frame(below, continues = false)

  final class Finalizer(task: Task[Unit], below: Frame | Null)
      extends Frame(below, continues = false):
    override def holdsNothing: Boolean = false
    override def close(fiber: RunLoop, outcome: Outcome[Unit]): Unit = fiber.await(task)

/** The pull of `++`, `flatMap`, `handleErrorWith` and `onFinalize`, however they are nested: one
  * pull at a time, and a stack of frames for what is to come after it.
  *
  * Recursion in them costs no stack. It costs no heap either where it is in tail position, for a
  * frame leaves the stack before the stream in its tail is entered: `++` before its second stream,
  * `flatMap` before the stream of the last element, if what made the elements is spent, and
  * `handleErrorWith` before the handler's stream. What has failed or ended is closed first.
  *
  *   - **End**: the part that has ended is closed when the stream goes on behind it; where nothing
  *     follows, with the whole stream. A handler is out of scope then: it sees what its source
  *     throws while it is pulled, not when it is closed.
  *   - **Error**: what stands above the nearest handler is closed. Without a handler nothing is:
  *     the consumer closes all of it, and says how its use has ended.
  */
private final class CompositePull(stream: Composite[Any]) extends Pull:
  private var left = Long.MaxValue // and then there is no limit
  private var frames: Frame | Null = null
  private var current: Pull = EmptySource
  enter(stream)

  private def enter(stream: Stream[Any]): Unit =
    var from = stream
    while from.isInstanceOf[Composite[?]] do
      from.asInstanceOf[Composite[Any]] match
        case concat: Concat[Any] =>
          frames = Frame.Following(concat.second, frames)
          from = concat.first
        case flat: FlatMapped[?, Any] =>
          val f = flat.f.asInstanceOf[Any => Stream[Any]]
          frames = Frame.Outer(flat.source.open(), f, frames)
          from = Stream.empty
        case handled: Handled[Any] =>
          frames = Frame.Handler(handled.f, frames)
          from = handled.source
        case finalized: Finalized[Any] =>
          frames = Frame.Finalizer(finalized.finalizer, frames)
          from = finalized.source
    val opened = from.open()
    if left != Long.MaxValue then opened.atMost(left)
    current = opened

  def next(fiber: RunLoop): Any =
    while true do
      try
        val value = current.next(fiber)
        if !Pull.isEnd(value) then
          if left != Long.MaxValue then left -= 1
          return value
        if !goOn(fiber) then return Pull.End
      catch
        case CancelSignal => throw CancelSignal
        case error: Throwable => handle(error, fiber)
    Pull.End

  /** Enters what follows the end of `current`; false if nothing does. */
  private def goOn(fiber: RunLoop): Boolean =
    var frame = frames
    while (frame ne null) && !frame.continues do frame = frame.below
    val isOpen = (frame ne frames) || !current.isInstanceOf[Source]
    if isOpen && (frame ne null) then fiber.masked(closeAbove(frame, fiber, Pull.succeeded))
    frame match
      case following: Frame.Following =>
        frames = following.below
        fiber.checkpoint() // an empty stream has none
        enter(following.stream())
      case outer: Frame.Outer =>
        val value = outer.pull.next(fiber)
        if Pull.isEnd(value) then
          frames = outer.below
          current = outer.pull
        else
          if outer.pull.isSpent then frames = outer.below
          enter(outer.f(value))
      case _ => ()
    frame ne null

  /** Has what follows an error follow; throws it if there is no handler. */
  private def handle(error: Throwable, fiber: RunLoop): Unit =
    var frame = frames
    while (frame ne null) && !frame.isInstanceOf[Frame.Handler] do frame = frame.below
    if frame eq null then throw error
    val handler = frame.asInstanceOf[Frame.Handler]
    try fiber.masked(closeAbove(handler, fiber, Outcome.Failed(error)))
    catch case later: Throwable => Failures.add(error, later): Unit
    frames = Frame.Following(() => ErrorHandler.call(handler.f, error), handler.below)

  override def atMost(count: Long): Unit =
    left = math.min(left, count)
    current.atMost(count) // still the first: this comes before `next`

  def close(fiber: RunLoop, outcome: Outcome[Unit]): Unit = closeAbove(null, fiber, outcome)

  /** Closes what stands above `floor`, from the top, and takes it off the stack. '''Fails''' with
    * the first error, the others suppressed under it.
    */
  private def closeAbove(floor: Frame | Null, fiber: RunLoop, outcome: Outcome[Unit]): Unit =
    var thrown: Throwable | Null = null
    val ended = current
    current = EmptySource
    try ended.close(fiber, outcome)
    catch case error: Throwable => thrown = error
    while frames ne floor do
      val frame = frames.nn
      frames = frame.below
      try frame.close(fiber, outcome)
      catch case error: Throwable => thrown = Failures.add(thrown, error)
    if thrown ne null then throw thrown

  override def isSpent: Boolean = current.isSpent && {
    // With nothing left, no handler is in scope.
    while frames.isInstanceOf[Frame.Handler] do frames = frames.nn.below
    frames eq null
  }

  override def holdsNothing: Boolean = current.holdsNothing && {
    var frame = frames
    while (frame ne null) && frame.holdsNothing do frame = frame.below
    frame eq null
  }

package weir.stream

import weir.fiber.{CancelSignal, TaskFiber}
import weir.group.{ErrorHandler, Failures}
import weir.{Outcome, Stream}

/** The pull of `++`, `flatMap`, `handleErrorWith` and `onFinalize`, however they are nested: the
  * part that is pulled now, and a stack of frames for the rest.
  *
  * Recursion in them uses no stack. In tail position it uses no heap either: a frame is removed
  * from the stack before the stream in its tail is entered. `++` is removed before its second
  * stream, `flatMap` before the stream of the last element if its source is spent,
  * `handleErrorWith` before the handler's stream. The part that has ended or failed is closed
  * first.
  *
  *   - **End**: the part that has ended is closed when the stream continues after it. If nothing
  *     follows, it is closed together with the whole stream. A handler is out of scope then: it
  *     gets an error that its source throws when it is pulled, not one that it throws when it is
  *     closed.
  *   - **Error**: all frames inside of the nearest handler are closed. Without a handler none is:
  *     the consumer closes the whole stream, with the outcome of its use.
  */
private final class CompositePull(stream: Composite[Any]) extends Pull:
  private var left = Long.MaxValue // which is no limit
  private var frames: StreamFrame | Null = null
  private var current: Pull = EmptySource

  /** The elements of the part that is pulled now, if that is a collection: `current` is empty. */
  private var items: Iterator[Any] | Null = null
  private var itemsAreStrict = false
  openPart(findPart(stream))

  /** Continues with `stream`, as a part of `next`. */
  private def enter(stream: Stream[Any]): Unit = findPart(stream) match
    case iterated: Iterated[Any] =>
      current = EmptySource
      items = iterated.iterator
      itemsAreStrict = iterated.isStrict
    case part => openPart(part)

  /** Returns the stream to pull first, and pushes frames for those that follow it. */
  private def findPart(stream: Stream[Any]): Stream[Any] =
    var from = stream
    while from.isInstanceOf[Composite[?]] do
      from.asInstanceOf[Composite[Any]] match
        case concat: Concat[Any] =>
          frames = StreamFrame.Following(concat.second, frames)
          from = concat.first
        case flat: FlatMapped[?, Any] =>
          val f = flat.f.asInstanceOf[Any => Stream[Any]]
          frames = StreamFrame.Mapping(flat.source.open(), f, frames)
          from = Stream.empty
        case handled: Handled[Any] =>
          frames = StreamFrame.Handler(handled.f, frames)
          from = handled.source
        case finalized: Finalized[Any] =>
          frames = StreamFrame.Finalizer(finalized.finalizer, frames)
          from = finalized.source
    from

  private def openPart(part: Stream[Any]): Unit =
    val opened = part.open()
    if left != Long.MaxValue then opened.atMost(left)
    current = opened

  def next(fiber: TaskFiber): Any =
    while true do
      try
        val value = nextOfPart(fiber)
        if !Pull.isEnd(value) then
          if left != Long.MaxValue then left -= 1
          return value
        if !enterNext(fiber) then return Pull.End
      catch
        case CancelSignal => throw CancelSignal
        case error: Throwable => handle(error, fiber)
    Pull.End

  private def nextOfPart(fiber: TaskFiber): Any =
    val iterator = items
    if iterator eq null then current.next(fiber)
    else
      fiber.checkpoint()
      if iterator.hasNext then iterator.next()
      else
        items = null
        Pull.End

  /** Returns the iterator of the part that is pulled now, for a loop that takes the elements by
    * itself. Returns null if no loop may do so: the part is not a collection, elements are counted,
    * or a handler would have to get the error of the iterator. At its end, `next` continues.
    */
  def lent: Iterator[Any] | Null =
    val frame = frames
    if left == Long.MaxValue && ((frame eq null) || !frame.isHandled) then items else null

  override private[stream] def takeReady(limit: Int): Chunk | Null =
    val most = math.min(limit, left).toInt
    val ready =
      try takeReadyOfPart(most)
      catch
        case CancelSignal => throw CancelSignal
        case error: Throwable =>
          items = Chunk.failing(error) // `next` throws it, where a handler gets it
          null
    if (ready ne null) && left != Long.MaxValue then left -= ready.count
    ready

  private def takeReadyOfPart(most: Int): Chunk | Null =
    val iterator = items
    if iterator eq null then current.takeReady(most)
    else if itemsAreStrict then Chunk.of(iterator, most)(items = _)
    else null

  /** Continues after the end of `current`. Returns false if nothing follows. */
  private def enterNext(fiber: TaskFiber): Boolean =
    var frame = frames
    while (frame ne null) && !frame.continues do frame = frame.outer
    val isOpen = (frame ne frames) || !current.isInstanceOf[PlainSource]
    if isOpen && (frame ne null) then fiber.masked(closeInside(frame, fiber, Pull.succeeded))
    frame match
      case following: StreamFrame.Following =>
        frames = following.outer
        fiber.checkpoint() // the pull of an empty stream makes none
        enter(following.stream())
      case mapping: StreamFrame.Mapping =>
        val value = mapping.pull.next(fiber)
        if Pull.isEnd(value) then
          frames = mapping.outer
          current = mapping.pull
        else
          if mapping.pull.isSpent then frames = mapping.outer
          enter(mapping.f(value))
      case _ => ()
    frame ne null

  /** Continues with the nearest handler of an error. Throws the error if there is none. */
  private def handle(error: Throwable, fiber: TaskFiber): Unit =
    var frame = frames
    while (frame ne null) && !frame.isInstanceOf[StreamFrame.Handler] do frame = frame.outer
    if frame eq null then throw error
    val handler = frame.asInstanceOf[StreamFrame.Handler]
    try fiber.masked(closeInside(handler, fiber, Outcome.Failed(error)))
    catch case later: Throwable => Failures.add(error, later): Unit
    frames = StreamFrame.Following(() => ErrorHandler.call(handler.f, error), handler.outer)

  override def hasFibers: Boolean =
    var frame = frames
    while (frame ne null) && !frame.hasFibers do frame = frame.outer
    current.hasFibers || (frame ne null)

  override def atMost(count: Long): Unit =
    left = math.min(left, count)
    current.atMost(count) // still the first part: `atMost` comes before `next`

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit = closeInside(null, fiber, outcome)

  /** Closes the part that is pulled now and the frames inside of `end`, the innermost first, and
    * removes them. **Fails** with the first error, under which the others are suppressed.
    */
  private def closeInside(end: StreamFrame | Null, fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    var thrown: Throwable | Null = null
    val ended = current
    current = EmptySource
    items = null
    try ended.close(fiber, outcomeInside(frames, outcome))
    catch case error: Throwable => thrown = error
    while frames ne end do
      val frame = frames.nn
      frames = frame.outer
      try frame.close(fiber, outcomeInside(frame.outer, outcome))
      catch case error: Throwable => thrown = Failures.add(thrown, error)
    if thrown ne null then throw thrown

  /** Returns the outcome for a part inside of `frame`. A handler there would have had an error of
    * the work of that part, and a close cannot pass it one.
    */
  private def outcomeInside(frame: StreamFrame | Null, outcome: Outcome[Unit]): Outcome[Unit] =
    if (frame ne null) && frame.isHandled then Terminal.unreached(outcome) else outcome

  override def isSpent: Boolean = isPartSpent && {
    // With nothing left, no handler is in scope.
    while frames.isInstanceOf[StreamFrame.Handler] do frames = frames.nn.outer
    frames eq null
  }

  private def isPartSpent: Boolean =
    val iterator = items
    if iterator eq null then current.isSpent else itemsAreStrict && !iterator.hasNext

  override def holdsNothing: Boolean = current.holdsNothing && {
    var frame = frames
    while (frame ne null) && frame.holdsNothing do frame = frame.outer
    frame eq null
  }

package weir.stream

import scala.collection.StrictOptimizedIterableOps
import weir.fiber.TaskFiber
import weir.group.Finalizers
import weir.{Outcome, Resource, Task}

/** Emits the elements of an iterator.
  *
  * `isStrict`: the elements exist already, so `hasNext` runs no code of the user's.
  */
private[weir] final class IteratorSource[A](
    make: () => Iterator[A],
    isStrict: Boolean,
    @transient private[stream] val kind: Class[?]
) extends PlainSource:
  private var iterator: Iterator[Any] | Null = null

  /** Returns the iterator of this run. */
  def started: Iterator[Any] =
    if iterator eq null then iterator = make()
    iterator.nn

  def next(fiber: TaskFiber): Any =
    fiber.checkpoint()
    val items = started
    if items.hasNext then items.next() else Pull.End
  override def isPlain: Boolean = true
  override private[stream] def isReady: Boolean = isStrict
  override private[stream] def takeReady(limit: Int): Chunk | Null =
    if isStrict then Chunk.of(started, limit)(iterator = _) else null
  override def isSpent: Boolean = isStrict && (iterator ne null) && !iterator.nn.hasNext

private[weir] object IteratorSource:
  def isStrict(items: Iterable[Any]): Boolean =
    items.isInstanceOf[StrictOptimizedIterableOps[?, ?, ?]]

/** Emits one element. */
private[weir] final class EmitSource(value: Any) extends PlainSource:
  private var spent = false
  def next(fiber: TaskFiber): Any =
    fiber.checkpoint()
    if spent then Pull.End
    else
      spent = true
      value
  override def isPlain: Boolean = true
  override def isSpent: Boolean = spent

/** Emits no element. */
private[weir] object EmptySource extends PlainSource:
  def next(fiber: TaskFiber): Any = Pull.End
  override def isPlain: Boolean = true
  override def isSpent: Boolean = true

/** Emits no element, and fails. */
private[weir] final class FailSource(error: Throwable) extends PlainSource:
  def next(fiber: TaskFiber): Any =
    fiber.checkpoint()
    fiber.await(Task.fail(error))

/** Emits the elements that `f` makes from a state. */
private[weir] final class UnfoldSource[S, A](zero: S, f: S => Option[(A, S)]) extends PlainSource:
  private var state: S = zero
  private var ended = false
  def next(fiber: TaskFiber): Any =
    fiber.checkpoint()
    if ended then Pull.End
    else
      f(state) match
        case Some((value, next)) =>
          state = next
          value
        case None =>
          ended = true
          Pull.End
  override def isPlain: Boolean = true

/** Emits the elements that the tasks of `f` make from a state. */
private[weir] final class UnfoldEvalSource[S, A](zero: S, f: S => Task[Option[(A, S)]])
    extends PlainSource:
  private var state: S = zero
  private var ended = false
  def next(fiber: TaskFiber): Any =
    fiber.checkpoint()
    if ended then Pull.End
    else
      fiber.await(f(state)) match
        case Some((value, next)) =>
          state = next
          value
        case None =>
          ended = true
          Pull.End

/** Runs a task once and emits its value. */
private[weir] final class EvalSource(task: Task[Any]) extends PlainSource:
  private var spent = false
  def next(fiber: TaskFiber): Any =
    fiber.checkpoint()
    if spent then Pull.End
    else
      spent = true
      fiber.await(task)
  override def isSpent: Boolean = spent
  override def isOneEffect: Boolean = true

/** Runs a task again and again, and emits its values. */
private[weir] final class RepeatEvalSource(task: Task[Any]) extends PlainSource:
  def next(fiber: TaskFiber): Any =
    fiber.checkpoint()
    fiber.await(task)

/** Emits one resource, which is released when the stream is closed. */
private[weir] final class ResourceSource[R](resource: Resource[R]) extends Pull:
  private val finalizers = Finalizers()
  private var spent = false

  def next(fiber: TaskFiber): Any =
    fiber.checkpoint()
    if spent then Pull.End
    else
      spent = true
      fiber.await(resource.allocate(finalizers))

  override def isOneEffect: Boolean = true

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    fiber.await(finalizers.release(outcome))

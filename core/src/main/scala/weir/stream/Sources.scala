package weir.stream

import scala.collection.StrictOptimizedIterableOps
import weir.kernel.RunLoop
import weir.task.Finalizers
import weir.{Outcome, Resource, Task}

/** Pulls that have nothing above them.
  *
  * `isStrict`: the elements are there already, so that asking whether there is a further one does
  * nothing else.
  */
private[weir] final class IteratorSource[A](make: () => Iterator[A], isStrict: Boolean)
    extends Source:
  private var iterator: Iterator[A] | Null = null

  def next(fiber: RunLoop): Any =
    fiber.checkpoint()
    if iterator eq null then iterator = make()
    if iterator.nn.hasNext then iterator.nn.next() else Pull.End
  override def isSpent: Boolean = isStrict && (iterator ne null) && !iterator.nn.hasNext

private[weir] object IteratorSource:
  def isStrict(items: Iterable[Any]): Boolean =
    items.isInstanceOf[StrictOptimizedIterableOps[?, ?, ?]]

/** One element. */
private[weir] final class EmitSource(value: Any) extends Source:
  private var spent = false
  def next(fiber: RunLoop): Any =
    fiber.checkpoint()
    if spent then Pull.End
    else
      spent = true
      value
  override def isSpent: Boolean = spent

private[weir] object EmptySource extends Source:
  def next(fiber: RunLoop): Any = Pull.End
  override def isSpent: Boolean = true

private[weir] final class UnfoldSource[S, A](zero: S, f: S => Option[(A, S)]) extends Source:
  private var state: S = zero
  private var ended = false
  def next(fiber: RunLoop): Any =
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

/** The value of one run of a task. */
private[weir] final class EvalSource(task: Task[Any]) extends Source:
  private var spent = false
  def next(fiber: RunLoop): Any =
    fiber.checkpoint()
    if spent then Pull.End
    else
      spent = true
      fiber.await(task)
  override def isSpent: Boolean = spent

/** The values of one run of a task after the other. */
private[weir] final class RepeatEvalSource(task: Task[Any]) extends Source:
  def next(fiber: RunLoop): Any =
    fiber.checkpoint()
    fiber.await(task)

/** One resource, released when the stream is closed. */
private[weir] final class ResourceSource[R](resource: Resource[R]) extends Pull:
  private val finalizers = Finalizers()
  private var spent = false

  def next(fiber: RunLoop): Any =
    fiber.checkpoint()
    if spent then Pull.End
    else
      spent = true
      fiber.await(resource.allocate(finalizers))

  def close(fiber: RunLoop, outcome: Outcome[Unit]): Unit = fiber.await(finalizers.release(outcome))

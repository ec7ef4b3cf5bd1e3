package weir.task

import java.util.concurrent.atomic.AtomicInteger
import weir.Task
import weir.fiber.{Attempt, RunsUserCode, Suspend, TaskFiber}
import weir.group.{ChildGroup, Failures, Runner}

/** Runs children of which the first to succeed wins. The others are cancelled, and those not begun
  * yet never begin. Errors count only if no child wins.
  */
private[weir] final class FirstSuccess[A](tasks: Iterable[Task[A]], operator: String)
    extends Suspend[A],
      RunsUserCode:
  def begin(fiber: TaskFiber): Any =
    val items = Items(tasks)
    if items.size == 0 then
      throw IllegalArgumentException(
        s"Task.$operator: there was no task. It needs at least one, whose value it can return."
      )
    FirstSuccessGroup(items).start(fiber)

private final class FirstSuccessGroup(tasks: Items) extends ChildGroup(limit = Int.MaxValue):
  private val taken = AtomicInteger(0)
  private val cancelled = AtomicInteger(0)

  // shared, under this object's lock
  private var failure: Throwable | Null = null

  def take(runner: Runner): Boolean =
    runner.index = taken.getAndIncrement()
    runner.index < tasks.size

  def hasMore: Boolean = taken.get < tasks.size

  def child(runner: Runner): Task[Any] = Attempt(tasks.array(runner.index).asInstanceOf[Task[Any]])

  def store(runner: Runner, value: Any): Unit = value.asInstanceOf[Either[Throwable, Any]] match
    case Right(value) => stop(ChildGroup.Stop.Won(value), by = runner)
    case Left(error) => synchronized { failure = Failures.add(failure, error) }

  override def childCancelled(): Unit =
    if cancelled.incrementAndGet() == tasks.size then stop(ChildGroup.Stop.Cancelled)

  def result: Any = throw synchronized(failure).nn

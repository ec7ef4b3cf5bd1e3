package weir.task

import java.util.concurrent.atomic.AtomicInteger
import weir.Task
import weir.kernel.{Attempt, RunLoop, Suspend}

/** Children of which the first to succeed wins; the others are cancelled, and those not begun yet never begin. Errors count
  * only if nobody wins.
  */
private[weir] final class FirstSuccess[A](tasks: Iterable[Task[A]]) extends Suspend[A]:
  def begin(fiber: RunLoop): Any =
    val items = Items(tasks)
    if items.size == 0 then
      throw IllegalArgumentException(
        "Task.firstSuccess: there was no task. It needs at least one, whose value it can return."
      )
    FirstSuccessClaims(items).start(fiber)

private final class FirstSuccessClaims(tasks: Items) extends Claims(limit = Int.MaxValue):
  private val claimed = AtomicInteger(0)
  private val canceled = AtomicInteger(0)

  // shared, under this object's lock
  private var failure: Throwable | Null = null

  def claim(runner: Runner): Boolean =
    runner.index = claimed.getAndIncrement()
    runner.index < tasks.size

  def hasMore: Boolean = claimed.get < tasks.size

  def child(runner: Runner): Task[Any] = Attempt(tasks.array(runner.index).asInstanceOf[Task[Any]])

  def store(runner: Runner, value: Any): Unit = value.asInstanceOf[Either[Throwable, Any]] match
    case Right(value) => stop(Claims.Stop.Won(value), by = runner)
    case Left(error) => synchronized { failure = Failures.add(failure, error) }

  override def childCanceled(): Unit =
    if canceled.incrementAndGet() == tasks.size then stop(Claims.Stop.Canceled)

  def result: Any = throw synchronized(failure).nn

package weir.testkit.explore

import weir.fiber.{Suspend, TaskFiber, Waiter}
import weir.{Fiber, Outcome, Task}

/** Runs one task of a test and disturbs it once, in each order at another place. */
private[testkit] abstract class Disturbances:

  /** Runs `task` in a fiber of its own and returns its outcome. */
  def run[A](task: Task[A]): Task[Outcome[A]]

private[testkit] object Disturbances:
  /** Cancels the task. */
  def cancels(execution: Execution): Disturbances = Cancels(execution)

  /** Makes plain code in the task throw an error. */
  def fails(execution: Execution): Disturbances = Fails(execution)

  private final class Cancels(execution: Execution) extends Disturbances:
    private var hasCome = false
    private var waiting: Waiter | Null = null

    def run[A](task: Task[A]): Task[Outcome[A]] =
      forked(task)(child =>
        execution.disturb(() => {
          hasCome = true
          child.requestCancel()
          if waiting ne null then waiting.nn.complete(()): Unit
        })
      ).flatMap(_.join).flatMap(outcome => come.as(outcome))

    /** Waits until the cancel has come, which is now at the latest, when it has no effect. */
    private val come: Task[Unit] = new Suspend[Unit]:
      def begin(fiber: TaskFiber): Any =
        if hasCome then ()
        else
          val waiter = Waiter(fiber)
          waiting = waiter
          execution.isLast()
          waiter

  private final class Fails(execution: Execution) extends Disturbances:
    def run[A](task: Task[A]): Task[Outcome[A]] =
      forked(task)(execution.failIn(_)).flatMap(_.join)

  /** Starts a fiber that runs `task`, and returns it; `before` is called before the fiber runs. */
  private def forked[A](task: Task[A])(before: TaskFiber => Unit): Task[Fiber[A]] =
    new Suspend[Fiber[A]]:
      def begin(fiber: TaskFiber): Any =
        val child = fiber.fork(task)
        before(child)
        child

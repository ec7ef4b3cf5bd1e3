package weir.std

import weir.fiber.{Suspend, TaskFiber}
import weir.task.SupervisedFibers
import weir.{Fiber, Outcome, Resource, Task}

/** Runs fibers that may outlive the fiber that starts them, but not the supervisor.
  * `Supervisor.apply` makes one.
  */
final class Supervisor private () extends SupervisedFibers:

  /** Starts a new fiber that runs `task`, and returns the fiber. The fiber ends at the end of this
    * supervisor at the latest. Its failure cancels no other fiber, and only a `join` returns it.
    *
    * **Fails** with an `IllegalStateException` if the supervisor has ended, or is being cancelled.
    */
  def supervise[A](task: Task[A]): Task[Fiber[A]] = new Suspend[Fiber[A]]:
    def begin(fiber: TaskFiber): Any =
      val supervised = add(fiber, task)
      fiber.submit(supervised)
      supervised

  private[weir] def refusal: String =
    "Supervisor.supervise: the supervisor has ended, or is being cancelled. It runs fibers " +
      "while it is used. For one that outlives it, use a supervisor further out, or startDaemon."

  private[weir] def awaitedAs: String = "the end of a Supervisor, whose fibers have not all ended"

  private[weir] def fiberEnded(fiber: TaskFiber, outcome: Outcome[Any]): Unit = ()

object Supervisor:
  /** Returns a supervisor, whose release cancels its fibers and waits until none of them runs any
    * more. With `await`, it cancels them only if the use has failed or was cancelled, and otherwise
    * lets them end by themselves.
    */
  def apply(await: Boolean = false): Resource[Supervisor] =
    Resource.makeCase(Task(new Supervisor())) {
      case (supervisor, Outcome.Succeeded(_)) if await =>
        Task(supervisor.drain()).andThen(supervisor.awaitEnd)
      case (supervisor, _) => Task(supervisor.cancelAll()).andThen(supervisor.awaitEnd)
    }

package weir.japi

import weir.Fiber as ScalaFiber

/** A running task. The methods that return no task block the calling thread. */
final class Fiber[A] private[japi] (underlying: ScalaFiber[A]):

  /** Returns the value of the task.
    *
    * **Waits** until the task has ended. **Cancelled**: an interrupt stops the wait, and does not
    * affect the fiber. **Fails** with the error of the task, or with a
    * `java.util.concurrent.CancellationException` if it was cancelled.
    */
  @throws[Exception]
  def join(): A = underlying.joinOrFail.runSync()

  /** Cancels the task. **Waits** until its finalizers have run. */
  @throws[InterruptedException]
  def cancel(): Unit = underlying.cancel.runSync()

  /** Returns a task that waits for the end of the fiber, and returns its outcome. */
  def outcome(): Task[Outcome[A]] = Task(underlying.join.map(Outcome(_)))

  /** Returns a task that waits for the value, as `join` does, without blocking a thread. */
  def joinTask(): Task[A] = Task(underlying.joinOrFail)

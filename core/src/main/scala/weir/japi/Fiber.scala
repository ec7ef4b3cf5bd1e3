package weir.japi

import weir.Fiber as ScalaFiber

/** A task that runs, forked into a `Scope`. Its methods block the calling thread. */
final class Fiber[A] private[japi] (underlying: ScalaFiber[A]):

  /** The value of the task.
    *
    * **Waits** until it has ended. **Cancelled**: an interrupt stops the wait, and leaves the fiber
    * alone. **Fails** with the error of the task, or a
    * `java.util.concurrent.CancellationException` if it was cancelled.
    */
  @throws[Exception]
  def join(): A = underlying.joinOrFail.runSync()

  /** Cancels the task. **Waits** until its finalizers have run. */
  @throws[InterruptedException]
  def cancel(): Unit = underlying.cancel.runSync()

  /** A task that waits for the value, as `join` does, without a thread. */
  def joinTask(): Task[A] = Task(underlying.joinOrFail)

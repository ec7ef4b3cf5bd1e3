package weir

/** A task that runs, or has run. */
trait Fiber[+A]:

  /** Returns the outcome of the fiber.
    *
    * **Waits** until the fiber has ended, finalizers included. **Cancelled**: stops waiting; the
    * fiber continues.
    */
  def join: Task[Outcome[A]]

  /** Returns the outcome of the fiber, or `None` if it has not ended yet. Does not wait. */
  def poll: Task[Option[Outcome[A]]]

  /** Returns the fiber's value.
    *
    * **Waits** as `join`. **Fails** with the fiber's error, or with a
    * `java.util.concurrent.CancellationException` if the fiber was cancelled.
    */
  final def joinOrFail: Task[A] = join.map(_.get)

  /** Cancels the fiber, and returns once it has ended and its finalizers have run.
    *
    * **Waits** for masked regions and finalizers. **Cancelled**: continues to wait, as in Cats
    * Effect.
    */
  def cancel: Task[Unit]
